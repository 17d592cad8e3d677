"""Frames that a step over wide columns reads: texts of random shapes, and the sources of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from wide_state import Column, Frame, State, Thing, UnfitError, Uses, joined, last
from wide_steps import EXPRESSIONS, LETTERS, NAMES, SHAPES, STRUCT, Expression, Shape


class Reads:
    """What one step reads; `UnfitError` if there is nothing to read."""

    def __init__(self, state: State) -> None:
        self.state, self.random = state, state.random
        self.words: dict[str, str] = {}
        self.reads: list[str] = []

    def _any(self, things: Iterable[Thing]) -> Thing:
        listed = list(things)
        if not listed:
            raise UnfitError
        return self.random.choice(listed)

    def _table(self, thing: Thing) -> str:
        catalog = "lake." if thing.form == "iceberg" else ""
        return f"{catalog}{self.state.database}.{thing.name}"

    def _name(self, thing: Thing) -> str:
        """Return the name of a thing in SQL; empty if it has none."""
        if thing.kind == "frame":
            return thing.name if thing.text.startswith("spark.table") else ""
        return "" if thing.kind in ("path", "sunk") else self._table(thing)

    def frame_of(self, thing: Thing, *, streams: bool = False) -> Frame:
        """Return all rows of a thing."""
        reader = "spark.readStream" if streams else "spark.read"
        if thing.kind == "frame":
            text = thing.text
        elif thing.kind in ("path", "sunk"):
            listed = ", ".join(f"{column.name} {column.type}" for column in thing.columns)
            tells = thing.form == "delta" or (thing.form == "parquet" and not streams)
            typed = "" if tells else f".schema('{listed}')"
            header = ".option('header', True)" if thing.form == "csv" else ""
            text = f"{reader}.format('{thing.form}'){header}{typed}.load('{thing.place}')"
        else:
            text = f"spark.table('{self._table(thing)}')"
        return Frame(text, thing.columns, thing.rows, thing.below, (thing.name, *thing.needs), streams)

    def source(self, target: Thing) -> Frame:
        """Return some rows that are not the target's."""
        frame = self.frame_of(self._readable(target))
        for _ in range(self.random.choice((0, 1, 1, 2))):
            frame = self.shaped(frame, target)
        return frame

    def _readable(self, target: Thing) -> Thing:
        return self._any(
            thing
            for thing in self.state.things
            if thing.columns and target.name not in (thing.name, *thing.needs)
        )

    def shaped(self, frame: Frame, target: Thing) -> Frame:
        """Return a frame over another one, of a random shape that fits; itself if none was found."""
        for _ in range(4):
            (shape,) = self.random.choices(SHAPES, [shape.weight for shape in SHAPES])
            try:
                second = self.frame_of(self._readable(target)) if shape.has_second else None
                return self._over(shape, frame, second)
            except UnfitError:
                continue
        return frame

    def _over(self, shape: Shape, frame: Frame, second: Frame | None) -> Frame:
        letters = self._letters(shape.text, frame)
        if second:
            of_second = re.sub(r"\{(\w)1\}", r"{_\1}", shape.text)
            letters |= {f"{key}1": column for key, column in self._letters(of_second, second, "_").items()}
        keys = [key for key in ("new", "new2", "new3") if f"{{{key}}}" in shape.text]
        numbered = {key: self.state.name("n") for key in keys}
        words = {key: column.name for key, column in letters.items()} | numbered
        text = shape.text.format(**words, l="{l}", r="{r}")
        # The first `{l}` of a call of `spark.sql` is a name in its text.
        text = _replaced_last(text, "{l}", frame.text)
        text = _replaced_last(text, "{r}", second.text) if second else text
        label = shape.text.partition("(")[2] if shape.text.startswith("spark.sql") else shape.text

        def used(names: str) -> Uses:
            columns = [letters[f"{letter}1" if is_second else letter] for letter, is_second in _pairs(names)]
            return last(columns, label)

        added = tuple(Column(name.format(**words), kind, used(names)) for name, kind, names in shape.adds)
        columns = (*frame.columns, *added) if shape.keeps else added
        rows = joined(frame.rows, second.rows if second else {})
        rows = joined(rows, last(frame.columns, label) if shape.decides == "*" else used(shape.decides))
        below = (*frame.below, *(second.below if second else ()))
        return Frame(text, columns, rows, below, (*frame.needs, *(second.needs if second else ())))

    def _letters(self, text: str, frame: Frame, prefix: str = "") -> dict[str, Column]:
        """Choose a column for each letter of a text."""
        chosen: dict[str, Column] = {}
        for letter in dict.fromkeys(re.findall(rf"\{{{prefix}([nmstdix])\}}", text)):
            fitting = [column for column in frame.columns if column.type == LETTERS[letter]]
            fresh = [column for column in fitting if column not in chosen.values()]
            if not fitting:
                raise UnfitError
            chosen[letter] = self.random.choice(fresh or fitting)
        return chosen

    def selected(self, frame: Frame, wanted: Iterable[tuple[str, str]]) -> Frame:
        """Return a frame with these columns, computed of another one's."""
        columns, texts, before = [], [], len(self.reads)
        for name, kind in wanted:
            text, uses = self._value(frame, kind)
            texts.append(f"{text} {name}")
            columns.append(Column(name, kind, uses))
        listed = ", ".join(repr(text) for text in texts)
        below = (*frame.below, *self.reads[before:])
        text = f"{frame.text}.selectExpr({listed})"
        return replace(frame, text=text, columns=tuple(columns), below=below)

    def _value(self, frame: Frame, kind: str) -> tuple[str, Uses]:
        fitting = [each for each in EXPRESSIONS if each.type == kind]
        while True:
            (expression,) = self.random.choices(fitting, [each.weight for each in fitting])
            try:
                return self._computed(expression, frame)
            except UnfitError:
                fitting.remove(expression)

    def _computed(self, expression: Expression, frame: Frame) -> tuple[str, Uses]:
        letters = self._letters(expression.text, frame)
        words = {letter: column.name for letter, column in letters.items()}
        uses = last(letters.values(), expression.text)
        if "{v}" in expression.text:
            if frame.streams or not self.state.variables:
                raise UnfitError
            words["v"] = self.random.choice(list(self.state.variables))
            uses = joined(uses, self._of_variable(words["v"], expression.text))
        return expression.text.format(**words), uses

    def columns_anew(self, target: Thing) -> list[tuple[str, str]]:
        """Return new columns for a dataset."""
        types = ["bigint", "string", "bigint", "string", "double", "int", STRUCT]
        if target.form == "csv":
            types.remove(STRUCT)
        names = self.random.sample(NAMES, self.random.choice((2, 3, 3, 4)))
        return [(name, self.random.choice(types)) for name in names]

    def used_frame(self, frame: Frame) -> Frame:
        """Note that a step reads a frame, and put it into the text."""
        self.words["frame"] = frame.text
        self.reads += frame.below
        return frame

    def _of_variable(self, name: str, label: str, *, is_read: bool = True) -> Uses:
        """Return the base columns of a variable's value, which count as read again."""
        frame = self.state.variables[name]
        self.reads += frame.below if is_read else ()
        return {base: frozenset({label}) for base in frame.rows}


def _pairs(names: str) -> Iterable[tuple[str, bool]]:
    """Yield the letters of a text like `n1s`: a `1` says that the next one is of the second frame."""
    for second, letter in re.findall(r"(1?)([a-z])", names):
        yield letter, bool(second)


def _replaced_last(text: str, old: str, new: str) -> str:
    before, _, after = text.rpartition(old)
    return f"{before}{new}{after}"
