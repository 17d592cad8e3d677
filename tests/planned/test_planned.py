"""Datasets that the text of a program names: `planned.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from hypothesis import given
from hypothesis import strategies as st
from planned_text import cases

from airflow_provider_spark_lineage.spark.gaps.of_programs import PLANNED
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

CASES = Path(__file__).with_name("planned.txt")


@pytest.mark.parametrize(("rule", "text", "expected"), cases(CASES))
def test_datasets(rule: str, text: str, expected: str) -> None:
    """Each block's first line is the rule; `conf` lines are settings."""
    settings = [line[5:].partition("=") for line in text.splitlines() if line.startswith("conf ")]
    script = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("conf "))
    lineage = planned_lineage(
        script,
        language="python",
        conf={name: value for name, _, value in settings},
        directory="/work",
    )
    first, *others = [line for line in render(lineage).splitlines() if line.startswith("gap")]
    assert first == f"gap     text   {PLANNED}"
    shown = [line for line in render(lineage).splitlines() if line.startswith(("reads", "writes"))]
    assert "\n".join([*shown, *others]) == expected, rule


def test_every_planned_lineage_says_that_nothing_ran() -> None:
    """A START event, or a last resort, must not look like a finished run."""
    for text in ("", "select * from db.t", "selec"):
        assert gap_kinds(planned_lineage(text, language="sql"))[0] == "planned"


def test_no_secret_of_an_option_is_kept() -> None:
    """Only options that name something are read, and names have no logins."""
    text = """
spark.read.format("jdbc").options(url="jdbc:mysql://u:hidden@h/db", dbtable="t", password="hidden").load()
spark.read.format("odd").option("url", "https://u:hidden@h/x?token=hidden").load()
spark.read.parquet("s3://key:hidden@bucket/in")
"""
    assert "hidden" not in repr(planned_lineage(text, language="python"))


def test_a_file_is_read_in_its_own_encoding(tmp_path: Path) -> None:
    """A path in place of the text: a script may declare another encoding than UTF-8."""
    script = tmp_path / "job.py"
    script.write_bytes("# coding: latin-1\nspark.read.parquet('s3://b/caf\xe9')".encode("latin-1"))
    [read] = planned_lineage(script, language="python").inputs
    assert read.dataset.id.name == "caf\xe9"


@given(
    st.text(), st.sampled_from(["python", "sql"]), st.lists(st.text()), st.dictionaries(st.text(), st.text())
)
def test_no_text_raises(text: str, language: str, arguments: list[str], pairs: dict[str, str]) -> None:
    """Any text gives a lineage."""
    lineage = planned_lineage(
        text,
        language=language,  # type: ignore[arg-type]
        arguments=arguments,
        variables=pairs,
        conf=pairs,
        directory=text,
    )
    assert isinstance(lineage, Lineage)


@given(st.text(), st.text(), st.text())
def test_no_name_raises(path: str, table: str, url: str) -> None:
    """Nor does any path, table or address in one."""
    script = f"""
df.write.parquet({path!r}); df.write.saveAsTable({table!r}); spark.read.jdbc({url!r}, {table!r})
df.write.format("kafka").option("kafka.bootstrap.servers", {url!r}).option("topic", {path!r}).save()
spark.read.format({table!r}).load({path!r}); df.write.format("delta").save({url!r})
spark.sql("select * from " + {table!r}); df.writeTo({table!r}).append(); spark.read.text({path!r} + "/*.csv")
"""  # noqa: S608  read, never run
    assert isinstance(planned_lineage(script, language="python", directory="/work"), Lineage)
