"""`spark-lineage policy`: the exit code of a gate, a page for people, and JSON for programs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from policy.pipelines import events_of

from airflow_provider_spark_lineage.cli import main

POLICY = """
tags: {personal: crm/customers.email}
rules:
- {name: no mail, datasets: gold/*, must_not_contain: personal, unless: masked}
"""
BROKEN = """
clean: silver/people.mail <- crm/customers.email
load: gold/orders.contact <- silver/people.mail
"""
FINE = "load: gold/orders.contact <- crm/customers.email masks"
UNKNOWN = """
load: gold/orders.contact <- crm/customers.id
load: gap gold/orders.contact unknown_columns
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICY)
    return tmp_path


def write(pipeline: str, name: str = "events.jsonl") -> None:
    lines = [json.dumps(event.document) + "\n" for event in events_of(pipeline)]
    Path(name).write_text("".join(lines))


def policy(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["policy", *arguments])


def checked(pipeline: str, *arguments: str) -> Result:
    write(pipeline)
    return policy("policy.yaml", "--events", "events.jsonl", *arguments)


def test_a_violation_exits_with_1_and_shows_rule_column_and_path():
    """With the job, the run and the time of each step."""
    result = checked(BROKEN)
    assert result.exit_code == 1
    words = " ".join(result.stdout.split())
    assert "broken no mail /lake/gold/orders.contact" in words
    assert "/lake/crm/customers.email -> /lake/silver/people.mail direct identity clean" in words
    assert "-> /lake/gold/orders.contact direct identity load run run-of-load 2026-01-01T00:01:00Z" in words
    assert "The policy is broken: 1 violation; 1 rule, 1 dataset." in result.stdout


def test_a_policy_that_holds_exits_with_0():
    """The summary says how much was looked at."""
    result = checked(FINE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "No rule is broken: 1 rule, 1 dataset.\n"


def test_json_has_violations_unknown_and_warnings():
    """Keys of a finding, and of each place of its path, from the source to the column."""
    result = checked(BROKEN, "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert list(document) == ["violations", "unknown", "warnings"]
    [violation] = document["violations"]
    path = violation.pop("path")
    assert violation == {
        "rule": "no mail",
        "condition": "must_not_contain",
        "namespace": "file",
        "name": "/lake/gold/orders",
        "field": "contact",
        "reason": "`/lake/crm/customers.email` is tagged `personal`",
        "gap": None,
    }
    assert path[0] == {
        "namespace": "file",
        "name": "/lake/crm/customers",
        "field": "email",
        "type": None,
        "subtype": None,
        "masking": False,
        "job": None,
        "run": None,
    }
    assert path[2] == {
        "namespace": "file",
        "name": "/lake/gold/orders",
        "field": "contact",
        "type": "DIRECT",
        "subtype": "IDENTITY",
        "masking": False,
        "job": {"namespace": "jobs", "name": "load"},
        "run": {"id": "run-of-load", "time": "2026-01-01T00:01:00Z"},
    }


@pytest.mark.parametrize(("on_gap", "code"), [("warn", 0), ("fail", 1)])
def test_a_gap_is_reported_and_fails_only_if_the_rule_says_so(on_gap, code):
    """Separately from violations: nothing proves one."""
    Path("policy.yaml").write_text(POLICY.replace("unless: masked", f"on_gap: {on_gap}"))
    result = checked(UNKNOWN, "--json")
    document = json.loads(result.stdout)
    assert document["violations"] == []
    [unknown] = document["unknown"]
    assert (unknown["field"], unknown["fails"]) == ("contact", on_gap == "fail")
    assert unknown["gap"] == "unknown_columns"
    assert result.exit_code == code
    text = policy("policy.yaml", "--events", "events.jsonl").stdout
    assert "unknown  no mail" in text
    assert text.splitlines()[-1].startswith("The policy is broken" if code else "No rule is broken")


def test_a_pattern_that_matches_nothing_is_said():
    """Nobody trusts a typo: in the text, and for programs."""
    Path("policy.yaml").write_text(
        """
tags: {personal: [crm/customer.email, crm/customers.emial]}
rules:
- {name: a, datasets: [gold/*, glod/*], must_not_contain: [personal, pii], may_read: [slver/*, crm/*]}
"""
    )
    expected = [
        "tag `personal`: `crm/customer.email` matches no dataset of the events",
        "tag `personal`: `crm/customers.emial` matches no column of `/lake/crm/customers`",
        "rule `a`: `glod/*` matches no dataset of the events",
        "rule `a`: `slver/*` matches no dataset of the events",
        "rule `a`: neither the policy nor an event has a tag `pii`",
    ]
    result = checked(FINE, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["warnings"] == expected
    assert [f"warning  {each}." for each in expected] == policy(
        "policy.yaml", "--events", "events.jsonl"
    ).stdout.splitlines()[:5]


def test_mistakes_of_the_policy_exit_with_2():
    """Each is a sentence of its own, before any event is read."""
    Path("policy.yaml").write_text(
        "rules:\n- {name: a, datasets: x, writer: 1}\n- {datasets: x, gaps: all}\n"
    )
    result = policy("policy.yaml", "--events", "absent")
    assert result.exit_code == 2
    assert result.stdout == ""
    where = "spark-lineage: policy.yaml, line"
    assert result.stderr.splitlines() == [
        f"{where} 2, column 26: `writer` is not a key of a rule; did you mean `writers`?",
        f"{where} 3, column 3: a rule has no `name`; violations name their rule.",
        f"{where} 3, column 23: `gaps` is `all`; it may be `none`.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["policy.yaml"], "give one of --events PATH"),
        (["policy.yaml", "--events", "absent"], "absent: no such file or folder"),
        (["policy.yaml", "--events", "empty"], "empty has no OpenLineage event"),
        (["absent.yaml", "--events", "events.jsonl"], "absent.yaml: no such file of a policy."),
        (["policy.yaml", "--events", "events.jsonl", "--since", "now"], "--since now"),
        (["policy.yaml", "--events", "text.txt"], "text.txt has neither OpenLineage events"),
    ],
)
def test_input_that_cannot_be_used_is_one_sentence(arguments, sentence):
    """Exit code 2, and no traceback."""
    write(FINE)
    Path("empty").mkdir()
    Path("text.txt").write_text("hello")
    result = policy(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("spark-lineage: ")
    assert sentence in line


def test_events_that_are_cut_off_are_said_and_the_rest_is_checked():
    """Exit code 2 if no rule is broken: the part that is missing may break one."""
    write(FINE)
    with Path("events.jsonl").open("a") as file:
        file.write('{"eventType": "COMPLETE", "eventTime": "2026')
    result = policy("policy.yaml", "--events", "events.jsonl")
    assert result.exit_code == 2
    assert "No rule is broken" in result.stdout
    assert "events.jsonl, line 2: not JSON" in result.stderr


def test_several_places_compressed_events_and_times():
    """`--as-of` checks what was current at a time; `--since` forgets what ended before."""
    write("load: gold/orders.contact <- crm/customers.email", "broken.jsonl")
    with gzip.open("events.gz", "wt") as file:
        file.write(Path("broken.jsonl").read_text())
    write(
        "other_job: gold/u.x <- crm/customers.id\nload: gold/orders.contact <- crm/customers.id",
        "later.jsonl",
    )
    both = ("policy.yaml", "--events", "events.gz", "--events", "later.jsonl")
    assert policy(*both).exit_code == 0
    assert policy(*both, "--as-of", "2026-01-01T00:00:00Z").exit_code == 1
    assert policy(*both, "--since", "2027-01-01").exit_code == 0


def test_a_text_is_checked_before_it_runs():
    """In CI: a SQL file names datasets; gaps that every text has break no rule, and hide what is tagged."""
    Path("load.sql").write_text(
        "CREATE TABLE gold.orders USING parquet AS SELECT id, email AS contact FROM crm.customers;\n"
    )
    Path("products.sql").write_text(
        "CREATE TABLE gold.products USING parquet AS SELECT id FROM silver.products;\n"
    )
    Path("policy.yaml").write_text(
        """
tags: {personal: crm.customers.email}
rules:
- {name: no mail, datasets: gold.*, must_not_contain: personal, on_gap: fail}
- {name: all known, datasets: gold.*, gaps: none}
- {name: gold reads silver, datasets: gold.*, may_read: silver.*}
"""
    )
    result = policy("policy.yaml", "--events", "load.sql", "--events", "products.sql", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(each["rule"], each["name"]) for each in document["violations"]] == [
        ("gold reads silver", "gold.orders")
    ]
    assert [(each["rule"], each["name"]) for each in document["unknown"]] == [("no mail", "gold.orders")]
    assert document["warnings"] == []


def test_the_schema_for_editors_is_printed():
    """Without a policy and events."""
    result = policy("--schema")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == "Policy of spark-lineage"


def test_control_characters_of_names_do_not_reach_the_terminal():
    """Whoever can write an event could otherwise repaint the page."""
    write(BROKEN)
    path = Path("events.jsonl")
    path.write_text(path.read_text().replace("/lake/silver/people", "/lake/silver/\\u001b[31mpeople"))
    result = policy("policy.yaml", "--events", "events.jsonl")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout


def test_without_numpy_the_extra_is_named():
    """One sentence with the command to run."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from airflow_provider_spark_lineage.__main__ import main; main()"
    )
    write(FINE)
    done = subprocess.run(
        [sys.executable, "-c", code, "policy", "policy.yaml", "--events", "events.jsonl"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(sys.modules[main.__module__].__file__).parents[2])},
    )
    assert done.returncode == 2
    assert "pip install 'airflow-provider-spark-lineage[" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("pipeline", "code"), [(FINE, 0), (BROKEN, 1)])
def test_events_of_no_run_are_said_to_be_left_out(pipeline: str, code: int):
    """An event of a job may have edges, and no rule sees them; the rules alone decide the status."""
    write(pipeline)
    job = {"eventTime": "2026-01-01T00:00:00Z", "job": {"namespace": "jobs", "name": "etl"}, "inputs": []}
    with Path("events.jsonl").open("a") as file:
        file.write(json.dumps(job) + "\n")
    result = policy("policy.yaml", "--events", "events.jsonl")
    assert (result.exit_code, "belong to no run: 1 job event." in result.stderr) == (code, True)
