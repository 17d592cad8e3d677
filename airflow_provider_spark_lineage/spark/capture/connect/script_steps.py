"""Plans the requests for the statements of an SQL script: the statements, their texts, and the times.

Only reads texts. Statements that cannot be explained with certainty are listed in a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.actions import Action, action_of_statement
from airflow_provider_spark_lineage.spark.capture.connect.parameters import with_text
from airflow_provider_spark_lineage.spark.capture.connect.script_text import Piece, Script
from airflow_provider_spark_lineage.spark.capture.connect.statements import (
    Ask,
    Created,
    changed_names,
    created_table,
    dropped_name,
    first_word,
    is_query,
    made_from_query,
    names_of,
    statement_of,
    without_texts,
)

MAX_STATEMENTS = 50
"""Limit of explained statements of a script: each takes one or two requests."""

_UNCERTAIN = "statements of the SQL script may not have run, and are not recorded"
_UNCLEAR = "statements of the SQL script are not recorded, because other statements change their tables"
_DYNAMIC = "statements of the SQL script are not recorded, because they run texts"
_TOO_MANY = "only the first statements of the long SQL script are recorded, without"
_OVERWRITES = re.compile(r"(?i)\boverwrite\b")
_WITH = re.compile(r"(?i)\s*with\b(?!\s+recursive\b)")


class When(Enum):
    """Time when a statement can be explained, because its names mean the same as when it runs."""

    BEFORE = "before the script"
    BESIDE = "at any time"
    AFTER = "after the script"


@dataclass
class ScriptStep:
    """The action to explain for one statement of a script."""

    action: Action
    when: When


def steps_of(script: Script, command: Any) -> Tuple[List[ScriptStep], List[str]]:
    """Return the explained statements of a script, and a sentence for each reason to leave statements out.

    `command` is the client's command with the text of the script.
    """
    return _Steps(script, command).read()


class _Steps:
    """Reads the statements of a script in order."""

    def __init__(self, script: Script, command: Any) -> None:
        self._script = script
        self._command = command
        self._changes = [changed_names(piece.text) for piece in script.pieces]
        self._made: Dict[str, Created] = {}
        """Name of a table or temporary view that the script has created from a query -> its definition."""

        self._steps: List[ScriptStep] = []
        self._left_out: Dict[str, List[Piece]] = {}

    def read(self) -> Tuple[List[ScriptStep], List[str]]:
        for number, piece in enumerate(self._script.pieces):
            if _touches_data(piece.text):
                why = self._add(number, piece)
                if why:
                    self._left_out.setdefault(why, []).append(piece)
            self._note(number, piece)
        return self._steps, [f"{why}: {_listed(pieces)}" for why, pieces in self._left_out.items()]

    def _add(self, number: int, piece: Piece) -> str:
        """Add the step of a statement; return the reason if there is none, as a sentence."""
        if not piece.is_certain:
            return _UNCERTAIN
        if statement_of(piece.text).lost:
            return _DYNAMIC
        if len(self._steps) == MAX_STATEMENTS:
            return _TOO_MANY
        if self._is_undone(piece):
            return ""
        created = created_table(piece.text)
        if created is not None and created.query and self._is_dropped(number, _last(created.name)):
            # The table does not remain, but its sources are read.
            piece, created = replace(piece, text=created.query), None
        action = self._action(piece, piece.text, created)
        query = piece.text if created is None or created.if_new else created.query
        when = self._moment(number, action, self._used(query, only_views=True)[1])
        if when is None and not action.renames:
            inlined, names = self._inlined(query)
            if inlined != query:
                action = self._action(piece, inlined, replace(created, query=inlined) if created else None)
                when = self._moment(number, action, names)
        if when is not None:
            action.ask = Ask.BEFORE if when is When.BEFORE else Ask.BESIDE
            self._steps.append(ScriptStep(action, when))
            return ""
        if created is None and made_from_query(piece.text) is not None:
            # A temporary view counts when it is used.
            return ""
        self._add_output(number, piece)
        return _UNCLEAR

    def _add_output(self, number: int, piece: Piece) -> None:
        """Add only the target of a statement that inserts but cannot be explained."""
        statement = statement_of(piece.text)
        if not statement.is_insert or len(statement.targets) != 1:
            return
        (table,) = statement.targets
        mode = "Overwrite" if _OVERWRITES.search(without_texts(piece.text)) else "Append"
        command = {"kind": "write", "format": "", "mode": mode, "table": table, "insert": True}
        action = Action("command", command=command, targets=statement.targets)
        if self._moment(number, action, frozenset()) is not None:
            self._steps.append(ScriptStep(action, When.BESIDE))

    def _note(self, number: int, piece: Piece) -> None:
        """Store the tables and views that a statement creates from queries; forget those that it changes."""
        changed = self._changes[number]
        if changed is None:
            self._made.clear()
        for name in (*(changed or ()), *map(_last, statement_of(piece.text).targets)):
            self._made.pop(name, None)
        created = made_from_query(piece.text)
        if created is not None and piece.is_certain and "." not in created.name:
            self._made[_last(created.name)] = created

    def _is_undone(self, piece: Piece) -> bool:
        """Return whether a statement drops an object that the script itself has created."""
        dropped = dropped_name(piece.text)
        created = self._made.get(_last(dropped))
        return "." not in dropped and created is not None and not created.replaces

    def _is_dropped(self, number: int, name: str) -> bool:
        """Return whether a table is dropped later in the script, without other changes."""
        pieces = [
            self._script.pieces[at]
            for at in range(number + 1, len(self._changes))
            if _concerns(self._changes[at], frozenset({name}))
        ]
        return bool(pieces) and all(
            piece.is_certain and _last(dropped_name(piece.text)) == name for piece in pieces
        )

    def _used(self, text: str, *, only_views: bool) -> Tuple[List[str], FrozenSet[str]]:
        """Return the script's own objects in a statement, and all names in it and in their queries."""
        used: List[str] = []
        names = names_of(text)
        for name, created in reversed(list(self._made.items())):
            if name in names and (created.is_view or not only_views):
                used.insert(0, name)
                names |= names_of(created.query)
        return used, names

    def _inlined(self, text: str) -> Tuple[str, FrozenSet[str]]:
        """Return a statement with the script's own tables and views as WITH queries, and its other names."""
        used, names = self._used(text, only_views=False)
        texts = " ".join([text, *(self._made[name].query for name in used)])
        if not used or any(re.search(rf"(?i)\.\s*`?{re.escape(name)}\b", texts) for name in used):
            # WITH cannot define a name with a database.
            return text, names
        queries = ", ".join(f"`{name}` AS ({self._made[name].query})" for name in used)
        rest = _WITH.sub(", ", text, count=1) if _WITH.match(text) else f" {text}"
        return f"WITH {queries}{rest}", names - frozenset(used)

    def _action(self, piece: Piece, text: str, created: Optional[Created]) -> Action:
        """Return the action of a statement, whose text may have been changed to be explained."""
        if created is None or created.if_new:
            action = action_of_statement(piece.text, with_text(self._command, text))
            if action.ask is Ask.NEVER or text != piece.text:
                action.ask = Ask.BESIDE
        elif created.query:
            # When the table exists, only the query can be explained.
            action = Action("command", sql=piece.text, statement=with_text(self._command, created.query))
            action.targets = (created.name,)
            action.command = {
                "kind": "write",
                "format": created.format,
                "mode": "Overwrite" if created.replaces else "ErrorIfExists",
                "table": created.name,
                "insert": False,
            }
        else:
            action = Action("command", targets=(created.name,))
            action.command = {"kind": "create_table", "table": created.name}
        action.variables, action.queried = self._script.variables, self._script.queried
        return action

    def _moment(self, number: int, action: Action, names: FrozenSet[str]) -> Optional[When]:
        """Return the time when a statement can be explained; None if there is none."""
        earlier, later = self._changes[:number], self._changes[number + 1 :]
        targets = frozenset(map(_last, action.targets))
        is_gone = bool(targets) and any(_concerns(change, targets) for change in later)
        if is_gone and not dropped_name(action.sql):
            # After the script, its target can no longer be described.
            return None
        is_before = not any(_concerns(change, names) for change in earlier)
        is_after = not any(_concerns(change, names) for change in later) and not action.renames
        if is_before and is_after:
            return When.BESIDE
        if is_before:
            return When.BEFORE
        return When.AFTER if is_after else None


def _touches_data(text: str) -> bool:
    statement = statement_of(text)
    return statement.ask is not Ask.NEVER or bool(statement.lost) or is_query(text)


def _last(name: str) -> str:
    """Return the last part of a name, in lower case."""
    return re.split(r"[.\s]+", name.strip())[-1].strip("`").lower()


def _concerns(change: Optional[FrozenSet[str]], names: FrozenSet[str]) -> bool:
    return change is None or bool(change & names)


def _listed(pieces: Sequence[Piece]) -> str:
    """Return a list of statements by first word, changed tables, and line."""
    texts = []
    for piece in pieces[:10]:
        words = (first_word(piece.text).upper(), *statement_of(piece.text).targets)
        texts.append(f"{' '.join(words)} (line {piece.line})")
    more = f" and {len(pieces) - 10} more" if len(pieces) > 10 else ""
    return ", ".join(texts) + more
