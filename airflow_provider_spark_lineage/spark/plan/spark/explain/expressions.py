"""Reader of the text of Catalyst's expressions into the trees of `TreeNode.toJSON`.

Spark prints literals without quotes, so a text may be read in several ways. The references to columns
(`name#id`) decide: every reference in the text is in the tree, and no literal contains one. If there is no
such reading, `UnreadablePlanError` is raised, and the caller uses all references of the text instead.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.calls import (
    ReadExpression,
    called,
    filtered,
    meant,
    over_window,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import EXPRESSION, Columns, Marks
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import (
    CLASSES,
    call,
    is_known,
    literal,
    result_type,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError
from airflow_provider_spark_lineage.spark.plan.spark.explain.subplans import (
    CALL,
    RESULT,
    SUBQUERIES,
    SUBQUERY,
    Subplan,
    Subplans,
    result_of,
)
from airflow_provider_spark_lineage.spark.plan.spark.lambdas import FUNCTIONS
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

END = "\0"
"""Appended to the text, so that its end is a stop like any other."""

Stops = tuple[str, ...]
"""Texts that may follow the expression; the first of them ends a literal."""

IN_CALL: Stops = (", ", ")")

_SYMBOLS = (
    *("=", "<=>", "<=", ">=", "<", ">", "AND", "OR", "&&", "||"),
    *("+", "-", "*", "/", "%", "div", "&", "|", "^", "<<", ">>>", ">>"),
)
_OPERATOR = re.compile(f" (?:{'|'.join(map(re.escape, _SYMBOLS))}) ")
_BEHIND_OPERAND: Stops = (" IN (", " LIKE ", " ILIKE ", " RLIKE ", " ASC NULLS ", " DESC NULLS ")
_IN_PARENTHESES: Stops = (*(f" {symbol} " for symbol in _SYMBOLS), ")")
_OUTER = "outer"
"""A call around a column of the query outside a correlated subquery."""

_LAMBDA = "lambdafunction("
_VARIABLE = re.compile(r"lambda ([^\s#\0]+?)#(\d+)L?")
_ORDER = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)")
_FIELD = re.compile(r"\w+(?:\((?:[^()#]|\([^()#]*\))*\))?")
"""The name of a field, which may be the text of an expression, `count(1)`; it has no ids."""

_REFERENCE = re.compile(r"\w#\d")
_ESCAPE = re.compile(r" ESCAPE '.'")
_PATTERN = re.compile(r" (?:LIKE|ILIKE|RLIKE) ")


class ExplainReader:
    """Reads the expressions in the arguments of one node."""

    def __init__(
        self, text: str, columns: Columns, plans: Sequence[Subplan] = (), inputs: Sequence[int] = ()
    ) -> None:
        self.text = text + END
        self.columns = columns
        self.inputs = dict.fromkeys(inputs)
        """Ids of the columns that the node's expressions can use; empty if no id needs a correction."""

        self._is_argument = False
        """True while the arguments of a function are read."""

        self.marks = Marks(self.text)
        self.problems: list[Reason] = []
        """One sentence for each thing that could not be told apart."""

        self._subplans = Subplans(self.text, plans, columns.bodies)
        self.foreign: dict[str, None] = {}
        """Names of functions that are not Spark's own."""

    def subqueries(self, start: int, end: int) -> list[Tree]:
        """Return the subqueries that are named between two positions."""
        if not (self._subplans.are_certain or self._subplans.placed):
            # Adding it to every expression would be a guess.
            self.problems.append(of_explained.AMBIGUOUS_SUBQUERY())
        return self._subplans.trees(start, end)

    def expression(self, position: int, stops: Stops) -> ReadExpression:
        """Read the expression that begins at a position."""
        return self._continued(self._operand(position, stops), stops)

    def whole(self, position: int, stops: Stops) -> ReadExpression:
        """Read an expression; one of the stops must follow it."""
        value = self.expression(position, stops)
        if not self.text.startswith(stops, value.end):
            raise self.unreadable(value.end)
        return value

    def several(self, position: int, separator: str, end: str) -> tuple[list[ReadExpression], int]:
        """Read a list; return its expressions, and the position after its end."""
        values: list[ReadExpression] = []
        while not (self.text.startswith(end, position) and not values):
            values.append(self.whole(position, (separator, end)))
            position = values[-1].end
            if self.text.startswith(end, position):
                break
            position += len(separator)
        return values, position + len(end)

    def unreadable(self, position: int) -> UnreadablePlanError:
        """Return the error for a position."""
        return UnreadablePlanError(f"at character {position}")

    def expect(self, position: int, text: str) -> int:
        """Return the position after a text that must be at this position."""
        if not self.text.startswith(text, position):
            raise self.unreadable(position)
        return position + len(text)

    # Beginnings of expressions.

    def _operand(self, position: int, stops: Stops) -> ReadExpression:
        text = self.text
        mark = self.marks.column_at(position, self.columns)
        if mark:
            name, expr_id = text[position : mark.start()], int(mark[1])
            if self._is_argument and expr_id not in self.inputs:
                expr_id = self.columns.renumbered(expr_id, name, self.inputs)
            tree = self.columns.tree(expr_id, name)
            return ReadExpression(tree, self.columns.kinds[expr_id], mark.end(), is_column=True)
        for pattern, read in _FORMS:
            match = pattern.match(text, position)
            if not match:
                continue
            # A literal may look like any of these: a regular expression like a call, for example.
            with contextlib.suppress(UnreadablePlanError):
                value = read(self, match, stops)
                if text.startswith((*stops, " ", ".", "["), value.end):
                    return value
        return self._literal(position, stops)

    def _literal(self, position: int, stops: Stops) -> ReadExpression:
        stops = (*stops, *_BEHIND_OPERAND)
        end = self._end_of_literal(position, stops, balanced=True)
        if end is None:
            end = self._end_of_literal(position, stops, balanced=False)
        if end is None or self.marks.references(position, end, self.columns):
            raise self.unreadable(position)
        if any(position <= start < end for start in self._subplans.starts):
            # A subquery is not a literal.
            raise self.unreadable(position)
        if self.columns.is_open and _REFERENCE.search(self.text, position, end):
            # It may be a column of a node that was not understood.
            raise self.unreadable(position)
        return ReadExpression(literal(), types.LITERAL, end, is_literal=True)

    def _end_of_literal(self, position: int, stops: Stops, *, balanced: bool) -> int | None:
        text, depth = self.text, 0
        for index in range(position, len(text)):
            if depth <= 0 and text.startswith(stops, index):
                return index
            if balanced:
                depth += (text[index] in "([{") - (text[index] in ")]}")
        return None

    def _in_parentheses(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        """Read operands with operators between them; chains nest to the left, often hundreds deep."""
        position, opened = match.start(), 0
        while self.text.startswith("(", position) and not self.marks.column_at(position, self.columns):
            position += 1
            opened += 1
        value = self.expression(position, _IN_PARENTHESES)
        while True:
            values = [value]
            while self.text.startswith(", ", value.end):
                # A tuple.
                value = self.expression(value.end + 2, _IN_PARENTHESES)
                values.append(value)
            end, opened = self.expect(value.end, ")"), opened - 1
            if len(values) > 1:
                value = ReadExpression(call("Function", [part.tree for part in values]), types.closed(), end)
            else:
                value = replace(value, end=end)
            if not opened:
                return value
            value = self._continued(value, _IN_PARENTHESES)

    def _case(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        branches: list[Tree] = []
        kinds: list[types.Type] = []
        position = match.start() + len("CASE")
        while self.text.startswith(" WHEN ", position):
            condition = self.whole(position + 6, (" THEN ",))
            value = self.whole(condition.end + 6, (" WHEN ", " ELSE ", " END"))
            branches.extend((condition.tree, value.tree))
            kinds.append(value.kind)
            position = value.end
        if self.text.startswith(" ELSE ", position):
            value = self.whole(position + 6, (" END",))
            branches.append(value.tree)
            kinds.append(value.kind)
            position = value.end
        return ReadExpression(call("CaseWhen", branches), types.common(kinds), self.expect(position, " END"))

    def _if(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        condition = self.whole(match.end(), (")",))
        chosen = self.whole(self.expect(condition.end, ") "), (" else ",))
        other = self.expression(chosen.end + 6, stops)
        tree = call("If", [condition.tree, chosen.tree, other.tree])
        return ReadExpression(tree, types.common([chosen.kind, other.kind]), other.end)

    def _prefixed(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        value = self._with_suffixes(match.end(), stops)
        if value.is_literal:
            raise self.unreadable(match.start())
        if match[0] == "distinct ":
            return replace(value, is_column=False)
        return ReadExpression(call("Operator", [value.tree]), types.whole(), value.end)

    def _cast(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        child = self.whole(match.end(), (" as ",))
        kind, position = types.read_type(self.text, child.end + 4)
        position = self.expect(position, ")")
        tree = call("Cast", [child.tree])
        tree[0]["dataType"] = kind
        return ReadExpression(tree, kind, position)

    def _variable(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        expr_id = int(match[2])
        kind = self.columns.kinds.setdefault(expr_id, types.whole())
        (node,) = self.columns.tree(expr_id, match[1])
        return ReadExpression([{**node, "class": EXPRESSION + "NamedLambdaVariable"}], kind, match.end())

    def _session_variable(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        """Read a variable with its value: `variablereference(system.session.bound=1.0D)`."""
        value = self._literal(match.end(), (")",))
        tree = call("VariableReference", [])
        tree[0]["originalNameParts"] = match[1].split(".")
        return ReadExpression(tree, types.whole(), value.end + 1)

    def _subquery(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        if match.start() not in self._subplans.placed:
            raise self.unreadable(match.start())
        ((plan, kind),) = self._subplans.placed[match.start()]
        # The outer references that are listed here are also in the subquery's plan.
        _, position = self.several(match.end(), " && ", "]")
        tree = call(SUBQUERIES[match[1]], [])
        tree[0]["plan"] = plan
        return ReadExpression(tree, types.whole() if kind is None else kind, position)

    # Calls.

    def _call(self, match: re.Match[str], stops: Stops) -> ReadExpression:
        around, self._is_argument = self._is_argument, match[1] != _OUTER
        try:
            return self._read_call(match)
        finally:
            self._is_argument = around

    def _read_call(self, match: re.Match[str]) -> ReadExpression:
        name, position = match[1], match.end()
        starts: list[int] = []
        values: list[ReadExpression] = []
        lambdas: list[ReadExpression] = []
        while not (self.text.startswith(")", position) and not values):
            starts.append(position)
            if self.text.startswith(_LAMBDA, position):
                arguments = values[: len(values) - len(lambdas)]
                lambdas.append(self._lambda(CLASSES.get(name, ""), position, arguments, len(lambdas)))
                values.append(lambdas[-1])
            else:
                values.append(self.whole(position, IN_CALL))
            position = values[-1].end
            if self.text.startswith(")", position):
                break
            position = self.expect(position, ", ")
        position = self.expect(position, ")")
        trees = [value.tree for value in values]
        result = RESULT.match(self.text, position)
        if result:
            # A Python function: Spark prints the id of its result.
            return ReadExpression(call("PythonUDF", trees), types.whole(), result.end())
        body = self.columns.bodies.get(name)
        if body is not None and body.arity == len(values) and self._subplans.are_certain:
            queries = self._subplans.trees(match.start(), match.end())
            if body.queries == len(queries):
                return ReadExpression(result_of(body, trees, queries), types.whole(), position)
        if not is_known(name) and (body is not None or not all(value.is_literal for value in values)):
            self.foreign[name] = None
            extra = self.subqueries(match.start(), match.end())
            return ReadExpression(call("Function", [*trees, *extra]), types.whole(), position)
        texts = [self.text[start : value.end] for start, value in zip(starts, values, strict=True)]
        return called(name, values, texts, lambdas, position)

    def _lambda(
        self, function: str, position: int, arguments: list[ReadExpression], number: int
    ) -> ReadExpression:
        """Read a lambda, twice: its variables, with the arguments' types, are listed after its body."""
        value, variables = self._read_lambda(position)
        meanings = FUNCTIONS[function].variables[number:][:1] if function in FUNCTIONS else ()
        for expr_id, meaning in zip(variables, meanings[0] if meanings else (), strict=False):
            self.columns.kinds[expr_id] = meant(meaning, [argument.kind for argument in arguments])
        return self._read_lambda(position)[0] if meanings else value

    def _read_lambda(self, position: int) -> tuple[ReadExpression, list[int]]:
        body = self.whole(position + len(_LAMBDA), IN_CALL)
        trees, ids, position = [body.tree], [], body.end
        while match := _VARIABLE.match(self.text, position + 2):
            trees.append(self._variable(match, IN_CALL).tree)
            ids.append(int(match[2]))
            position = match.end()
        hidden = re.compile(r"(?:, (?:true|false))?\)").match(self.text, position)
        if not hidden:
            raise self.unreadable(position)
        return ReadExpression(call("LambdaFunction", trees), body.kind, hidden.end()), ids

    # Suffixes that belong to an expression.

    def _with_suffixes(self, position: int, stops: Stops) -> ReadExpression:
        value = self._operand(position, stops)
        while further := self._suffix(value, stops):
            value = further
        return value

    def _continued(self, value: ReadExpression, stops: Stops) -> ReadExpression:
        """Return an expression that begins with a value: with all suffixes and operators after it."""
        while further := self._suffix(value, stops) or self._operator(value, stops):
            value = further
        return value

    def _suffix(self, value: ReadExpression, stops: Stops) -> ReadExpression | None:
        text, end = self.text, value.end
        if text.startswith(".", end) and not value.is_literal:
            return self._field(value)
        if text.startswith("[", end) and not value.is_literal:
            index = self.whole(end + 1, ("]",))
            kind = result_type("GetArrayItem", [value.kind])
            return ReadExpression(call("GetArrayItem", [value.tree, index.tree]), kind, index.end + 1)
        if not text.startswith(" ", end):
            return None
        if text.startswith(" IN (", end):
            values, position = self.several(end + 5, ",", ")")
            return ReadExpression(
                call("In", [value.tree, *(item.tree for item in values)]), "boolean", position
            )
        if text.startswith(" INSET ", end):
            # The optimizer's IN of many values, which are printed without brackets.
            listed = self._literal(end + 7, tuple(stop for stop in stops if stop != ", "))
            return ReadExpression(call("In", [value.tree, listed.tree]), "boolean", listed.end)
        if text.startswith(" windowspecdefinition(", end):
            match = CALL.match(text, end + 1)
            specification = self._call(match, stops) if match else value
            return over_window(value, specification)
        if text.startswith(" FILTER (WHERE ", end):
            condition = self.whole(end + 15, (")",))
            return filtered(value, condition, condition.end + 1)
        match = _PATTERN.match(text, end)
        if match:
            pattern = self.expression(match.end(), stops)
            escape = _ESCAPE.match(text, pattern.end)
            tree = call("Operator", [value.tree, pattern.tree])
            return ReadExpression(tree, "boolean", escape.end() if escape else pattern.end)
        match = _ORDER.match(text, end)
        if match:
            return ReadExpression(call("SortOrder", [value.tree]), value.kind, match.end())
        return None

    def _operator(self, value: ReadExpression, stops: Stops) -> ReadExpression | None:
        match = _OPERATOR.match(self.text, value.end)
        if not match:
            return None
        other = self._with_suffixes(match.end(), stops)
        return ReadExpression(call("Operator", [value.tree, other.tree]), types.whole(), other.end)

    def _field(self, value: ReadExpression) -> ReadExpression:
        start = value.end + 1
        known = sorted(types.field_names(value.kind), key=len, reverse=True)
        name = next((name for name in known if self.text.startswith(name, start)), "")
        word = _FIELD.match(self.text, start)
        if word and len(word[0]) > len(name):
            name = word[0]
        if not name:
            raise self.unreadable(start)
        end = start + len(name)
        if types.is_whole(value.kind):
            return ReadExpression(call("Function", [value.tree]), types.whole(), end)
        field = types.field_of(value.kind, name)
        if field is None:
            # A value without known fields is taken as a whole.
            self.problems.append(of_explained.AMBIGUOUS_FIELD(name=name))
            return ReadExpression(call("Function", [value.tree]), types.closed(), end)
        tree = call("GetStructField", [value.tree])
        tree[0].update(ordinal=field[0], name=name)
        return ReadExpression(tree, field[1], end, is_column=False)


_Read = Callable[[ExplainReader, "re.Match[str]", Stops], ReadExpression]

_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (re.compile(r"\("), ExplainReader._in_parentheses),
    (re.compile(r"CASE WHEN "), ExplainReader._case),
    (re.compile(r"if \("), ExplainReader._if),
    (re.compile(r"NOT |-(?!\d)|~|distinct "), ExplainReader._prefixed),
    (re.compile(r"variablereference\(([^=()]+)="), ExplainReader._session_variable),
    (_VARIABLE, ExplainReader._variable),
    (SUBQUERY, ExplainReader._subquery),
    (re.compile(r"(?:ansi_|try_)?cast\("), ExplainReader._cast),
    (CALL, ExplainReader._call),
)
"""The beginning of each form of an expression, and the method that reads the form."""
