"""Every accessor path of every probe exists in classes of Spark, Delta, Iceberg or Kafka.

`probe_members.txt` is made from their jars by `tools/probe_members.py`. A path that is right and fails here
is new: run that tool. A path that it does not know either matches nothing in any version.
"""

from __future__ import annotations

import doctest
import re

import pytest
from sources import probe_paths
from sources.probe_paths import NoMemberError, element, paths_of, read, walk

from airflow_provider_spark_lineage.spark.sources import SOURCES
from airflow_provider_spark_lineage.spark.sources import probe as language
from airflow_provider_spark_lineage.spark.sources.probe import Probe

LOOKUP = read()

WITHOUT_JARS = frozenset(
    {
        "BigQueryRelation",
        "CassandraSourceRelation",
        "CassandraTable",
        "DirectBigQueryRelation",
        "ElasticsearchRelation",
        "RedshiftRelation",
        "SnowflakeRelation",
    }
)
"""Classes of connectors that no environment of the project installs: their paths are from source code."""

PROBES = [probe for source in SOURCES for probe in source.probes if probe.relation not in WITHOUT_JARS]

TABLE = Probe(node="LogicalRelation", relation="HadoopFsRelation", accessors={})


@pytest.mark.parametrize("node", sorted({probe.node for probe in PROBES}))
def test_every_path_of_a_node_matches_in_some_version(node):
    """A path that no version has would silently leave its fact out for ever."""
    wrong = []
    for probe in PROBES:
        for path in sorted(paths_of(probe)) if probe.node == node else ():
            try:
                walk(path, probe, LOOKUP)
            except NoMemberError as error:
                wrong.append(f"{probe.relation} {path}: {error}")
    assert not wrong


@pytest.mark.parametrize(
    "path",
    [
        "nonsense",
        "relation.nonsense",
        "relation.location.rootPath[]",
        "relation.location.nonsense(catalogTable?).rootPaths[]",
        "catalogTable?.identifier.namePart[]",
        "catalogTable?.identifier.nameParts('extra')[]",
        "$session.sessionState.nonsense",
        "$session.sessionState.catalog.getTableMetadata(nonsense).schema.json",
        "$options(relation.nonsense)",
        "$conf(spark.sql.catalog.{relation.nonsense}.type)",
        "relation.options!",
        "$session.nonsense('x')",
    ],
)
def test_a_planted_path_fails(path):
    """A misspelt member, a wrong number of arguments, or a wrong path among the arguments is found."""
    with pytest.raises(NoMemberError):
        walk(path, TABLE, LOOKUP)


def test_a_class_that_is_not_there_fails():
    """A probe of a node, or of a relation, that no version has would never be asked."""
    with pytest.raises(NoMemberError, match="no class Nonsense"):
        walk("relation", Probe(node="Nonsense", accessors={}), LOOKUP)
    with pytest.raises(NoMemberError, match="no class Nonsense"):
        walk("relation", Probe(node="LogicalRelation", relation="Nonsense", accessors={}), LOOKUP)


def test_types_are_followed_through_options_lists_and_narrowed_classes():
    """`rootPaths` is a member of the index behind HadoopFsRelation, not of any relation."""
    paths = walk("relation.location.rootPaths", TABLE, LOOKUP)
    assert {element(kind) for kind in paths} == {"org.apache.hadoop.fs.Path"}
    assert walk("catalogTable?", TABLE, LOOKUP) == {"org.apache.spark.sql.catalyst.catalog.CatalogTable"}
    with pytest.raises(NoMemberError):
        walk("relation.location.rootPaths[]", Probe(node="HiveTableRelation", accessors={}), LOOKUP)


def test_examples_of_the_language_are_true():
    """The parser's docstrings have examples of a step, an argument and a shape."""
    assert not doctest.testmod(probe_paths).failed


def test_the_docstring_of_probes_has_every_word_of_the_language():
    """A word that a probe uses and no reader can look up, or a line for a word that nothing uses."""
    lines = re.findall(r"^ {4}(\$\S.*)", language.__doc__, re.M)
    explained = {word for line in lines for word in re.findall(r"\$\w+", re.split(r"\)? {2,}", line)[0])}
    used = {
        word
        for source in SOURCES
        for probe in source.probes
        for path in paths_of(probe)
        for word in re.findall(r"\$\w+", re.sub(r"'[^']*'", "", path))
    }
    assert explained == used
