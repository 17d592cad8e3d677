"""Reads a policy from a YAML file; each mistake is one sentence with its line and column.

`policy.schema.json` beside this module says the same to editors.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.policy.patterns import ColumnPattern, DatasetPattern
from airflow_provider_spark_lineage.openlineage.policy.rules import (
    AGGREGATED,
    FAIL,
    MASKED,
    WARN,
    Policy,
    PolicyRule,
)

SCHEMA = Path(__file__).with_name("policy.schema.json")
"""JSON schema of a policy, for editors."""

CONDITIONS = ("must_not_contain", "must_not_depend_on", "may_read", "writers", "gaps")
"""A rule has at least one of these keys."""

RULE_KEYS = ("name", "datasets", *CONDITIONS, "unless", "on_gap")

_TAGGED = ("must_not_contain", "must_not_depend_on")


def read_policy(path: Path | str) -> Policy:
    """Return the policy in a file; BadInputError has a line for each mistake."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInputError(f"{path}: no such file of a policy.") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}).") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    return policy_of(text, str(path))


def policy_of(text: str, source: str = "policy") -> Policy:
    """Return the policy in a text; BadInputError has a line for each mistake.

    >>> policy_of("rules: [{name: one writer, datasets: gold/*, writers: 1}]").rules[0].writers
    1
    >>> policy_of("rules: [{datasets: gold/*, writers: 1}]")
    Traceback (most recent call last):
    airflow_provider_spark_lineage.errors.BadInputError: policy, line 1, column 9: a rule has no `name`; \
violations name their rule.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}, line {mark.line + 1}, column {mark.column + 1}" if mark else source
        raise BadInputError(f"{where}: not YAML ({error.problem or error.context}).") from None
    except (yaml.YAMLError, RecursionError) as error:
        cause = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise BadInputError(f"{source}: not YAML ({cause}).") from None
    reader = _Reader()
    policy = reader.policy(root, source)
    if reader.mistakes:
        mistakes = sorted(reader.mistakes, key=lambda mistake: mistake[0])
        raise BadInputError(
            "\n".join(
                f"{source}, line {line + 1}, column {column + 1}: {mistake}"
                for (line, column), mistake in mistakes
            )
        )
    return policy


class _Reader:
    """Reads nodes of YAML, and notes every mistake with its place instead of stopping at the first one."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[tuple[int, int], str]] = []

    def policy(self, root: yaml.Node | None, source: str) -> Policy:
        if root is None:
            raise BadInputError(f"{source}: is empty; a policy has `rules`.")
        keys, intended = self._keys(root, ("tags", "rules"), "a policy")
        tags: dict[str, tuple[ColumnPattern, ...]] = {}
        if "tags" in keys:
            for name, node in self._pairs(keys["tags"], "`tags`, the patterns of each tag,"):
                tags[name] = tuple(self._patterns(node, f"tag `{name}`", ColumnPattern))
        if isinstance(root, yaml.MappingNode) and "rules" not in intended:
            self._mistake(root, "there is no `rules`; a policy has a list of rules")
        rules: list[PolicyRule] = []
        if "rules" in keys:
            rules = [*self._rules(keys["rules"])]
        return Policy(tuple(rules), tags, source)

    def _rules(self, node: yaml.Node) -> Iterator[PolicyRule]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self._mistake(
                node, "`rules` is not a list with at least one rule; begin each rule with `- name:`"
            )
            return
        names: set[str] = set()
        for item in node.value:
            rule = self._rule(item)
            if rule is None:
                continue
            if rule.name in names:
                self._mistake(item, f"another rule is named `{rule.name}`, too; give each its own name")
            names.add(rule.name)
            yield rule

    def _rule(self, node: yaml.Node) -> PolicyRule | None:
        keys, intended = self._keys(node, RULE_KEYS, "a rule")
        if not isinstance(node, yaml.MappingNode):
            return None
        name = self._text(keys["name"], "`name`") if "name" in keys else ""
        about = f"rule `{name}`" if name else "a rule"
        if "name" not in intended:
            self._mistake(node, f"{about} has no `name`; violations name their rule")
        if "datasets" not in intended:
            self._mistake(node, f"{about} has no `datasets`; write patterns of the datasets that it is about")
        given = intended.intersection(CONDITIONS)
        if not given:
            self._mistake(node, f"{about} has no condition; add one of {_words(CONDITIONS)}")
        if "unless" in keys and given and not intended.intersection(_TAGGED):
            self._mistake(keys["unless"], f"`unless` belongs to {_words(_TAGGED)}; {about} has neither")
        read: Mapping[str, Callable[[yaml.Node], Any]] = {
            "datasets": lambda each: self._patterns(each, "`datasets`", DatasetPattern),
            "must_not_contain": lambda each: self._texts(each, "`must_not_contain`", "a tag"),
            "must_not_depend_on": lambda each: self._texts(each, "`must_not_depend_on`", "a tag"),
            "may_read": lambda each: self._patterns(each, "`may_read`", DatasetPattern),
            "unless": self._unless,
            "writers": self._writers,
            "gaps": lambda each: self._word(each, "`gaps`", ("none",)),
            "on_gap": lambda each: self._word(each, "`on_gap`", (FAIL, WARN)),
        }
        values = {key: reader(keys[key]) for key, reader in read.items() if key in keys}
        return PolicyRule(
            name=name,
            datasets=tuple(values.get("datasets", ())),
            must_not_contain=tuple(values.get("must_not_contain", ())),
            must_not_depend_on=tuple(values.get("must_not_depend_on", ())),
            unless=frozenset(values.get("unless", ())),
            may_read=tuple(values["may_read"]) if "may_read" in keys else None,
            writers=values.get("writers"),
            forbids_gaps="gaps" in keys,
            fails_on_gap=values.get("on_gap") == FAIL,
        )

    def _keys(
        self, node: yaml.Node, known: Collection[str], owner: str
    ) -> tuple[dict[str, yaml.Node], set[str]]:
        """Return the known keys of a mapping, and their names with those that were probably intended."""
        keys = {}
        intended = set()
        for key, value, place in self._items(node, f"{owner}, a mapping of {_words(known)},"):
            if key in known:
                keys[key] = value
                intended.add(key)
            else:
                near = difflib.get_close_matches(key.lower(), known, n=1)
                intended.update(near)
                cure = f"did you mean `{near[0]}`?" if near else f"it may have {_words(known)}."
                self._mistake(place, f"`{key}` is not a key of {owner}; {cure}")
        return keys, intended

    def _pairs(self, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node]]:
        for key, value, _ in self._items(node, what):
            yield key, value

    def _items(self, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """Yield the keys of a mapping, each with its value and its place."""
        if not isinstance(node, yaml.MappingNode):
            self._mistake(node, f"here must be {what} not {_kind(node)}")
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._mistake(key, f"a key is {_kind(key)}; it must be a text")
            elif key.value in seen:
                self._mistake(key, f"`{key.value}` is written twice; join the two")
            else:
                seen.add(key.value)
                yield key.value, value, key

    def _patterns(self, node: yaml.Node, what: str, kind: Callable[[str], Any]) -> Iterator[Any]:
        for text, place in self._listed(node, what, "a pattern"):
            try:
                yield kind(text)
            except ValueError as error:
                self._mistake(place, f"{what}: {error}")

    def _texts(self, node: yaml.Node, what: str, item: str) -> list[str]:
        return [text for text, _ in self._listed(node, what, item)]

    def _listed(self, node: yaml.Node, what: str, item: str) -> Iterator[tuple[str, yaml.Node]]:
        """Yield the texts of a list, each with its place; one text may stand without a list."""
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not items:
            self._mistake(node, f"{what} is an empty list; write {item}, or remove the key")
        for each in items:
            text = self._text(each, what, f"{item} or a list of them")
            if text:
                yield text, each

    def _text(self, node: yaml.Node, what: str, wanted: str = "a text") -> str:
        if not isinstance(node, yaml.ScalarNode):
            self._mistake(node, f"{what} is {_kind(node)}; write {wanted}")
            return ""
        if node.tag != f"{_STANDARD}str":
            cure = f"put it in quotes: '{node.value}'" if node.value else f"write {wanted}"
            self._mistake(node, f"{what} is {_kind(node)}; {cure}")
            return ""
        text = str(node.value)
        if not text.strip():
            self._mistake(node, f"{what} is an empty text; write {wanted}")
            return ""
        return text

    def _word(self, node: yaml.Node, what: str, words: Collection[str]) -> str:
        value = node.value if isinstance(node, yaml.ScalarNode) else None
        if value not in words:
            shown = f"`{value}`" if value else _kind(node)
            self._mistake(node, f"{what} is {shown}; it may be {_words(words, 'or')}")
            return ""
        return str(value)

    def _unless(self, node: yaml.Node) -> list[str]:
        allowed = (MASKED, AGGREGATED)
        exceptions = [*self._listed(node, "`unless`", _words(allowed, "or"))]
        for text, place in exceptions:
            if text not in allowed:
                self._mistake(place, f"`unless` does not know `{text}`; it may have {_words(allowed)}")
        return [text for text, _ in exceptions]

    def _writers(self, node: yaml.Node) -> int | None:
        value = node.value if node.tag == f"{_STANDARD}int" else ""
        if not (value.isdecimal() and int(value) >= 1):
            self._mistake(node, f"`writers` is {_kind(node)}; write the largest number of jobs, from 1 on")
            return None
        return int(value)

    def _mistake(self, node: yaml.Node, sentence: str) -> None:
        mark = node.start_mark
        end = "" if sentence.endswith((".", "?")) else "."
        self.mistakes.append(((mark.line, mark.column), sentence + end))


_STANDARD = "tag:yaml.org,2002:"

_KINDS = {
    "str": "the text `{}`",
    "int": "the number {}",
    "float": "the number {}",
    "bool": "{}",
    "null": "empty",
    "timestamp": "the date {}",
    "seq": "a list",
    "map": "a mapping",
}


def _kind(node: yaml.Node) -> str:
    """Return words for a node, for a sentence."""
    words = _KINDS.get(node.tag.removeprefix(_STANDARD), "a value with the tag `" + node.tag + "`")
    return words.format(node.value) if isinstance(node, yaml.ScalarNode) else words


def _words(names: Collection[str], last: str = "and") -> str:
    *first, end = [f"`{name}`" for name in names]
    return f"{', '.join(first)} {last} {end}" if first else end
