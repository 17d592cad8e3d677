"""Producer of the metadata, and URLs of the schemas of our own facets."""

from __future__ import annotations

from airflow_provider_spark_lineage import __version__

# OpenLineage needs a URI that identifies; no server has to answer. `.example` is reserved (RFC 2606): nobody
# can register the host and serve other schemas under our name.
_BASE = "https://airflow-provider-spark-lineage.example"

PRODUCER = f"{_BASE}/{__version__}"
"""`producer` of our events and `_producer` of all our facets."""


def schema_url(facet: str, version: str = "1-0-0") -> str:
    """Return the `_schemaURL` of one of our own facets; its file is in a `schemas/` folder of the package.

    >>> schema_url("SparkLineageGapsRunFacet")
    'https://airflow-provider-spark-lineage.example/schemas/1-0-0/SparkLineageGapsRunFacet.json#/$defs/SparkLineageGapsRunFacet'
    """
    return f"{_BASE}/schemas/{version}/{facet}.json#/$defs/{facet}"


class OwnSchema:
    """Base of our own facets: the schema has the name of the class."""

    __slots__ = ()

    @classmethod
    def _get_schema(cls) -> str:
        return schema_url(cls.__name__)
