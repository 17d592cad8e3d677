"""Applications of single `spark-submit` and `spark-sql` commands, from their options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from airflow_provider_spark_lineage.launch.application import SQL, LaunchedApplication, kind_of
from airflow_provider_spark_lineage.launch.shell.words import UNKNOWN_TEXT, Command, Word

_COMMAND = re.compile(r"(?:.*/)?spark\d?-(submit|sql)(?:\.sh|\.cmd)?", re.DOTALL)

_DECISIVE = ("spark.submit.pyFiles", "spark.lineage.records", "spark.master", "spark.submit.deployMode")
"""Properties that decide what can be added to a command."""

_FILES = (".py", ".jar", ".R", ".r")
_SWITCHES = frozenset({"--supervise", "--verbose", "-v", "--load-spark-defaults", "-S", "--silent"})
_NO_APPLICATION = frozenset({"--help", "-h", "-H", "--usage-error", "--version"})
_OTHER_REQUESTS = frozenset({"--kill", "--status"})
_PROPERTIES: Mapping[str, str] = {
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--name": "spark.app.name",
}
"""Option -> the property that it sets."""

STANDARD_INPUT = "spark-sql reads its statements from standard input, which is unknown here"
UNKNOWN_WORD = "some options of spark-{} are known only to the shell"
OTHER_FILES = "settings may name Python files that are unknown here, and the agent's would replace them: {}"
UNSURE = "not all of its options are known before the shell runs it"
INIT_FILE = "settings in the file of `spark-sql -i` are not read"


def spark_command(text: str) -> str:
    """Return `submit` or `sql` if a word names that command, else an empty text."""
    match = _COMMAND.fullmatch(text)
    return match[1] if match else ""


_NOTHING = Word(None, "", "", is_fixed=False)


class _Options:
    """Options of Spark's commands, in their order."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.values: list[tuple[str, str]] = []
        self.unknown: set[str] = set()
        """Values that only the shell knows, as spelled."""

        self.words: dict[str, Word] = {}
        """The last value of each option."""

        self.rest: list[Word] = []
        self.switches: set[str] = set()
        self.is_cut = False
        """Some options are unknown."""

        self.is_fixed = True
        """Each option and each value is one word for certain."""

        self._read([*words])

    def _read(self, words: list[Word]) -> None:
        while words:
            word = words.pop(0)
            text = word.spelled
            if word.value is None and not text.endswith(_FILES):
                # `$OPTIONS` may be any number of words.
                self.is_cut = True
                continue
            if not text.startswith("-") or text == "-":
                self.rest = [word, *words]
                return
            self.is_fixed = self.is_fixed and word.is_fixed
            if text in _SWITCHES | _NO_APPLICATION:
                self.switches.add(text)
                continue
            name, is_long, value = text.partition("=")
            if not (is_long and name.startswith("--")):
                name, word = text, words.pop(0) if words else _NOTHING
                value = word.spelled
                self.is_fixed = self.is_fixed and word.is_fixed
                self.is_cut = self.is_cut or word.may_vanish
            self.values.append((name, value))
            self.words[name] = word
            if word.value is None:
                self.unknown.add(value)

    @property
    def fixed(self) -> str:
        """Reason why no options can be added; empty if they can."""
        if self.is_cut or not self.is_fixed or self._is_open():
            return UNSURE
        files = self.words.get("--py-files")
        # After an empty `--py-files` value, `,agent.zip` would be a list that begins with an empty entry.
        if files is not None and files.end is None:
            return UNSURE
        if files is not None and not re.sub(r"--py-files=|\$\{\w+\}", "", files.spelled):
            return UNSURE
        return OTHER_FILES.format("--properties-file") if "--properties-file" in self.words else ""

    def _is_open(self) -> bool:
        """Return whether the value of an option or property that decides what can be added is unknown."""
        for name, value in self.values:
            if value in self.unknown:
                key = value.partition("=")[0].strip()
                if name in ("--conf", "-c") and ("$" in key or key in _DECISIVE):
                    return True
                if name in ("--master", "--deploy-mode"):
                    return True
        return False

    def last(self, *names: str) -> str:
        """Return the last value of an option; empty without one."""
        return next((value for name, value in reversed(self.values) if name in names), "")

    def pairs(self, *names: str) -> dict[str, str]:
        """Return the `name=value` pairs of an option that may be repeated."""
        words = (value for name, value in self.values if name in names and value not in self.unknown)
        return {name.strip(): value for name, _, value in (word.partition("=") for word in words)}

    @property
    def conf(self) -> dict[str, str]:
        """Properties, also from their own options such as `--master`."""
        own = {name: self.last(option) for option, name in _PROPERTIES.items()}
        return {**self.pairs("--conf", "-c"), **{name: value for name, value in own.items() if value}}


def read_command(name: str, words: Sequence[Word], command: Command) -> LaunchedApplication | None:
    """Return the application of `submit` or `sql` with its arguments; None if they start none (`--help`)."""
    return (_of_submit if name == "submit" else _of_sql)(words, command)


def _of_submit(words: Sequence[Word], command: Command) -> LaunchedApplication | None:
    options = _Options(words)
    if options.switches & _NO_APPLICATION or _OTHER_REQUESTS & {name for name, _ in options.values}:
        return None
    main = options.rest[0].spelled if options.rest else ""
    arguments = options.rest[1:]
    main_class = options.last("--class")
    problem = UNKNOWN_WORD.format("submit") if options.is_cut else ""
    if not main:
        problem = problem or "no application is given to spark-submit"
    return LaunchedApplication(
        kind=kind_of(main, main_class),
        main=main,
        main_class=main_class,
        arguments=tuple(word.value for word in arguments),
        shown=_shown(arguments),
        conf=options.conf,
        name=options.last("--name"),
        variables=command.variables,
        directory=command.directory,
        is_here=may_be_here(main, command.directory),
        problem=problem,
        py_files_at=options.words["--py-files"].end if "--py-files" in options.words else None,
        fixed=options.fixed,
    )


def _shown(words: Sequence[Word]) -> tuple[str, ...]:
    """Return arguments for an event.

    The first is masked if it comes from a variable whose value also has the words before it.
    """
    known = tuple(word.shown for word in words if word.shown is not None)
    return (UNKNOWN_TEXT, *known) if words and words[0].shown is None else known


def _of_sql(words: Sequence[Word], command: Command) -> LaunchedApplication | None:
    options = _Options(words)
    if options.switches & _NO_APPLICATION:
        return None
    statements = ";\n".join(value for name, value in options.values if name == "-e")
    file = options.last("-f")
    problem = UNKNOWN_WORD.format("sql") if options.is_cut else ""
    if not (statements or file or problem):
        if command.standard_input is None:
            problem = STANDARD_INPUT
        elif command.is_text:
            statements = command.standard_input
        else:
            file = command.standard_input
    if options.last("-i"):
        problem = problem or INIT_FILE
    database = options.last("--database")
    if statements and database:
        statements = f"use {database};\n{statements}"
    return LaunchedApplication(
        kind=SQL,
        main="" if statements else file,
        statements=statements,
        conf={**options.pairs("--hiveconf"), **options.conf},
        name=options.last("--name"),
        # If the shell expands the text, `${name}` is a variable of the shell.
        variables={} if options.unknown else options.pairs("-d", "--define", "--hivevar"),
        directory=command.directory,
        is_here=may_be_here(file, command.directory),
        problem=problem,
    )


def may_be_here(path: str, directory: str | None) -> bool:
    """Return whether it is certain which file a path names: it is absolute, or the folder is known."""
    return path.startswith(("/", "file:/")) or directory is not None
