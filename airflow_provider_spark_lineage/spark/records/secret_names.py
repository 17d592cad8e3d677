"""Names of variables and properties whose values are secret and must not be reported."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"""pass(?:word|wd|phrase|$|_) | secret | token | credential | private | api_?key | access_?key
      | (?:^|_) (?: AIRFLOW_(?: CONN|VAR)_ | AIRFLOW__ )
      | (?:^|[_.-]) (?: pass | pwd | pw | tok | keys? | creds? | auth | sas | sig | signature | conn | dsn )
        (?:[_.-]|$)""",
    re.VERBOSE | re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Return whether the value of a variable of this name is a secret.

    >>> is_secret("DB_PASSWORD"), is_secret("AWS_SECRET_ACCESS_KEY"), is_secret("PWD"), is_secret("DAY")
    (True, True, False, False)
    """
    return name not in ("PWD", "OLDPWD") and _SECRET.search(name) is not None
