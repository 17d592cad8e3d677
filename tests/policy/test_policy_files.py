"""Policy files: each mistake is a sentence with its place, and the JSON schema says the same to editors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.policy.reading import (
    CONDITIONS,
    RULE_KEYS,
    SCHEMA,
    policy_of,
    read_policy,
)

BLOCKS = (Path(__file__).parent / "mistakes.txt").read_text().split("\n--- ")[1:]
MISTAKES = [
    pytest.param(*block.split("\n", 1)[1].split("=> ", 1), id=block.split("\n")[0]) for block in BLOCKS
]

GOOD = {
    "as in the docs": """
tags:
  personal: ["crm/customers.email", "*/customers.phone", "raw/*.ssn"]
rules:
  - name: no personal data in gold
    datasets: ["gold/*"]
    must_not_contain: personal
    unless: [masked, aggregated]
  - name: personal data does not decide rows of a public table
    datasets: ["public/*"]
    must_not_depend_on: personal
  - name: gold reads silver
    datasets: ["gold/*"]
    may_read: ["silver/*", "gold/*"]
  - name: one writer
    datasets: ["gold/*"]
    writers: 1
  - name: nothing unknown in the ledger
    datasets: ["finance/ledger"]
    gaps: none
""",
    "without lists": """
tags: {p: 'a\\.b/c d.e\\*'}
rules: [{name: n, datasets: gold/*, must_not_contain: p, unless: masked, on_gap: fail}]
""",
    "tags of events alone": "rules: [{name: n, datasets: gold/*, must_not_depend_on: [pii, 'class:a']}]",
    "in JSON": json.dumps({"rules": [{"name": "n", "datasets": ["a"], "writers": 2}]}),
}


def validator():
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    return jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text()))


@pytest.mark.parametrize(("text", "sentences"), MISTAKES)
def test_every_mistake_is_one_sentence_with_line_and_column(text, sentences):
    """All mistakes are told at once, in the order of their places."""
    wanted = []
    for line in sentences.replace("=> ", "").strip().splitlines():
        place, _, sentence = line.partition(" ")
        number, column = place.split(":")
        wanted.append(f"p.yaml, line {number}, column {column}: {sentence}")
    with pytest.raises(BadInputError) as raised:
        policy_of(text, "p.yaml")
    assert str(raised.value).splitlines() == wanted


NOT_OF_THE_SCHEMA = ("written twice", "another rule is named", "the date")
"""Words of mistakes that JSON schema cannot tell."""


@pytest.mark.parametrize(("text", "sentences"), MISTAKES)
def test_the_schema_refuses_the_same(text, sentences):
    """An editor underlines the mistakes that the command refuses."""
    if not any(words in sentences for words in NOT_OF_THE_SCHEMA):
        assert not validator().is_valid(yaml.safe_load(text))


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_policy_is_good_for_both(text):
    """The schema accepts everything that the command reads."""
    assert policy_of(text).rules
    validator().validate(yaml.safe_load(text))


def test_the_schema_has_the_keys_of_the_reader():
    """A key that is added to one is added to the other."""
    rule = json.loads(SCHEMA.read_text())["$defs"]["rule"]
    assert set(rule["properties"]) == set(RULE_KEYS)
    assert [each["required"][0] for each in rule["anyOf"]] == [*CONDITIONS]


def test_the_values_of_a_file_are_in_the_policy(tmp_path):
    """Every key has its place in the policy."""
    path = tmp_path / "policy.yaml"
    path.write_text(
        "\ufefftags: {p: a/b.c}\nrules:\n- {name: n, datasets: [x, y], must_not_contain: p,"
        " must_not_depend_on: [q], unless: [masked], may_read: z, writers: 3, gaps: none, on_gap: fail}\n"
    )
    policy = read_policy(path)
    [rule] = policy.rules
    assert [pattern.text for pattern in rule.datasets] == ["x", "y"]
    assert (rule.must_not_contain, rule.must_not_depend_on) == (("p",), ("q",))
    assert rule.unless == {"masked"}
    assert [pattern.text for pattern in rule.may_read] == ["z"]
    assert (rule.writers, rule.forbids_gaps, rule.fails_on_gap) == (3, True, True)
    assert [pattern.text for pattern in policy.tags["p"]] == ["a/b.c"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; a policy has `rules`."),
        (b"# nothing\n", "is empty; a policy has `rules`."),
        (b"rules: [\n", "line 2, column 1: not YAML ("),
        (b"rules:\n\t- x\n", "line 2, column 1: not YAML ("),
        (b"rules: []\n---\nrules: []\n", "line 2, column 1: not YAML ("),
        (b"a: \xff", "not UTF-8"),
        (b"rules: *nothing\n", "line 1, column 8: not YAML ("),
        (b"[" * 5000, "not YAML (nested too deeply)."),
        (b"rules: &r [*r]\n", "line 1, column "),
    ],
)
def test_a_file_that_is_no_policy_is_one_sentence(tmp_path, content, sentence):
    """No traceback, whatever the file has."""
    path = tmp_path / "policy.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"^[^\n]*$") as raised:
        read_policy(path)
    assert str(raised.value).startswith(str(path))
    assert sentence in str(raised.value)


@pytest.mark.parametrize(("name", "sentence"), [("absent.yaml", "no such file"), (".", "cannot be read")])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, name, sentence):
    """A folder is not a policy either."""
    with pytest.raises(BadInputError, match=sentence):
        read_policy(tmp_path / name)
