"""Types of columns as texts: checked when a DAG is parsed, and compared in one form.

Reads Spark SQL's own syntax (`dataType` in Spark's `SqlBaseParser.g4`), and what `DataType.simpleString`
prints, which does not quote the names of fields. No JVM and no PySpark: a scheduler parses DAGs without them.
"""

from __future__ import annotations

import difflib
import re
from typing import NoReturn

EXAMPLE = "write it as in Spark SQL, 'decimal(10,2)' or 'array<string>' for example."

_SAME = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
    "timestamp_ltz": "timestamp",
    "character": "char",
}
"""Name of a type in SQL -> its name in Spark's schemas."""

_PLAIN = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "boolean", "date"),
    *("timestamp", "timestamp_ntz", "void", "variant"),
    # What PySpark prints of types that a user's class or Spark's MLlib defines.
    *("udt", "vector", "matrix"),
)
_OTHERS = (
    "decimal",
    "char",
    "varchar",
    "time",
    "interval",
    "geometry",
    "geography",
    "array",
    "map",
    "struct",
)
_NAMES = (*_PLAIN, *_OTHERS, *_SAME)

_OF_PYTHON = {"str": "string", "text": "string", "datetime": "timestamp", "list": "array", "dict": "map"}
"""Name of a type elsewhere -> its name in Spark."""

_UNITS = (("year", "month"), ("day", "hour", "minute", "second"))
_MAX_DIGITS = 38
_MAX_TIME_DIGITS = 6
_MAX_DEPTH = 100
"""Spark's own parser fails at a few hundred levels."""

_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"[a-z_]\w*", re.IGNORECASE)
_QUOTED_NAME = re.compile(r"`((?:[^`]|``)*)`\s*:?")
_NAME = re.compile(r"([^:,<>()'\"`]+):")
_NAME_BEFORE_BLANK = re.compile(r"([\w.-]+)\s+(?=[a-z_]\w*)", re.IGNORECASE)
_NAME_AS_PRINTED = re.compile(r"((?:[^:,<>()]|\([^:<>()]*\))+):")
"""Name of a field such as `sum(a)`, which `simpleString` prints as it is."""

_NOT_NULL = re.compile(r"\bnot\s+null\b", re.IGNORECASE)
_COMMENT = re.compile(r"comment\s*(?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")", re.IGNORECASE)
_COLLATION = re.compile(r"collate\s+([\w.]+)", re.IGNORECASE)
_WITHOUT_ZONE = re.compile(r"without\s+time\s+zone\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+")
_ANY = re.compile("any", re.IGNORECASE)


def type_text(text: str) -> str:
    """Return a type in the form of Spark's schemas, in lower case; raise ValueError with the problem.

    Nullability and comments of fields are left out: `simpleString` does not have them. CHAR and VARCHAR are
    `string`, because a frame has them as texts.

    >>> type_text("ARRAY<LONG>"), type_text("decimal"), type_text("struct<long: integer>")
    ('array<bigint>', 'decimal(10,0)', 'struct<long:int>')
    >>> type_text("dec(7)"), type_text("varchar(5)"), type_text("struct<`a b` INT NOT NULL COMMENT 'x, y'>")
    ('decimal(7,0)', 'string', 'struct<a b:int>')
    >>> type_text("strng")
    Traceback (most recent call last):
    ...
    ValueError: 'strng' is unknown: write 'string', or another type of Spark SQL.
    """
    reader = _TypeReader(text)
    result = reader.type()
    if reader.rest:
        reader.fail(f"{reader.rest[:20]!r} after the type is not understood")
    return result.lower()


class _TypeReader:
    """Reads a type from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._skip()

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def fail(self, problem: str, cure: str = EXAMPLE) -> NoReturn:
        """Raise ValueError with the problem and its cure."""
        raise ValueError(f"{problem}: {cure}")

    def type(self) -> str:
        """Read one type."""
        word = self._match(_WORD)
        if word is None:
            self.fail(f"{self.rest[:20]!r} is not a type" if self.rest else "a type is missing at the end")
        name = word[0].lower()
        name = _SAME.get(name, name)
        if name not in _NAMES:
            near = [_OF_PYTHON[name]] if name in _OF_PYTHON else difflib.get_close_matches(name, _NAMES, 1)
            cure = f"write {near[0]!r}, or another type of Spark SQL." if near else EXAMPLE
            self.fail(f"{word[0]!r} is unknown", cure)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self.fail("it is nested too deeply")
        result = str(getattr(self, f"_{name}")() if hasattr(self, f"_{name}") else name)
        self._depth -= 1
        return result

    def _array(self) -> str:
        self._expect("<")
        item = self.type()
        self._expect(">")
        return f"array<{item}>"

    def _map(self) -> str:
        self._expect("<")
        key = self.type()
        self._expect(",")
        value = self.type()
        self._expect(">")
        return f"map<{key},{value}>"

    def _struct(self) -> str:
        self._expect("<")
        if self._takes(">"):
            return "struct<>"
        fields = [self._field()]
        while self._takes(","):
            fields.append(self._field())
        self._expect(">")
        return f"struct<{','.join(fields)}>"

    def _field(self) -> str:
        quoted = self._match(_QUOTED_NAME)
        name = quoted or next(
            filter(None, map(self._match, (_NAME, _NAME_BEFORE_BLANK, _NAME_AS_PRINTED))), None
        )
        if name is None:
            self.fail(
                f"the field at {self.rest[:20]!r} has no type" if self.rest else "'>' is missing at the end"
            )
        kind = self.type()
        self._match(_NOT_NULL)
        self._match(_COMMENT)
        text = name[1].replace("``", "`") if quoted else name[1].strip()
        return f"{text}:{kind}"

    def _decimal(self) -> str:
        digits = self._numbers("decimal", 2)
        if not digits:
            return "decimal(10,0)"
        precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
        if not (1 <= precision <= _MAX_DIGITS and scale <= precision):
            self.fail(
                f"decimal({precision},{scale}) is not a type of Spark",
                f"the precision is 1 to {_MAX_DIGITS}, the scale not more than the precision.",
            )
        return f"decimal({precision},{scale})"

    def _char(self) -> str:
        return self._text_of_length("char")

    def _varchar(self) -> str:
        return self._text_of_length("varchar")

    def _text_of_length(self, name: str) -> str:
        lengths = self._numbers(name, 1)
        if not lengths or lengths[0] < 1:
            self.fail(f"{name} has no length", f"write '{name}(10)' for example, or 'string'.")
        return self._string()

    def _string(self) -> str:
        collation = self._match(_COLLATION)
        return f"string collate {collation[1]}" if collation else "string"

    def _timestamp(self) -> str:
        return "timestamp_ntz" if self._match(_WITHOUT_ZONE) else "timestamp"

    def _time(self) -> str:
        digits = self._numbers("time", 1) or [_MAX_TIME_DIGITS]
        if not 0 <= digits[0] <= _MAX_TIME_DIGITS:
            self.fail(f"time({digits[0]}) is not a type of Spark", f"it has 0 to {_MAX_TIME_DIGITS} digits.")
        self._match(_WITHOUT_ZONE)
        return f"time({digits[0]})"

    def _geometry(self) -> str:
        return self._on_the_earth("geometry")

    def _geography(self) -> str:
        return self._on_the_earth("geography")

    def _on_the_earth(self, name: str) -> str:
        system = (self._match(_NUMBER) or self._match(_ANY)) if self._takes("(") else None
        if system is None:
            self.fail(
                f"{name} has no reference system", f"write '{name}(4326)' or '{name}(any)' for example."
            )
        self._expect(")")
        return f"{name}({system[0]})"

    def _interval(self) -> str:
        first = self._unit()
        if first is None:
            return "interval"
        before = self._at
        last = None
        to = self._match(_WORD)
        if to is not None and to[0].lower() == "to":
            last = self._unit()
            units = next(units for units in _UNITS if first in units)
            if last not in units or units.index(last) <= units.index(first):
                self.fail(
                    f"'interval {first} to {last or self.rest[:20]}' is not a type of Spark",
                    "write 'interval year to month' or 'interval day to second' for example.",
                )
        else:
            self._at = before
        return f"interval {first} to {last}" if last else f"interval {first}"

    def _unit(self) -> str | None:
        before = self._at
        word = self._match(_WORD)
        if word is not None and any(word[0].lower() in units for units in _UNITS):
            return word[0].lower()
        self._at = before
        return None

    def _numbers(self, name: str, most: int) -> list[int]:
        """Read up to `most` numbers in brackets; without a bracket, an empty list."""
        if not self._takes("("):
            return []
        numbers: list[int] = []
        while len(numbers) < most:
            number = self._match(_NUMBER)
            if number is None:
                self.fail(f"a number is missing after '{name}('")
            numbers.append(int(number[0]))
            if not self._takes(","):
                break
        self._expect(")")
        return numbers

    def _expect(self, sign: str) -> None:
        if self._takes(sign):
            return
        place = f"before {self.rest[:20]!r}" if self.rest else "at the end"
        self.fail(f"{sign!r} is missing {place}")

    def _takes(self, sign: str) -> bool:
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        self._skip()
        return True

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the match of a pattern here, and continue after it and the blanks behind it."""
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            self._skip()
        return match

    def _skip(self) -> None:
        blanks = _BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
