"""Options of one `spark-submit` or `spark-sql` command, read as Spark reads them.

`add_agent` loads it before each command, so it needs the standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_COMMAND = re.compile(r"(?:.*/)?spark\d?-(submit|sql)(?:\.sh|\.cmd)?", re.DOTALL)
_FILES = (".py", ".jar", ".R", ".r")
_SWITCHES = frozenset({"--supervise", "--verbose", "-v", "--load-spark-defaults", "-S", "--silent"})
_STARTS_NOTHING = frozenset({"--help", "-h", "-H", "--usage-error", "--version", "--kill", "--status"})
_PROPERTIES: Mapping[str, str] = {
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--name": "spark.app.name",
}
"""Option -> the property that it sets."""


def spark_command(text: str) -> str:
    """Return `submit` or `sql` if a word names that command, else an empty text.

    >>> spark_command("/opt/spark/bin/spark3-submit"), spark_command("spark-submit.log")
    ('submit', '')
    """
    match = _COMMAND.fullmatch(text)
    return match[1] if match else ""


@dataclass(frozen=True)
class Word:
    """A word of a command."""

    text: str
    """As the command gets it, with `${name}` for each part that only the running shell knows."""

    shown: str
    """As written in the script, with the names of variables instead of their values."""

    is_known: bool = True


class Options:
    """Options of a command, in their order, and the words from the application's file on."""

    def __init__(self, words: Iterable[Word]) -> None:
        self.values: list[tuple[str, Word]] = []
        self.rest: list[Word] = []
        self.starts_nothing = False
        """The command only prints something, `--help` for example."""

        self.is_cut = False
        """Some options are unknown."""

        self.switches: set[str] = set()
        self._read([*words])

    def _read(self, words: list[Word]) -> None:
        while words:
            word = words.pop(0)
            if not word.is_known and not word.text.endswith(_FILES):
                # `$OPTIONS` may be any number of words.
                self.is_cut = True
            elif not word.text.startswith("-") or word.text == "-":
                self.rest = [word, *words]
                return
            else:
                self._read_option(word, words)

    def _read_option(self, word: Word, words: list[Word]) -> None:
        name, has_value, value = word.text.partition("=")
        self.starts_nothing |= name in _STARTS_NOTHING
        if word.text in _SWITCHES | _STARTS_NOTHING:
            self.switches.add(word.text)
        elif has_value and name.startswith("--"):
            self.values.append((name, Word(value, value, word.is_known)))
        else:
            self.values.append((word.text, words.pop(0) if words else Word("", "")))

    def all(self, *names: str) -> Iterator[str]:
        """Yield the known values of an option that may be repeated."""
        return (word.text for name, word in self.values if name in names and word.is_known)

    def last(self, *names: str) -> str:
        """Return the last value of an option; empty without one."""
        return next((word.text for name, word in reversed(self.values) if name in names), "")

    def pairs(self, *names: str) -> dict[str, str]:
        """Return the `name=value` pairs of an option that may be repeated."""
        split = (value.partition("=") for value in self.all(*names))
        return {name.strip(): value for name, _, value in split}

    @property
    def conf(self) -> dict[str, str]:
        """Properties, also from their own options such as `--master`."""
        own = {name: self.last(option) for option, name in _PROPERTIES.items()}
        return {**self.pairs("--conf", "-c"), **{name: value for name, value in own.items() if value}}
