"""`when:`: expectations for some versions of Airflow, its provider, Spark and Python alone."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import RELATIONS, Events, Report, compare, read_expected

KEY = "dag.task.event.start"


def event(rows: int = 1, name: str = "dag.task", **engine: str) -> dict[str, Any]:
    facets = {"processing_engine": engine} if engine else {}
    return {"eventType": "START", "run": {"v": rows, "facets": facets}, "job": {"name": name}}


def check(tmp_path: Path, text: str, *events: dict[str, Any], **versions: str) -> Report:
    file = tmp_path / "dag.yaml"
    file.write_text(text)
    return compare(read_expected(file), Events.of(events), versions=versions, without=RELATIONS)


VARIANTS = f"""
{KEY}:
- {{when: {{spark: "<4"}}, run: {{v: 3}}}}
- {{when: {{spark: ">=4", airflow: ">=3.1"}}, run: {{v: 4}}}}
"""


def test_variants_of_one_event(tmp_path):
    """Of several variants only those whose conditions all hold are expected."""
    for rows, spark in ((3, "3.5.8"), (4, "4.0"), (4, "4.2.0.dev1")):
        assert check(tmp_path, VARIANTS, event(rows), spark=spark, airflow="3.3").ok
        assert not check(tmp_path, VARIANTS, event(7 - rows), spark=spark, airflow="3.3").ok


def test_nothing_left_is_an_error(tmp_path):
    """A comparison with nothing expected would pass whatever is emitted."""
    with pytest.raises(BadInputError, match=r"dag\.yaml: no event is expected .*: spark 4\.1 is not <4"):
        check(tmp_path, VARIANTS, event(4), spark="4.1", airflow="3.0.6")


def test_a_whole_file(tmp_path):
    """Conditions at the top of a file apply to every event in it, beside their own."""
    text = f"when: {{airflow: '>=3'}}\n{KEY}: {{}}\nother.event.start: {{when: {{spark: '>=4'}}}}\n"
    assert check(tmp_path, text, event(), event(name="other"), airflow="3.3", spark="4.1").matched == 2
    report = check(tmp_path, text, event(), event(name="other"), airflow="3.3", spark="3.5")
    assert report.matched == 1
    with pytest.raises(BadInputError, match=r"airflow 2\.11 is not >=3"):
        check(tmp_path, text, event(), airflow="2.11", spark="4.1")


def test_an_event_whose_variants_are_all_for_others(tmp_path):
    """It is unexpected as ever, and the reason names the versions for which it is expected."""
    text = f"other.event.start: {{}}\n{KEY}: {{when: {{spark: '<4'}}}}\n"
    (difference,) = check(tmp_path, text, event(), event(name="other"), spark="4.1").differences
    assert difference.reason == "no event with this key is expected for these versions"


def test_the_callers_version_wins(tmp_path):
    """The events' own version comes second, the installed one third."""
    text = f"{KEY}: {{when: {{spark: '==3.5.0.1'}}}}\n"
    ours, theirs = event(name="Spark", version="3.5.0.1"), event(version="3.5.0.1")
    del theirs["run"]["facets"]["processing_engine"]
    engine = {"name": "Spark", "version": "3.5.0.1"}
    ours = {**event(), "run": {"facets": {"processing_engine": engine}}}
    assert check(tmp_path, text, ours).ok
    with pytest.raises(BadInputError, match=r"spark 4\.0 is not"):
        check(tmp_path, text, ours, spark="4.0")
    installed = metadata.version("pyspark")
    with pytest.raises(BadInputError, match=f"spark {installed} is not"):
        check(tmp_path, text, theirs)


def test_airflow_and_its_provider_are_in_one_facet(tmp_path):
    """A task's `processing_engine` is Airflow and its adapter the provider; Spark's adapter is another."""

    def engine(name: str, version: str, adapter: str) -> dict[str, Any]:
        facet = {"name": name, "version": version, "openlineageAdapterVersion": adapter}
        return {**event(), "run": {"facets": {"processing_engine": facet}}}

    events = [engine("Airflow", "2.10.1", "1.2.3"), engine("spark", "3.5.1-amzn-0", "9.9")]
    when = "{airflow: ==2.10.1, openlineage: ==1.2.3, spark: ==3.5.1}"
    assert check(tmp_path, f"{KEY}:\n- when: {when}\n- {{}}\n", *events).ok


def test_python_is_the_one_that_runs(tmp_path):
    """Events do not have Python's version."""
    assert check(tmp_path, f"{KEY}: {{when: {{python: '=={platform.python_version()}'}}}}\n", event()).ok


def test_two_versions_among_the_events(tmp_path):
    """If they decide differently, only the caller can choose."""
    engines = [{"processing_engine": {"name": "Spark", "version": version}} for version in ("3.5.1", "4.1.4")]
    events = [{**event(), "run": {"facets": facets}} for facets in engines]
    both = f"{KEY}:\n- {{}}\n- {{when: {{spark: '>=3'}}}}\n"
    assert check(tmp_path, both, *events).ok
    text = f"{KEY}:\n- {{}}\n- {{when: {{spark: '<4'}}}}\n"
    with pytest.raises(
        BadInputError, match=r"the events have 3\.5\.1 and 4\.1\.4; .*`--version spark=\.\.\.`"
    ):
        check(tmp_path, text, *events)
    assert check(tmp_path, text, *events, spark="3.5").ok


def test_a_version_that_nobody_knows(tmp_path, monkeypatch):
    """It is an error with its cure, never a skipped expectation."""
    from airflow_provider_spark_lineage.openlineage.testing import keys

    monkeypatch.setattr(keys, "_installed", lambda name: set())
    with pytest.raises(BadInputError, match=r"it is unknown; give it with `--version spark=\.\.\.`"):
        check(tmp_path, VARIANTS, event())


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("{spark: 4.1}", "has `4.1`, which is not a range of versions; write for example"),
        ("{spark: '4.1'}", "has `4.1`, which is not a range"),
        ("{spark: '=>4'}", "has `=>4`, which is not a range"),
        ("{spark: ''}", "is not a range"),
        ("{}", "`when` is not a mapping such as"),
        ("'>=3'", "`when` is not a mapping such as"),
        ("", "`when` is not a mapping such as"),
    ],
)
@pytest.mark.parametrize("form", ["when: {}\ndag.event.start: {{}}\n", "dag.event.start:\n  when: {}\n"])
def test_wrong_conditions(tmp_path, form, when, message):
    """A condition that cannot mean anything is refused with the file that has it."""
    with pytest.raises(BadInputError, match=message) as caught:
        check(tmp_path, form.format(when), event())
    assert str(tmp_path / "dag.yaml") in str(caught.value)


@pytest.mark.parametrize(
    ("versions", "message"),
    [({"spark": ">=4"}, "`>=4`, given for spark, is not")],
)
def test_wrong_versions(tmp_path, versions, message):
    """The caller's typing errors are refused too, even where no condition asks."""
    with pytest.raises(BadInputError, match=message):
        check(tmp_path, f"{KEY}: {{}}\n", event(), **versions)


def test_files_for_different_versions_may_expect_the_same(tmp_path):
    """In a folder each version may have a file; two that are both meant are an error as ever."""
    for name, spark in (("three", "<4"), ("four", ">=4"), ("five", ">=5")):
        (tmp_path / f"{name}.yaml").write_text(f"when: {{spark: '{spark}'}}\n{KEY}: {{}}\n")
    events = Events.of([event()])
    assert compare(read_expected(tmp_path), events, versions={"spark": "3.5"}).matched == 1
    assert compare(read_expected(tmp_path), events, versions={"spark": "4.1"}).matched == 1
    with pytest.raises(BadInputError, match=r"four\.yaml: .* is also expected in .*five\.yaml"):
        compare(read_expected(tmp_path), events, versions={"spark": "5.0"})


SOME = ("3.1", "3.3", "3.3.1", "4.0")
RANGES = [
    f"{operator}{version}" for operator in ("<", "<=", ">", ">=", "==", "!=", "~=", "===") for version in SOME
]
RANGES += [f"{operator}{version}.*" for operator in ("==", "!=") for version in SOME]
KNOWN = [f"{version}{more}" for version in SOME for more in ("", ".dev1", "rc1", ".post1", "+vendor", ".0.2")]
