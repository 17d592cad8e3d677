"""Reads the SQL of one query into the algebra: what a database did before its rows reached Spark.

Of the tables only what the text says is known. A column that could be of several tables, or a `*` over
several, is left without a source, and the plan says so (`Derive.reason`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Apply,
    Attribute,
    Combine,
    Constant,
    Derive,
    Expression,
    Kind,
    Loop,
    Node,
    Opaque,
    Plan,
    Reference,
    Scan,
    Transformation,
)
from airflow_provider_spark_lineage.plan.sql.expressions import Reader
from airflow_provider_spark_lineage.plan.sql.scope import (
    Dialect,
    Scope,
    Star,
    Table,
    attributes_of,
    unqualified,
)

_LABEL = "SQL"
_MAX_NODES = 20_000
"""A definition is read anew wherever a query names it."""

Influences = tuple[tuple[Kind, Expression], ...]


class SqlError(ValueError):
    """A text is no query that can be read; the message says why."""


def read_query(text: str, dialect: Dialect, names: Sequence[str]) -> Plan:
    """Read a query whose result has the columns `names`: those of a `*` are not in the text.

    Raise `SqlError` for what is no SQL that can be read.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        statements = [one for one in sqlglot.parse(text, read=dialect.name or None) if one is not None]
        if len(statements) != 1 or not isinstance(statements[0], exp.Query):
            raise SqlError("it is no single query")
        try:
            reader = _QueryReader(dialect, count(1))
            return reader.plan(reader.query(statements[0], {}, names), names)
        except SqlError as error:
            return _tables_alone(statements[0], dialect, names, str(error))
    except SqlglotError:
        raise SqlError("it is not understood") from None
    except RecursionError:
        raise SqlError("it is nested too deeply") from None


def _tables_alone(query: Any, dialect: Dialect, names: Sequence[str], reason: str) -> Plan:
    """Return a plan that says which tables a query reads, and that nothing is known of its columns."""
    from sqlglot import exp

    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    tables = [one for one in query.find_all(exp.Table) if one.db or one.name.lower() not in defined]
    texts = dict.fromkeys(_text(one, dialect) for one in tables if isinstance(one.this, exp.Identifier))
    scans = [Scan((), (), _LABEL, relation=text) for text in texts]
    output = tuple(Attribute(index, name) for index, name in enumerate(names))
    return Plan((*scans, Opaque(tuple(range(len(scans))), output, _LABEL, reason)))


def _text(table: Any, dialect: Dialect) -> str:
    """Return a table's name as it is written, quotes included."""
    return ".".join(part.sql(dialect=dialect.name or None) for part in table.parts)


@dataclass
class _Result:
    """The rows that a query gives."""

    node: int
    columns: list[Attribute]
    more: Callable[[str], Attribute | None] | None = None
    """Gives a column of its `*`, whose columns are not known; None where all are listed."""


@dataclass
class _Recursion:
    """A definition that refers to itself."""

    definition: int
    columns: tuple[str, ...]


Definitions = Mapping[str, Any]
"""Names of WITH to their CTE and the definitions that it can see, or to a recursion that is being read."""


class _QueryReader:
    """Reads one query, and the queries in its FROM, into one list of nodes.

    A node is made when everything was read: a table has the columns that the query asks of it.
    """

    def __init__(self, dialect: Dialect, ids: Iterator[int], outer: tuple[Scope, ...] = ()) -> None:
        self._dialect = dialect
        self._ids = ids
        self._outer = outer
        self._nodes: list[Callable[[], Node]] = []

    def plan(self, result: _Result, names: Sequence[str] = ()) -> Plan:
        """Return the plan that ends with a result, whose columns are called `names`."""
        if names:
            if len(result.columns) != len(names):
                raise SqlError("its columns are not those that it gave")
            output = tuple(self._attribute(name) for name in names)
            made = {
                column.id: (_same(source),) for column, source in zip(output, result.columns, strict=True)
            }
            self._add(lambda: Derive((result.node,), output, _LABEL, made))
        else:
            self._listed(result)
        return Plan(tuple(make() for make in self._nodes))

    def query(self, query: Any, definitions: Definitions, names: Sequence[str] = ()) -> _Result:
        """Read a query; `names` are its columns where they are known, an empty name one that is not."""
        from sqlglot import exp

        definitions = self._with(query, definitions)
        if isinstance(query, exp.Subquery):
            result = self.query(query.this, definitions, names)
        elif isinstance(query, exp.SetOperation):
            result = self._combined(query, definitions, names)
        elif isinstance(query, exp.Select):
            return self._select(query, definitions, names)
        elif isinstance(query, exp.Values):
            return self._values(query)
        else:
            raise SqlError(f"{type(query).__name__.upper()} is not known")
        # What sorts the result of a set operation can only name its columns.
        table = Table("", {column.name.lower(): column for column in result.columns}, result.more)
        scope = Scope([table])
        sorted_by = self._sorted(query, self._reader(scope, definitions))
        return replace(result, node=self._pass(result.node, sorted_by))

    def _with(self, query: Any, definitions: Definitions) -> Definitions:
        clause = query.args.get("with_") or query.args.get("with")
        known = dict(definitions)
        for cte in clause.expressions if clause else ():
            known[cte.alias.lower()] = (cte, dict(known))
        return known

    def _values(self, values: Any) -> _Result:
        alias = values.args.get("alias")
        width = len(values.expressions[0].expressions) if values.expressions else 0
        names = [one.name for one in alias.columns] if alias else []
        columns = [self._attribute(names[i] if i < len(names) else f"column{i + 1}") for i in range(width)]
        return _Result(self._add(lambda: Constant((), tuple(columns), _LABEL)), columns)

    def _combined(self, query: Any, definitions: Definitions, names: Sequence[str]) -> _Result:
        from sqlglot import exp

        left = self.query(query.left, definitions, names)
        if left.more is not None:
            raise SqlError("the columns of a * in a UNION are not known")
        # Their names are those of the left side, whatever the right one calls them.
        right = self.query(query.right, definitions, [""] * len(left.columns))
        if len(right.columns) != len(left.columns):
            raise SqlError("the sides of a UNION differ")
        columns = [self._attribute(column.name) for column in left.columns]
        compared = isinstance(query, (exp.Intersect, exp.Except))
        inputs = tuple(self._listed(side) for side in (left, right))
        node = self._add(
            lambda: Combine(inputs, tuple(columns), _LABEL, valued=1 if compared else -1, compared=compared)
        )
        if query.args.get("distinct") and not compared:
            node = self._pass(node, _distinct(_Result(node, columns)))
        return _Result(node, columns)

    def _listed(self, result: _Result) -> int:
        """Return a node whose output is exactly the columns of a result."""
        return self._add(lambda: Derive((result.node,), tuple(result.columns), _LABEL))

    def _select(self, select: Any, definitions: Definitions, names: Sequence[str]) -> _Result:
        scope = Scope()
        node = self._from(select, definitions, scope)
        read = self._reader(scope, definitions)
        for view in select.args.get("laterals") or ():
            node = self._generated(view, node, scope, definitions)
        if select.args.get("where"):
            node = self._pass(node, ((Kind.FILTER, read.read(select.args["where"].this)),))
        named = {one.alias.lower(): one.this for one in select.expressions if one.args.get("alias")}
        by_alias = self._reader(scope, definitions, named)
        node = self._pass(node, self._grouped(select, by_alias))
        node = self._pass(node, self._sorted(select, by_alias))
        result = self._projected(select, node, scope, read, names)
        if not select.args.get("distinct"):
            return result
        # Read now, since a `*` has only the columns that somebody asks for.
        return replace(
            result, node=self._add(lambda: Derive((result.node,), (), _LABEL, influences=_distinct(result)))
        )

    def _grouped(self, select: Any, read: Reader) -> Influences:
        """GROUP BY, and what is tested after it."""
        influences: Influences = ()
        group = select.args.get("group")
        if group is not None:
            keys = [self._ordinal(one, select) for one in _grouping(group)]
            influences += ((Kind.GROUP_BY, read.read(*keys)),)
        for clause in ("having", "qualify"):
            if select.args.get(clause):
                influences += ((Kind.FILTER, read.read(select.args[clause].this)),)
        return influences

    def _ordinal(self, key: Any, query: Any) -> Any:
        """Return the expression that a number in GROUP BY or ORDER BY stands for."""
        from sqlglot import exp

        if isinstance(key, exp.Literal) and not key.is_string:
            position = int(key.name) - 1
            items = query.selects
            if not 0 <= position < len(items):
                return key
            named = isinstance(query, exp.SetOperation)
            return exp.column(items[position].alias_or_name) if named else items[position].unalias()
        return key

    def _sorted(self, query: Any, read: Reader) -> Influences:
        order = query.args.get("order")
        keys = [self._ordinal(key.this, query) for key in order.expressions] if order else []
        return tuple((Kind.SORT, read.read(key)) for key in keys)

    def _projected(self, select: Any, node: int, scope: Scope, read: Reader, names: Sequence[str]) -> _Result:
        """The columns of SELECT; those of a `*` as far as they can be told."""
        made: dict[int, tuple[Expression, ...]] = {}
        columns: list[Attribute] = []

        def add(name: str, expression: Expression) -> Attribute:
            column = self._attribute(name)
            made[column.id] = (expression,)
            columns.append(column)
            return column

        slots = [slot for item in select.expressions for slot in self._slots(item, scope, read)]
        opened = [slot for slot in slots if isinstance(slot, Star)]
        width = len(names) - (len(slots) - len(opened))
        for slot in slots:
            if not isinstance(slot, Star):
                add(*slot)
            elif len(opened) == 1:
                for name in names[len(columns) : len(columns) + width]:
                    source = slot.column(name) if name else None
                    add(name, _same(source) if source else Expression())
                    if source is None:
                        scope.reasons["what a * stands for is not known"] = None
            elif names and slot is opened[0]:
                for name in names[len(columns) : len(columns) + width]:
                    add(name, Expression())
                scope.reasons["which table a column of its * is of is not known"] = None

        def more(name: str) -> Attribute | None:
            if len(opened) > 1:
                scope.reasons["which table a column of its * is of is not known"] = None
                return None
            source = opened[0].column(name)
            return add(name, _same(source)) if source else None

        end = self._add(
            lambda: Derive((node,), tuple(columns), _LABEL, made, reason="; ".join(scope.reasons))
        )
        return _Result(end, columns, more if opened and not names else None)

    def _slots(self, item: Any, scope: Scope, read: Reader) -> Iterator[Star | tuple[str, Expression]]:
        """Yield what one item of SELECT gives: columns with what they come from, and open `*`."""
        from sqlglot import exp

        star = item if isinstance(item, exp.Star) else item.this if item.is_star else None
        if not isinstance(star, exp.Star):
            yield (item.alias or item.output_name or item.name), read.read(item)
            return
        left_out = frozenset(
            one.name.lower()
            for clause in ("except_", "except", "exclude", "rename", "replace")
            for one in star.args.get(clause) or ()
        )
        if any(star.args.get(clause) for clause in ("rename", "replace")):
            raise SqlError("a * that changes columns is not known")
        qualifier = "" if isinstance(item, exp.Star) else item.table.lower()
        for table in scope.tables:
            if qualifier and table.name != qualifier:
                continue
            if table.more is not None:
                yield Star(table, left_out)
                continue
            for name, column in table.columns.items():
                if name not in left_out:
                    yield column.name, _same(column)

    def _from(self, select: Any, definitions: Definitions, scope: Scope) -> int:
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            return self._add(lambda: Constant((), (), _LABEL))
        node = self._item(clause.this, None, scope, definitions)
        for join in (*(clause.this.args.get("joins") or ()), *(select.args.get("joins") or ())):
            node = self._join(join, node, scope, definitions)
        return node

    def _join(self, join: Any, left: int, scope: Scope, definitions: Definitions) -> int:
        before = list(scope.tables)
        node = self._item(join.this, left, scope, definitions)
        if join.args.get("method") == "NATURAL":
            scope.reasons["which columns a NATURAL JOIN compares is not known"] = None
        influences: Influences = ()
        for one in join.args.get("using") or ():
            sides = [unqualified(one.name, tables) for tables in (before, scope.tables[len(before) :])]
            ids = tuple(column.id for column in sides if column is not None)
            scope.merged[one.name.lower()] = (*scope.merged.get(one.name.lower(), ()), *ids)
            influences += ((Kind.JOIN, Expression(tuple((i, IDENTITY) for i in ids))),)
        if join.args.get("on"):
            influences += ((Kind.JOIN, self._reader(scope, definitions).read(join.args["on"])),)
        if join.kind in ("SEMI", "ANTI") or join.side in ("SEMI", "ANTI"):
            scope.tables = before
        return self._pass(node, influences)

    def _item(self, item: Any, left: int | None, scope: Scope, definitions: Definitions) -> int:
        """Read one item of FROM, and put it beside those to its left."""
        from sqlglot import exp

        alias = item.alias.lower()
        if item.args.get("pivots"):
            raise SqlError("PIVOT is not known")
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            return self._lateral(item, left, scope, definitions)
        if isinstance(item, (exp.Lateral, exp.Unnest)):
            start = self._add(lambda: Constant((), (), _LABEL)) if left is None else left
            return self._generated(item, start, scope, definitions)
        if isinstance(item, exp.Table) and not isinstance(item.this, exp.Identifier):
            start = self._add(lambda: Constant((), (), _LABEL)) if left is None else left
            return self._generated(item, start, scope, definitions)
        if isinstance(item, exp.Table):
            result, name = self._table(item, definitions), alias or item.name.lower()
        elif isinstance(item, (exp.Subquery, exp.Values)):
            result, name = self.query(item, definitions), alias
        else:
            raise SqlError(f"{type(item).__name__.upper()} in FROM is not known")
        scope.tables.append(self._seen(name, result, item))
        return self._beside(left, result.node)

    def _beside(self, left: int | None, right: int) -> int:
        return right if left is None else self._add(lambda: Derive((left, right), (), _LABEL))

    def _seen(self, name: str, result: _Result, item: Any) -> Table:
        """Return a result as a table of the query that reads from it; its alias may rename columns."""
        alias = item.args.get("alias")
        renamed = [one.name for one in alias.columns] if alias is not None else []
        if renamed and result.more is not None:
            raise SqlError("columns of a * are renamed by their position")
        names = [*renamed, *(column.name for column in result.columns[len(renamed) :])]
        columns = {one.lower(): column for one, column in zip(names, result.columns, strict=True)}
        return Table(name, columns, result.more)

    def _table(self, table: Any, definitions: Definitions) -> _Result:
        """A table of the database, or a definition of WITH."""
        found = None if table.db else definitions.get(table.name.lower())
        if isinstance(found, _Recursion):
            columns = [self._attribute(name) for name in found.columns]
            definition = found.definition
            node = self._add(lambda: Reference((), tuple(columns), _LABEL, definition))
            return _Result(node, columns)
        if found is not None:
            return self._defined(*found)
        output: list[Attribute] = []
        text = _text(table, self._dialect)

        def more(name: str) -> Attribute:
            column = self._attribute(name)
            output.append(column)
            return column

        node = self._add(lambda: Scan((), tuple(output), _LABEL, relation=text))
        return _Result(node, [], more)

    def _defined(self, cte: Any, definitions: Definitions) -> _Result:
        """Read a definition of WITH for one place that names it."""
        from sqlglot import exp

        name = cte.alias.lower()
        renamed = [one.name for one in cte.args["alias"].columns]
        inner = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
        recursive = isinstance(inner, exp.SetOperation) and any(
            not one.db and one.name.lower() == name for one in inner.right.find_all(exp.Table)
        )
        result = (
            self._looped(inner, name, renamed, definitions) if recursive else self.query(inner, definitions)
        )
        if renamed and result.more is not None:
            raise SqlError("columns of a * are renamed by their position")
        if renamed:
            columns = [
                replace(column, name=renamed[i] if i < len(renamed) else column.name)
                for i, column in enumerate(result.columns)
            ]
            result = replace(result, columns=columns)
        return result

    def _looped(self, query: Any, name: str, renamed: list[str], definitions: Definitions) -> _Result:
        start = self.query(query.left, definitions)
        if start.more is not None:
            raise SqlError("the columns of a * in a recursion are not known")
        names = [*renamed, *(column.name for column in start.columns[len(renamed) :])]
        definition = next(self._ids)
        inner = _QueryReader(self._dialect, self._ids, self._outer)
        around = {**definitions, name: _Recursion(definition, tuple(names))}
        plan = inner.plan(inner.query(query.right, around, [""] * len(names)))
        columns = [self._attribute(one) for one in names]
        begin = self._listed(start)
        node = self._add(lambda: Loop((begin,), tuple(columns), _LABEL, plan, definition))
        return _Result(node, columns)

    def _lateral(self, item: Any, left: int | None, scope: Scope, definitions: Definitions) -> int:
        """For each row to its left the rows of a query that may name that row."""
        inner = _QueryReader(self._dialect, self._ids, (*self._outer, scope))
        result = inner.query(item.this, definitions)
        start = self._add(lambda: Constant((), (), _LABEL)) if left is None else left
        node = self._add(lambda: Apply((start,), (), _LABEL, inner.plan(result)))
        scope.tables = [*scope.tables, self._seen(item.alias.lower(), result, item)]
        return node

    def _generated(self, item: Any, left: int, scope: Scope, definitions: Definitions) -> int:
        """Rows that a function makes of its arguments; which columns they have may not be known."""
        from sqlglot import exp

        alias = item.args.get("alias")
        if isinstance(item.this, exp.Anonymous):
            scope.reasons[f"what {item.this.name} reads is not known"] = None
        read = self._reader(scope, definitions)
        arguments = [part for part in item.expressions or [item.this] if part is not None]
        value = read.read(*arguments)
        step = Transformation(Kind.TRANSFORMATION)
        taken = Expression(tuple((i, step.after(one)) for i, one in value.uses), value.subqueries)
        columns: list[Attribute] = []

        def more(name: str) -> Attribute:
            column = self._attribute(name)
            columns.append(column)
            return column

        names = [one.name for one in alias.columns] if alias is not None else []
        listed = {name.lower(): more(name) for name in names}
        scope.tables.append(Table(item.alias.lower(), listed, None if names else more, made=True))
        made = self._add(
            lambda: Derive(
                (left,),
                tuple(columns),
                _LABEL,
                {column.id: (taken,) for column in columns},
                ((Kind.FILTER, value),),
            )
        )
        return self._beside(left, made)

    def _reader(
        self, scope: Scope, definitions: Definitions, aliases: Mapping[str, Any] | None = None
    ) -> Reader:
        """Return what reads the expressions of a scope."""

        def plan(query: Any) -> Plan:
            inner = _QueryReader(self._dialect, self._ids, (*self._outer, scope))
            return inner.plan(inner.query(query, definitions))

        scopes = (scope, *reversed(self._outer))
        return Reader(lambda column: attributes_of(column, scopes, self._dialect), plan, aliases or {})

    def _pass(self, node: int, influences: Influences) -> int:
        """Put what decides which rows there are behind a node."""
        if all(expression == Expression() for _, expression in influences):
            return node
        return self._add(lambda: Derive((node,), (), _LABEL, influences=influences))

    def _attribute(self, name: str) -> Attribute:
        return Attribute(next(self._ids), name)

    def _add(self, make: Callable[[], Node]) -> int:
        if len(self._nodes) >= _MAX_NODES:
            raise SqlError("it is too large")
        self._nodes.append(make)
        return len(self._nodes) - 1


def _distinct(result: _Result) -> Influences:
    return tuple((Kind.GROUP_BY, _same(column)) for column in result.columns)


def _same(column: Attribute) -> Expression:
    return Expression(((column.id, IDENTITY),))


def _grouping(group: Any) -> Iterator[Any]:
    """Yield the keys of GROUP BY, those of ROLLUP, CUBE and GROUPING SETS too."""
    yield from group.expressions
    for clause in ("rollup", "cube", "grouping_sets"):
        for one in group.args.get(clause) or ():
            if hasattr(one, "expressions"):
                yield from one.expressions
