"""The errors a user can cause and mend; each message names what is wrong and the cure."""

from __future__ import annotations


class SparkLineageError(Exception):
    """Base of every error that this package raises on purpose."""


class BadInputError(SparkLineageError):
    """A file or folder that was given cannot be used; the message names it and the cause.

    The command line prints the message alone and exits with code 2.
    """
