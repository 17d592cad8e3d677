"""A probe: which facts to read from the live objects of one kind of plan node.

A probe maps each fact to a path through live objects, which `Paths.java` follows. A path starts at the plan
node. If a step has no value, or this version of Spark has no such member, the fact is left out. If several
probes match a node, only the first one is read: it must list every fact that the source needs. A value that
this table does not mention becomes a string, or a number or boolean if it is one.

    a.b                 the result of the method `b()` of the result of `a()`: `relation.location`
    a(x.y, 'text')      a method with arguments: paths from the node, or texts: `options.get('path')`
    a?                  the value inside a Scala `Option`: `catalogTable?.identifier`
    a!                  a private field: `relation.sourceOptions!`
    a[]                 at the end: the texts of a collection or an array: `relation.location.rootPaths[]`
    a[].b               each object of an array, for all following steps: `relation.parts[].whereClause`
    $session            the session: `$session.sessionState.catalog`
    $started, $ended    when the execution started and ended, in milliseconds since 1970
    $setting(a.b)       a setting of the session when the execution started:
                        `$setting(spark.sql.ansi.enabled)`
    $conf(a.{path}.b)   the same as `$setting`, with the value of a path in the name of the setting:
                        `$conf(spark.sql.catalog.{table.catalog.name}.uri)`
    $object('name')     a Scala object from the jar of the object before it:
                        `dataSource.$object('org.apache.spark.sql.delta.DeltaLog')`
    $during('time')     the last object of a list whose time is within the execution:
                        `table.history.$during('timestampMillis')`
    $files(path)        the files behind an RDD: `$files(rdd)`
    $sample(path)       the texts of a list of paths; of more than 1,000, as many evenly among them:
                        `$sample(relation.location.rootPaths)`
    $files_among(path, files)
                        for each path of a list whether it is a key of a map:
                        `$files_among(relation.location.rootPaths, relation.location.leafFiles)`
    $patterns(path, sql, index)
                        the paths with wildcards among one or more; without a path, of a reference in SQL,
                        or of the read that returned a file index:
                        `$patterns(options.get('path')?, origin.context.fragment, relation.location)`
    $options(path)      the entries of a map that sources need (`Source.options`), by names in lower case:
                        `$options(table.options)`
    $modified(path, 'name')
                        when a file in a folder was last written, in milliseconds since 1970:
                        `$modified(sink.path, '_delta_log/0.json')`
    $oldest_write(path, mode, dynamic)
                        for the first append to a folder, or overwrite of its partitions: number and bytes
                        of the oldest files that one write left there:
                        `$oldest_write(outputPath, mode, dynamicPartitionOverwrite)`
    $alone_in(path)     for the first folder of a partition or a date that is written in the folder around it:
                        how many of the folders around it hold nothing else: `$alone_in(outputPath)`
    $exists(path)       true if there is a file, or a folder with files: `$exists(tableSpec.location?)`
    $sql(path, url)     SQL text without literals, by the syntax of the database at a JDBC URL; without
                        `url`, by all syntaxes: `$sql(relation.toString)`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Tuple, Union


@dataclass(frozen=True)
class Probe:
    """Facts to read from the live objects of one kind of plan node.

    `accessors` maps a fact's name to a path through objects, in the small language of this module's
    docstring; `tests/sources/probe_paths.py` parses it.

    >>> Probe("LogicalRelation", {"paths": "relation.location.rootPaths[]"}, relation="HadoopFsRelation").of
    'relation'
    """

    node: str
    """Simple class name of the plan node."""

    accessors: Mapping[str, str]
    relation: str = ""
    """Simple class name of the object at `of`, if several sources share one node class; `*` is any."""

    of: str = "relation"
    """Path to the object whose class distinguishes sources."""

    target: bool = False
    """The node is a command that writes, not a leaf that is read."""

    before: bool = False
    """Read before the command runs: existence of its table, or dropped objects, which are lost afterwards."""

    when: Tuple[str, ...] = ()
    """(field of the node's JSON, simple name of the Scala object that it must have), if any."""


Names = Union[str, Tuple[str, ...]]
"""One simple class name, or several that have the same probe."""


def read(
    nodes: Names, accessors: Mapping[str, str], *, relation: Names = "", **more: Any
) -> Tuple[Probe, ...]:
    """Return a probe for each node and each class of the relation; `more` are other fields of `Probe`."""
    return tuple(Probe(node, accessors, each, **more) for node in _each(nodes) for each in _each(relation))


def write(nodes: Names, accessors: Mapping[str, str], **more: Any) -> Tuple[Probe, ...]:
    """Return the same for commands: their facts describe the table that they write or change."""
    return read(nodes, accessors, target=True, **more)


def _each(names: Names) -> Tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
