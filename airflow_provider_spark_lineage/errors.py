"""Errors that a user can cause and fix; each message names the mistake and the cure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class SparkLineageError(Exception):
    """Base of every error that this package raises on purpose."""


class BadInputError(SparkLineageError):
    """A file or folder that was given cannot be used; the message names it and the cause.

    The command line prints the message alone and exits with code 2.
    """


class StoredLineageError(SparkLineageError):
    """The stored lineage of a task cannot be read; the message is one sentence for whoever looks at it."""


class MissingExtraError(SparkLineageError):
    """A package is not installed that one of this package's extras brings; the message names the extra."""


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the extra where an import inside the block fails because a package is not installed.

    >>> with extra("cli"):
    ...     import click_of_another_planet
    Traceback (most recent call last):
    airflow_provider_spark_lineage.errors.MissingExtraError: click_of_another_planet is not installed: run \
`pip install 'airflow-provider-spark-lineage[cli]'`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", __package__):
            raise
        cure = f"run `pip install 'airflow-provider-spark-lineage[{name}]'`"
        raise MissingExtraError(f"{package} is not installed: {cure}.") from None
