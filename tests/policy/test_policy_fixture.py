"""The fixture `assert_policy`, seen from outside: a suite goes in, a report comes out."""

from __future__ import annotations

import json
from importlib.metadata import entry_points

import pytest
from policy.pipelines import events_of

# Pytester forgets its imports after each inner run: modules imported here stay the same objects.
import airflow_provider_spark_lineage.testing
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import PolicyBrokenError, assert_policy

pytest_plugins = ["pytester"]

PLUGIN = "airflow_provider_spark_lineage.pytest_plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
POLICY = "{tags: {p: crm/customers.email}, rules: [{name: no mail, datasets: gold/*, must_not_contain: p}]}"
BROKEN = "load: gold/orders.contact <- crm/customers.email"
FINE = "load: gold/orders.contact <- crm/customers.id"


def documents(pipeline: str) -> list[dict]:
    return [event.document for event in events_of(pipeline)]


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def run(test: str, policy: str = POLICY):
        pytester.path.joinpath("policy.yaml").write_text(policy)
        pytester.makepyfile(test)
        plugin = [] if INSTALLED else ["-p", PLUGIN]
        return pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider")

    return run


def emitting(pipeline: str) -> str:
    text = "".join(json.dumps(each) + "\n" for each in documents(pipeline))
    return f"""
def test_policy(openlineage_events, assert_policy):
    openlineage_events.path.write_text({text!r})
    report = assert_policy("policy.yaml")
    assert report.ok and not report.violations
"""


def test_events_that_keep_the_policy_pass(suite):
    """The events are those that the test emitted; the policy is beside the test."""
    suite(emitting(FINE)).assert_outcomes(passed=1)


def test_a_violation_fails_the_test_with_its_path_and_no_traceback(suite):
    """All that a person needs, in the report of pytest."""
    done = suite(emitting(BROKEN))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*broken*no mail*",
            "*/lake/gold/orders.contact*",
            "*crm/customers.email",
            "*-> *orders.contact*load*",
        ]
    )
    assert "Traceback" not in done.stdout.str()
    assert "checking.py" not in done.stdout.str()


@pytest.mark.parametrize(
    ("test", "policy", "sentence"),
    [
        (
            "def test_it(assert_policy): assert_policy('policy.yaml')",
            POLICY,
            "*assert_policy has no events:*",
        ),
        (
            "def test_it(assert_policy): assert_policy('absent.yaml', [])",
            POLICY,
            "*absent.yaml: no such file of a policy.*",
        ),
        (
            "def test_it(assert_policy): assert_policy('policy.yaml', [])",
            POLICY,
            "*policy.yaml: nothing can be checked without events.*",
        ),
        (emitting(FINE), "rules: []", "*policy.yaml, line 1, column 8: *"),
    ],
)
def test_a_mistake_is_one_sentence(suite, test, policy, sentence):
    """In place of a traceback."""
    done = suite(test, policy)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([sentence])


def test_the_function_does_the_same_without_pytest(tmp_path):
    """For another test runner: an AssertionError with the report."""
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    assert assert_policy(path, documents(FINE)).ok
    with pytest.raises(PolicyBrokenError, match="no mail") as raised:
        assert_policy(path, documents(BROKEN))
    assert isinstance(raised.value, AssertionError)
    assert [each.field for each in raised.value.report.violations] == ["contact"]
    with pytest.raises(BadInputError, match="not a mapping"):
        assert_policy(path, [1])
    assert airflow_provider_spark_lineage.testing.assert_policy is assert_policy
