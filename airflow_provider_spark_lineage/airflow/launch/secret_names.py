"""Values that must not be reported: variables with secret names, and secret options of a command.

`shell.add_agent` loads it before each command, so it needs the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from airflow_provider_spark_lineage.spark import REMOVED, is_secret, without_secrets

_SHORTEST = 4
"""Length of a value that is also replaced inside of longer words."""


def words_without_secrets(words: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the words of a command with secrets masked, also values of variables with secret names.

    >>> words_without_secrets(["--password", "hunter2", "--token=x1", "s3://b"], {"DB_KEY": "s3://b"})
    ['--password', '***', '--token=***', '***']
    """
    # Most of Airflow's own settings are not secrets.
    secrets = [
        value
        for name, value in (environment or {}).items()
        if value and is_secret(name.removeprefix("AIRFLOW__"))
    ]
    given = [_without_values(word, secrets) for word in words]
    clean = [without_secrets(word) for word in given]
    for position, (option, value) in enumerate(pairwise(given), 1):
        if option.startswith("-") and "=" not in option and not value.startswith("-"):
            # The option's name shows that its value is a secret, also a value with blanks.
            name = option.lstrip("-")
            pair = without_secrets(f'{name}="{value}"')
            clean[position] = pair[len(name) + 2 : -1]
    return clean


def _without_values(word: str, secrets: Sequence[str]) -> str:
    for value in secrets:
        if value in word:
            word = word.replace(value, REMOVED) if len(value) >= _SHORTEST or word == value else word
    return word
