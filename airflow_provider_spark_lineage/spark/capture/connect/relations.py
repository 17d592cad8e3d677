"""Walks through the relations of a Spark Connect plan: their reads, and if the server may explain them.

Explaining analyses a relation, and the server runs some relations during analysis: calls of the catalog,
statistics of a DataFrame, the text of `show`. Relations in `LAZY` do not run.
"""

from __future__ import annotations

import re
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.statements import is_query
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.sql_literals import without_sql_literals
from airflow_provider_spark_lineage.spark.sources import OPTIONS
from airflow_provider_spark_lineage.spark.sources.databases import dialect_of

LAZY = frozenset(
    """
    aggregate apply_in_pandas_with_state as_of_join cached_local_relation cached_remote_relation
    chunked_cached_local_relation co_group_map collect_metrics common_inline_user_defined_data_source
    common_inline_user_defined_table_function deduplicate describe drop drop_na fill_na filter freq_items
    group_map hint join lateral_join limit local_relation map_partitions offset parse project range read
    repartition repartition_by_expression replace sample sample_by set_op sort sql subquery_alias summary
    tail to_df to_schema unpivot unresolved_table_valued_function with_columns with_columns_renamed
    with_relations with_watermark
    """.split()
)
"""Relations that the server analyses without running a job, by their names in `Relation.rel_type`."""

COMPUTED = frozenset("approx_quantile corr cov crosstab html_string show_string transpose".split())
"""Relations with one input whose rows the server may compute during analysis."""

_RELATION = "spark.connect.Relation"

_children: Dict[str, Tuple[str, ...]] = {}
"""Full name of a message -> its fields that are relations."""


def kind_of(relation: Any) -> str:
    """Return the kind of a relation; empty if this release of pyspark does not know it."""
    return str(relation.WhichOneof("rel_type") or "")


def inputs(relation: Any) -> List[Any]:
    """Return the relations directly below a relation, in order."""
    kind = kind_of(relation)
    if not kind:
        return []
    body = getattr(relation, kind)
    name = body.DESCRIPTOR.full_name
    if name not in _children:
        _children[name] = tuple(
            field.name
            for field in body.DESCRIPTOR.fields
            if field.message_type is not None and field.message_type.full_name == _RELATION
        )
    below: List[Any] = []
    for field in _children[name]:
        value = getattr(body, field)
        if not hasattr(value, "ListFields"):
            below.extend(value)
        elif body.HasField(field):
            below.append(value)
    return below


def walk(relation: Any) -> Iterator[Any]:
    """Yield a relation and all relations below it, in pre-order."""
    waiting = [relation]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(inputs(current)))


def with_own_views(relation: Any) -> Any:
    """Return a relation whose statements over DataFrames create temporary views with unique names.

    During analysis of such a statement, the server creates a view for each DataFrame and drops it afterwards
    (`SparkConnectPlanner.executeSQLWithRefs`). Explaining the statement while the program runs it would drop
    the program's view.
    """
    if not any(map(_is_over_frames, walk(relation))):
        return relation
    # The program's own plan must not change.
    copy = type(relation)()
    copy.CopyFrom(relation)
    for each in filter(_is_over_frames, walk(copy)):
        statement = each.with_relations.root.sql
        for reference in each.with_relations.references:
            view, own = reference.subquery_alias.alias, f"_spark_lineage_{uuid.uuid4().hex}"
            if view:
                reference.subquery_alias.alias = own
                statement.query = statement.query.replace(view, own)
    return copy


def _is_over_frames(relation: Any) -> bool:
    return kind_of(relation) == "with_relations" and kind_of(relation.with_relations.root) == "sql"


def shown(relation: Any) -> Any:
    """Return the relation whose rows an action fetches, below relations that only show or measure them."""
    while kind_of(relation) in COMPUTED and len(inputs(relation)) == 1:
        (relation,) = inputs(relation)
    return relation


def why_not(relation: Any) -> str:
    """Return the reason why the server must not explain a relation, as a sentence; empty if it may."""
    for each in walk(relation):
        kind = kind_of(each)
        if kind == "sql" and not is_query(each.sql.query):
            return "the plan has a statement inside that explaining would run"
        if kind not in LAZY and kind not in _CACHED:
            return f"the plan has a part ({kind or 'of an unknown kind'}) that explaining would run"
    return ""


_CACHED = frozenset({"crosstab"})
"""Relations that the server computes during planning; since Spark 4.0, it keeps the plan and does so once."""


def is_costly(relation: Any) -> bool:
    """Return whether the server runs a job to plan a relation, so that it must be planned only once."""
    return any(
        kind_of(each) in _CACHED
        or (
            kind_of(each) == "aggregate"
            and each.aggregate.HasField("pivot")
            and not each.aggregate.pivot.values
        )
        for each in walk(relation)
    )


_DIRECT = re.compile(r"UnresolvedRelation \[(\w+), ([^\]\n]*/[^\]\n]*)\]")


def direct_reads(text: str) -> List[Any]:
    """Return relations for files that a statement reads by path: ``parquet.`/in` ``."""
    return [files_at(*match) for match in dict.fromkeys(_DIRECT.findall(text))]


def files_at(file_format: str, path: str) -> Any:
    """Return a relation that reads files."""
    import pyspark.sql.connect.proto as pb2

    relation = pb2.Relation()
    relation.read.data_source.format = file_format
    relation.read.data_source.paths.append(path)
    return relation


_DIRECTORY = re.compile(
    r"InsertIntoD\w*Dir\w* Storage\(Location: (?P<path>[^,)\n]+)[^\n]*?\), (?P<format>\w+)"
)


def directory_in(text: str) -> Dict[str, str]:
    """Return `path` and `format` of INSERT OVERWRITE DIRECTORY; empty for any other plan."""
    match = _DIRECTORY.search(text)
    return {"path": without_secrets(match["path"]), "format": match["format"]} if match else {}


def has_rows_of_program(relation: Any) -> bool:
    """Return whether a plan has rows that the program sent."""
    return any(kind_of(each).endswith("local_relation") for each in walk(relation))


def reads_of(relation: Any) -> List[Any]:
    """Return the relations of a plan that read files or tables, in order, without reads of its views."""
    return [each for each in walk(relation) if kind_of(each) == "read"]


def described_read(relation: Any) -> Dict[str, Any]:
    """Return the read of a relation: a `table`, or a `format` with its `paths` and `options`."""
    if relation.read.WhichOneof("read_type") == "named_table":
        return {"table": relation.read.named_table.unparsed_identifier}
    source = relation.read.data_source
    options = wanted(source.options)
    paths = [without_secrets(path) for path in source.paths]
    return {
        "format": source.format.lower(),
        "paths": paths or [path for path in (options.get("path"),) if path],
        "options": options,
    }


def infers_schema(relation: Any) -> bool:
    """Return whether the server reads files to infer their columns."""
    source = relation.read.data_source
    return source.format.lower() in _INFERRED and not source.schema


_INFERRED = frozenset({"csv", "json", "xml"})


def wanted(options: Mapping[str, str]) -> Dict[str, str]:
    """Return the options that identify a dataset, without secrets and literals of queries."""
    named = {name.lower(): value for name, value in options.items()}
    dialect = dialect_of(named)
    return {
        name: without_secrets(without_sql_literals(value, dialect) if name in _QUERIES else value)
        for name, value in named.items()
        if name in OPTIONS
    }


_QUERIES = frozenset({"dbtable", "query"})
"""Options whose value may be SQL text."""
