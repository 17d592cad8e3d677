"""Fills `${NAME}` in expected values; `$${` stands for `${` itself.

Names are given by the caller, never taken from the environment: an expected file that passes on one machine
must not depend on what else is set there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.composite import make
from airflow_provider_spark_lineage.testing.matchers import Matcher, sentence

_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def has_variables(text: str) -> bool:
    """Whether the text waits for a variable, or for an escaped one to be unescaped."""
    return _VARIABLE.search(text) is not None


def fill(tree: Any, variables: Mapping[str, str], where: str) -> Any:
    """The same tree with every variable replaced; BadInputError names an unknown one and `where`."""
    if isinstance(tree, str):
        return _filled(tree, variables, where)
    if isinstance(tree, Mapping):
        return {key: fill(value, variables, where) for key, value in tree.items()}
    if isinstance(tree, list):
        return [fill(value, variables, where) for value in tree]
    if isinstance(tree, Matcher) and tree.argument is not None:
        return _filled_matcher(tree, variables, where)
    return tree


def _filled_matcher(tree: Matcher, variables: Mapping[str, str], where: str) -> Matcher:
    if isinstance(tree.argument, str):
        if not has_variables(tree.argument):
            return tree
        # A path is put into a regular expression as that path, not as a pattern.
        argument: Any = _filled(tree.argument, variables, where, re.escape if tree.name == "regex" else str)
    else:
        argument = fill(tree.argument, variables, where)
    try:
        return make(tree.name, argument)
    except ValueError as error:
        raise BadInputError(f"{where}: {sentence(error)}") from None


def _filled(text: str, variables: Mapping[str, str], where: str, quote: Callable[[str], str] = str) -> str:
    if "${" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "${"
        if name not in variables:
            given = ", ".join(sorted(variables)) or "none"
            raise BadInputError(f"{where}: the variable ${{{name}}} has no value; given are: {given}.")
        return quote(str(variables[name]))

    return _VARIABLE.sub(replacement, text)
