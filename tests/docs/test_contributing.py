"""CONTRIBUTING and the files around it: what they name exists, and what they show works."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import scan_columns
import spark_trees
import yaml

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.plan.spark import reader, relational
from airflow_provider_spark_lineage.spark.sources import warehouses

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def blocks() -> list[str]:
    """Return the Python of the page, in its order."""
    return [textwrap.dedent(text) for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)]


def test_every_path_and_every_target_that_the_page_names_exists() -> None:
    """A newcomer opens and runs exactly what is written."""
    paths = set(re.findall(r"(?:`|python |pytest )((?:[\w.-]+/)+[\w.-]*|[\w.-]+\.(?:md|yaml|toml|sh))", PAGE))
    assert len(paths) > 10
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []
    targets = set(re.findall(r"make ([a-z]+)", PAGE.replace("GNU make", "")))
    assert {f"{target}:" for target in targets} <= set(re.findall(r"^[a-z0-9.-]+:", MAKEFILE, re.MULTILINE))


def test_row_of_a_plan_node_passes_the_test_that_the_page_writes_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the row, the node is a gap; with it, the printed test passes."""

    def evaluated(tree: Any) -> Any:
        evaluation = evaluate(reader.read_plan(tree))
        names = {
            output.name: {(scan_columns.name_of(origin), path.kind) for origin, path in value.whole}
            for output, value in evaluation.output
        }
        return evaluation, names

    test, row, *_ = blocks()
    names = {**vars(spark_trees), "name_of": scan_columns.name_of, "Kind": Kind, "evaluated": evaluated}
    exec(test, names)  # noqa: S102  the page's own code
    with pytest.raises(AssertionError):
        names["test_keep_newest_decides_rows_by_its_column"]()
    [(name, read)] = eval("{" + row + "}", dict(vars(relational))).items()  # noqa: S307
    monkeypatch.setitem(reader.ROWS, name, read)
    names["test_keep_newest_decides_rows_by_its_column"]()


def test_source_names_the_dataset_that_the_page_expects() -> None:
    """The class and the row of its test are printed; both are tried."""
    *_, source, row = blocks()
    names = dict(vars(warehouses))
    exec(source, names)  # noqa: S102  the page's own code
    [(facts, expected)] = eval("[" + row + "]", names)  # noqa: S307
    assert [identity.id for identity in names["Solr"](facts).identities] == [expected]


def test_hooks_run_what_make_lint_runs() -> None:
    """A linter that runs at a commit alone, or in the check alone, surprises either way."""
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    [recipe] = re.findall(r"^lint:.*\n\t@\. scripts/env\.sh && (.*)$", MAKEFILE, re.MULTILINE)
    assert [hook["entry"] for hook in repository["hooks"]] == recipe.split(" && ")


def test_workflow_runs_the_stages_of_continuous_integration() -> None:
    """`.ci/run` and the matrix have the same stages."""
    [stages] = re.findall(r"^for stage in (.*); do$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert workflow["jobs"]["stage"]["strategy"]["matrix"]["stage"] == stages.split()


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github").rglob("*.y*ml")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_templates_are_yaml(path: Path) -> None:
    """A forge ignores a template that it cannot read."""
    assert yaml.safe_load(path.read_text())["name"]
