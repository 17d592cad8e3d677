"""Reader of one query and the queries in it, clause by clause in the order of a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import Combine, Derive, Expression, Kind, Plan, same
from airflow_provider_spark_lineage.spark.plan.database_sql.aliases import Meaning, Names, column
from airflow_provider_spark_lineage.spark.plan.database_sql.expressions import SqlExpressionReader
from airflow_provider_spark_lineage.spark.plan.database_sql.from_clause import From
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import (
    LABEL,
    Definitions,
    Influences,
    Nodes,
    QueryRows,
    SqlError,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.rows import listed_rows
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import (
    Dialect,
    QueryScope,
    Table,
    attributes_of,
)
from airflow_provider_spark_lineage.spark.plan.database_sql.select_list import selected, slots_of
from airflow_provider_spark_lineage.spark.plan.database_sql.with_clause import with_definitions
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp


class QueryReader:
    """Reads one query, and the queries in its FROM, into one list of nodes."""

    def __init__(self, dialect: Dialect, ids: Iterator[int], outer: tuple[QueryScope, ...] = ()) -> None:
        self.dialect = dialect
        self.nodes = Nodes(ids)
        self.outer = outer
        """Scopes of the queries around this one, the nearest last."""

    def inside(self, scope: QueryScope) -> QueryReader:
        """Return a reader for a query in an expression, or after LATERAL."""
        return QueryReader(self.dialect, self.nodes.ids, (*self.outer, scope))

    def beside(self) -> QueryReader:
        """Return a reader with the same outer scopes and a plan of its own."""
        return QueryReader(self.dialect, self.nodes.ids, self.outer)

    def plan(self, result: QueryRows, names: Sequence[str] = ()) -> Plan:
        """Return the plan that ends with a result, with its columns renamed to `names`."""
        if not names:
            self.nodes.listed(result)
            return self.nodes.plan()
        if len(result.columns) != len(names):
            raise SqlError("its columns differ from the columns of its result")
        output = tuple(self.nodes.attribute(name) for name in names)
        expressions = {
            column.id: (same(source),) for column, source in zip(output, result.columns, strict=True)
        }
        self.nodes.add(lambda: Derive((result.node,), output, LABEL, expressions))
        return self.nodes.plan()

    def query(self, query: Any, definitions: Definitions, names: Sequence[str] = ()) -> QueryRows:
        """Read a query; `names` are its columns if they are known, with an empty name for an unknown one."""
        definitions = with_definitions(query, definitions)
        if isinstance(query, exp.Subquery):
            result = self.query(query.this, definitions, names)
        elif isinstance(query, exp.SetOperation):
            result = self._combined(query, definitions, names)
        elif isinstance(query, exp.Select):
            return self._select(query, definitions, names)
        elif isinstance(query, exp.Values):
            result = listed_rows(self, query, definitions)
        else:
            raise SqlError(f"{type(query).__name__.upper()} is not known")
        # ORDER BY of a set operation can only name the columns of its result.
        scope = QueryScope(
            [Table("", {column.name.lower(): column for column in result.columns}, result.more)]
        )
        read = self.expressions(scope, definitions)
        influences = (*_sorted(query, read, read), *_limited(query, read))
        node = self.nodes.influenced(result.node, influences)
        return replace(result, node=self.nodes.doubtful(node, scope.reason))

    def expressions(self, scope: QueryScope, definitions: Definitions) -> SqlExpressionReader:
        """Return a reader for the expressions of a scope."""

        def plan(query: Any) -> Plan:
            inner = self.inside(scope)
            return inner.plan(inner.query(query, definitions))

        scopes = (scope, *reversed(self.outer))
        return SqlExpressionReader(
            lambda column: attributes_of(column, scopes, self.dialect), plan, scope.note, self.dialect.is_word
        )

    def _combined(self, query: Any, definitions: Definitions, names: Sequence[str]) -> QueryRows:
        if query.args.get("by_name"):
            raise SqlError("a UNION by names is not known")
        left = self.query(query.left, definitions, names)
        if left.more is not None:
            raise SqlError("the columns of a * in a UNION are not known")
        # A set operation has the names of its left side; names of the right side are ignored.
        right = self.query(query.right, definitions, [""] * len(left.columns))
        if len(right.columns) != len(left.columns):
            raise SqlError("the sides of a UNION differ")
        columns = [self.nodes.attribute(column.name) for column in left.columns]
        compared = isinstance(query, (exp.Intersect, exp.Except))
        inputs = tuple(self.nodes.listed(side) for side in (left, right))
        node = self.nodes.add(lambda: Combine(inputs, tuple(columns), LABEL, compared=compared))
        result = QueryRows(node, columns)
        return self.nodes.distinct(result) if query.args.get("distinct") and not compared else result

    def _select(self, select: Any, definitions: Definitions, names: Sequence[str]) -> QueryRows:
        if select.args.get("match"):
            raise SqlError("MATCH_RECOGNIZE is not known")
        scope, nodes = QueryScope(), self.nodes
        node = From(self, scope, definitions).read(select)
        read = self.expressions(scope, definitions)

        def reading(expression: Any, means: Meaning) -> Expression:
            return replace(read, meaning=means).read(expression)

        own = Names(select, scope, reading)
        named, whole = replace(read, meaning=own.elsewhere()), replace(read, meaning=own.in_order)
        node = nodes.influenced(node, _connected(select, read))
        node = nodes.influenced(node, _filtered(select, named))
        influences: Influences = ((Kind.GROUP_BY, named.read(*_grouping(select))),)
        for clause in ("having", "qualify"):
            if select.args.get(clause):
                influences += ((Kind.FILTER, named.read(select.args[clause].this)),)
        node = nodes.influenced(node, influences)
        distinct_on = select.args["distinct"].args.get("on") if select.args.get("distinct") else None
        if distinct_on is not None:
            chosen = [
                resolved
                for key in distinct_on.expressions or [distinct_on]
                for resolved in _resolved_keys(key, select)
            ]
            decides = tuple((Kind.GROUP_BY, _key(key, whole, named)) for key in chosen)
            node = nodes.influenced(node, decides)
        node = nodes.influenced(node, (*_sorted(select, whole, named), *_limited(select, read)))

        def item(position: int | None, expression: Any) -> Expression:
            return reading(expression, column if position is None else own.elsewhere(position))

        slots = list(slots_of(select, scope, self.dialect, item))
        result = selected(nodes, node, slots, scope, names)
        return nodes.distinct(result) if select.args.get("distinct") and distinct_on is None else result


def _connected(select: Any, read: SqlExpressionReader) -> Influences:
    """Return the influences of CONNECT BY, a join with the parent rows, and START WITH, a filter."""
    connect = select.args.get("connect")
    if connect is None:
        return ()
    start = connect.args.get("start")
    return (
        *(((Kind.FILTER, read.read(start)),) if start is not None else ()),
        (Kind.JOIN, read.read(connect.args["connect"])),
    )


def _filtered(select: Any, read: SqlExpressionReader) -> Influences:
    """Return the influences of WHERE; a condition with Oracle's `(+)` is the condition of an outer join."""
    clauses = [select.args[name] for name in ("prewhere", "where") if select.args.get(name)]
    tests = [test for clause in clauses for test in _conjuncts(clause.this)]
    return tuple((Kind.JOIN if _is_marked(test) else Kind.FILTER, read.read(test)) for test in tests)


def _conjuncts(test: Any) -> list[Any]:
    return list(test.flatten()) if type(test).__name__ == "And" else [test]


def _is_marked(test: Any) -> bool:
    return any(column.args.get("join_mark") for column in test.find_all(exp.Column))


def _grouping(select: Any) -> list[Any]:
    """Return the keys of GROUP BY, also of ROLLUP, CUBE, GROUPING SETS and ALL."""
    group = select.args.get("group")
    if group is None:
        return []
    keys = list(group.expressions)
    for clause in ("rollup", "cube", "grouping_sets"):
        for group_set in group.args.get(clause) or ():
            if hasattr(group_set, "expressions"):
                keys.extend(group_set.expressions)
    if group.args.get("all"):
        keys.extend(column for item in select.expressions for column in _bare_columns(item))
    return [resolved for key in keys for resolved in _resolved_keys(key, select)]


def _bare_columns(expression: Any) -> list[Any]:
    """Return the columns of an expression of SELECT that are outside aggregates."""
    query = expression.find_ancestor(exp.Query)
    return [
        name
        for name in expression.find_all(exp.Column)
        if name.find_ancestor(exp.AggFunc, exp.Query) is query
    ]


def _resolved_keys(key: Any, query: Any) -> list[Any]:
    """Return the expressions of SELECT that a key refers to by position or by ALL, or the key itself."""
    items = query.selects
    named = isinstance(query, exp.SetOperation)
    if key.name.lower() == "all" and (isinstance(key, exp.Var) or _is_word(key)):
        chosen = items
    elif isinstance(key, exp.Literal) and not key.is_string:
        chosen = items[int(key.name) - 1 : int(key.name)] if key.is_int else None
    else:
        chosen = None
    if not chosen:
        return [key]
    return [exp.column(item.alias_or_name) if named else item.unalias() for item in chosen]


def _is_word(key: Any) -> bool:
    return isinstance(key, exp.Column) and not key.table and not key.this.args.get("quoted")


def _sorted(query: Any, whole: SqlExpressionReader, inside: SqlExpressionReader) -> Influences:
    """Return the influences of ORDER BY, and of Hive's SORT BY and CLUSTER BY."""
    keys = [
        sort_key
        for clause in ("order", "sort", "cluster")
        for key in (query.args[clause].expressions if query.args.get(clause) else ())
        for sort_key in _resolved_keys(key.this if type(key).__name__ == "Ordered" else key, query)
    ]
    return tuple((Kind.SORT, _key(key, whole, inside)) for key in keys)


def _key(key: Any, whole: SqlExpressionReader, inside: SqlExpressionReader) -> Expression:
    return (whole if type(key).__name__ == "Column" else inside).read(key)


def _limited(query: Any, read: SqlExpressionReader) -> Influences:
    """Return the influences of LIMIT, FETCH, TOP and OFFSET: a subquery can decide the number of rows."""
    influences: Influences = ()
    for clause in ("limit", "offset"):
        limit = query.args.get(clause)
        for name in ("expression", "count", "offset", "this"):
            number = limit.args.get(name) if limit is not None else None
            if isinstance(number, exp.Expression) and number.find(exp.Query) is not None:
                influences += ((Kind.FILTER, read.read(number)),)
        # ClickHouse: LIMIT n BY key.
        for key in (limit.args.get("expressions") or ()) if limit is not None else ():
            influences += ((Kind.GROUP_BY, read.read(key)),)
    return influences
