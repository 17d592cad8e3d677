"""The closed set of kinds of gaps, and sentences that have a kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any


class GapKind(str, Enum):
    """Kind of a gap, as events and records have it; `meaning` is for their readers."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> GapKind:
        """Return the member of this name, with its meaning."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.meaning = meaning
        return member

    # The whole run.
    PLANNED = "planned", "The lineage is read from the text of the program: it may differ from what ran."
    NOT_CAPTURED = "not_captured", "The Spark work of the task was not captured."
    NOT_RECORDED = "not_recorded", "A part of what Spark did was not recorded, or its record cannot be read."
    TASK_STOPPED = "task_stopped", "The task was asked to stop: the event lacks its later work."
    COLLECTED_ROWS = (
        "collected_rows",
        "The program collected rows of a dataset; later literals may be these values, without an edge.",
    )

    # Executions and their plans.
    UNREAD_PLAN = (
        "unread_plan",
        "The plan of an execution was not read: inputs, outputs and columns may be missing.",
    )
    BROKEN_PLAN = "broken_plan", "The parts of a plan do not fit together: edges are missing or uncertain."
    UNKNOWN_NODE = (
        "unknown_node",
        "A node of the plan is not known: columns pass through it, and its own reads and writes are missing.",
    )
    UNRECORDED_COMMAND = "unrecorded_command", "What a command reads and writes is not in its plan."
    FAILED_WRITE = "failed_write", "A write failed, and may have changed its target before."
    UNCERTAIN_CHANGE = (
        "uncertain_change",
        "A change or a read may not have taken place, or may have been of another kind.",
    )

    # Columns and rows.
    CODE_OVER_ROWS = (
        "code_over_rows",
        "Code over whole rows computed columns: they have an edge from every column that it received.",
    )
    ROWS_FROM_RDD = (
        "rows_from_rdd",
        "Rows came through an RDD: their columns have an edge from every column that it read.",
    )
    ROWS_FROM_PYTHON = (
        "rows_from_python",
        "Rows came from the program's memory or from an RDD of unknown origin.",
    )
    UNKNOWN_ROWS = "unknown_rows", "The origin of rows is not known, as of a cache or of earlier batches."
    VARIABLE_VALUE = (
        "variable_value",
        "A value may be that of a session variable, and is without an edge from it.",
    )
    AMBIGUOUS_COLUMN = (
        "ambiguous_column",
        "A column could not be told apart from others: it has no edge, or an edge from each candidate.",
    )
    UNKNOWN_COLUMNS = "unknown_columns", "Columns are missing, or their origin is not known."
    MISSING_DETAIL = "missing_detail", "Spark's text of the plan lacks a detail, or cut it off."
    UNREAD_TEXT = "unread_text", "A text was not understood, or only in part: a statement or an expression."

    # Datasets.
    UNKNOWN_SOURCE = (
        "unknown_source",
        "The data source is not known: the dataset has the name that Spark reports.",
    )
    UNKNOWN_LOCATION = (
        "unknown_location",
        "The location of a dataset is not known: it has its name in a catalog, or a path that may be wrong.",
    )
    UNNAMED_DATASET = "unnamed_dataset", "A dataset has no name, and so is missing."
    SEVERAL_DATASETS = "several_datasets", "A dataset represents several that are not named."
    NO_FILE_SYSTEM = "no_file_system", "Paths have no file system, so the datasets may be of another one."

    # Texts of programs that are read before they run.
    UNREAD_PROGRAM = "unread_program", "The text of a program was not read at all."
    NOT_CONSTANT = "not_constant", "A path, a table or an option of the program is known only when it runs."
    UNFOLLOWED_CODE = "unfollowed_code", "A part of the program is not followed: it may read or write more."

    # Limits.
    LIMIT_REACHED = "limit_reached", "A limit was reached, so a part is left out or described less exactly."
    EVENT_TOO_LARGE = (
        "event_too_large",
        "The event would be too large: the sentence lists the parts that it lacks.",
    )

    UNKNOWN = "unknown", "The gap was written by a release whose gaps had no kind."

    def __str__(self) -> str:
        """Return the name in events; Python's releases differ here."""
        return str(self.value)

    def reason(self, sentence: str) -> Reason:
        """Return a sentence of this kind; one that has a kind keeps it."""
        return reason_of(sentence, self)


class Reason(str):
    """A sentence for a person, with the kind for programs.

    >>> Reason(GapKind.FAILED_WRITE, "the write failed").kind
    <GapKind.FAILED_WRITE: 'failed_write'>
    """

    kind: GapKind

    def __new__(cls, kind: GapKind, sentence: str) -> Reason:
        """Return the sentence with its kind."""
        reason = super().__new__(cls, sentence)
        reason.kind = kind
        return reason

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the arguments for a copy."""
        return self.kind, str(self)

    def reworded(self, sentence: str) -> Reason:
        """Return another sentence of the same kind: one that was cut, or has a further clause."""
        return Reason(self.kind, sentence)


class Sentence:
    """A row of the modules beside this one: the kind and the text of one sentence.

    Its values are given by name, and may have any text.

    >>> Sentence(GapKind.UNKNOWN_COLUMNS, "the column `{name}` is not known")(name="{a}")
    'the column `{a}` is not known'
    """

    def __init__(self, kind: GapKind, text: str) -> None:
        self.kind = kind
        self.text = text

    def __call__(self, **values: object) -> Reason:
        """Return the sentence with its values."""
        return Reason(self.kind, self.text.format(**values))


def reason_of(sentence: str, kind: GapKind = GapKind.NOT_RECORDED) -> Reason:
    """Return a sentence with its kind; one without a kind gets `kind`.

    Capture collects losses as plain sentences, which are of one kind.
    """
    return sentence if isinstance(sentence, Reason) else Reason(kind, sentence)


def kind_named(name: object) -> GapKind:
    """Return the kind of this name in a record; UNKNOWN for a name of a later release, and for none."""
    try:
        return GapKind(name)  # type: ignore[call-arg,arg-type]  # the enum adds the meaning itself
    except ValueError:
        return GapKind.UNKNOWN


def reasons(sentences: Sequence[str], kinds: object) -> list[str]:
    """Return sentences of a record with their kinds, which are a list of as many names; else UNKNOWN."""
    names: list[Any] = kinds if isinstance(kinds, list) and len(kinds) == len(sentences) else []
    return [
        Reason(kind_named(names[position] if names else None), sentence)
        for position, sentence in enumerate(sentences)
    ]


def joined(reasons: Iterable[Reason]) -> Reason | None:
    """Return several reasons as one, of the kind of the first; None for none."""
    several = [*reasons]
    return several[0].reworded("; ".join(several)) if several else None
