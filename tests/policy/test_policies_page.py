"""`docs/policies.md`: its examples are policies, and it explains every key."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from policy.pipelines import events_of

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.policy.checking import check_events
from airflow_provider_spark_lineage.openlineage.policy.patterns import ColumnPattern, DatasetPattern, names_of
from airflow_provider_spark_lineage.openlineage.policy.reading import RULE_KEYS, policy_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "policies.md").read_text()
EVENTS = ROOT / "tests" / "viewer" / "events" / "pipeline.jsonl.gz"
POLICIES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", POLICIES)
def test_examples_are_policies(text):
    """A person copies them."""
    assert policy_of(text).rules


def test_the_output_of_the_example_is_what_the_command_prints(tmp_path, monkeypatch):
    """For the events of the example DAGs; runs and times are those of their last recording."""
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICIES[1])
    Path("events.jsonl").write_bytes(gzip.decompress(EVENTS.read_bytes()))
    shown = re.search(r"```console\n\$ spark-lineage (policy .*?)\n(.*?)```", PAGE, re.DOTALL)
    result = CliRunner().invoke(main, shown[1].split())
    assert result.exit_code == 1
    printed = without_runs(result.stdout)
    for part in without_runs(shown[2]).replace("...\n", "\n").split("\n\n"):
        assert part.strip() in printed


def without_runs(text):
    text = re.sub(r"run [0-9a-f-]{36}", "run ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "TIME", text)


def test_every_key_is_explained():
    """In the table of the page."""
    assert [key for key in RULE_KEYS if f"\n| `{key}` |" not in PAGE] == []


def test_the_json_of_the_page_has_the_keys_of_the_result():
    """At every depth, in their order."""
    shown = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])
    text = "{tags: {p: crm/customers.email}, rules: [{name: n, datasets: gold/*, must_not_contain: p}]}"
    events = events_of("load: gold/orders.contact <- crm/customers.email")
    assert keys_of(check_events(policy_of(text), events).document()) == keys_of(shown)


def keys_of(value):
    if isinstance(value, dict):
        return {key: keys_of(part) for key, part in value.items()}
    return [keys_of(part) for part in value] if isinstance(value, list) else None


@pytest.mark.parametrize(
    ("pattern", "dataset", "is_match"),
    [
        ("gold/orders", ("s3://lake", "gold/orders"), True),
        ("gold/orders", ("file", "/lake/gold/orders"), True),
        ("gold/orders", ("file", "/marigold/orders"), False),
        ("gold/orders", ("file", "/gold/orders/2026"), False),
        ("orders", ("postgres://db:5432", "shop.public.orders"), True),
        ("public.orders", ("postgres://db:5432", "shop.public.orders"), True),
        ("public/orders", ("postgres://db:5432", "shop.public.orders"), False),
        ("/data/gold/orders", ("file", "/data/gold/orders"), True),
        ("/data/gold/orders", ("file", "/old/data/gold/orders"), False),
        ("s3://lake/gold/orders", ("s3://lake", "gold/orders"), True),
        ("s3://lake/gold/orders", ("s3://lake", "/gold/orders"), True),
        ("s3://lake/gold/orders", ("s3://lake2", "gold/orders"), False),
        ("s3://lake/*", ("s3://lake", "gold/orders"), True),
        ("gold/*", ("file", "/lake/gold/2026/orders"), True),
        ("gold/*", ("file", "/lake/gold"), False),
        ("Gold/*", ("file", "/lake/gold/orders"), False),
        ("*", ("file", "/x"), True),
        (r"raw/a\*b", ("file", "/raw/a*b"), True),
        (r"raw/a\*b", ("file", "/raw/axb"), False),
        ("raw/a[b]", ("file", "/raw/a[b]"), True),
        ("raw/a[b]", ("file", "/raw/ab"), False),
        ("raw/a?", ("file", "/raw/ab"), False),
        ("my data/orders 1", ("file", "/my data/orders 1"), True),
        (r"a\\b", ("file", "/a\\b"), True),
        ("a\\", ("file", "/a\\"), True),
        ("a*b*c*d*e*f*g*h", ("file", "/" + "a" * 5000), False),
        ("orders\nx", ("file", "/orders\nx"), True),
    ],
)
def test_patterns_of_datasets(pattern, dataset, is_match):
    """The whole name, or its end from a slash or a dot on."""
    assert DatasetPattern(pattern).matches(names_of(dataset)) is is_match


@pytest.mark.parametrize(
    ("pattern", "dataset", "field"),
    [
        ("crm/customers.email", "crm/customers", "email"),
        ("crm/customers.email", "crm/customers", "Email"),
        ("landing/weather.csv.*", "landing/weather.csv", "temp"),
        (r"crm/customers.address\.street", "crm/customers", "address.street"),
        ("*.email", "any/thing", "email"),
        ("a.b.c*", "a.b", "cd"),
        (r"a/b.x\*", "a/b", "x*"),
    ],
)
def test_patterns_of_columns(pattern, dataset, field):
    """The last dot that is not escaped separates dataset and column."""
    column = ColumnPattern(pattern)
    assert column.dataset.matches([dataset])
    assert column.matches_field(field)
    assert not column.matches_field(f"{field}_") or pattern.endswith("*")
