"""OpenLineage input and output datasets of a lineage, with all their facets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TypeVar
from urllib.parse import quote

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    base_subset_dataset,
    catalog_dataset,
    column_lineage_dataset,
    dataset_type_dataset,
    dataset_version_dataset,
    datasource_dataset,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    schema_dataset,
    storage_dataset,
    symlinks_dataset,
)
from openlineage.client.facet_v2 import lifecycle_state_change_dataset as lifecycle

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.facets.types import TypedField, typed_field
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

F = TypeVar("F")
"""A class of OpenLineage with one variant for each use: the facets of inputs and of outputs, for example."""

_LIFECYCLE = {mode: lifecycle.LifecycleStateChange[mode.name] for mode in Mode if mode is not Mode.APPEND}
"""No row for APPEND: the spec has no such state."""


def input_datasets(lineage: Lineage) -> list[InputDataset]:
    """Return the inputs, in the model's order."""
    return [_input(read) for read in lineage.inputs]


def output_datasets(lineage: Lineage, *, dataset_edges_per_field: bool = False) -> list[OutputDataset]:
    """Return the outputs, in the model's order, with column lineage.

    `dataset_edges_per_field` repeats the dataset-level edges of an output on each of its columns, for
    consumers that do not read `columnLineage.dataset`.
    """
    return [_output(write, dataset_edges_per_field) for write in lineage.outputs]


def _input(read: Input) -> InputDataset:
    return InputDataset(
        namespace=read.dataset.id.namespace,
        name=read.dataset.id.name,
        facets=_dataset_facets(read.dataset),
        inputFacets=_facets_of_access(
            read,
            base_subset_dataset.InputSubsetInputDatasetFacet,
            "inputStatistics",
            input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
        ),
    )


def _output(write: Output, dataset_edges_per_field: bool) -> OutputDataset:
    return OutputDataset(
        namespace=write.dataset.id.namespace,
        name=write.dataset.id.name,
        facets=_dataset_facets(write.dataset) | _output_only_facets(write, dataset_edges_per_field),
        outputFacets=_facets_of_access(
            write,
            base_subset_dataset.OutputSubsetOutputDatasetFacet,
            "outputStatistics",
            output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
        ),
    )


def _facets_of_access(
    access: Input | Output, subset: Callable[..., F], counts: str, statistics: Callable[..., F]
) -> dict[str, F]:
    """Return the facets of one read or write: its part of the dataset, and its counts."""
    facets: dict[str, F] = {}
    if shown := access.dataset.identity.part.shown:
        condition = base_subset_dataset.LocationSubsetCondition(list(shown))
        facets["subset"] = subset(condition, producer=PRODUCER)
    if access.statistics:
        facets[counts] = statistics(
            rowCount=access.statistics.rows,
            size=access.statistics.size_bytes,
            fileCount=access.statistics.files,
            producer=PRODUCER,
        )
    return facets


def _dataset_facets(dataset: Dataset) -> dict[str, DatasetFacet]:
    identity = dataset.identity
    facets: dict[str, DatasetFacet] = {
        "dataSource": datasource_dataset.DatasourceDatasetFacet(
            name=identity.id.namespace, uri=_uri_of(identity), producer=PRODUCER
        )
    }
    if dataset.fields:
        fields = [_schema_field(typed_field(field.name, field.type)) for field in dataset.fields]
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields, producer=PRODUCER)
    if identity.type:
        facets["datasetType"] = dataset_type_dataset.DatasetTypeDatasetFacet(
            datasetType=identity.type, producer=PRODUCER
        )
    if identity.symlinks:
        identifiers = [
            symlinks_dataset.Identifier(link.namespace, link.name, link.type) for link in identity.symlinks
        ]
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet(identifiers=identifiers, producer=PRODUCER)
    if identity.storage_layer:
        facets["storage"] = storage_dataset.StorageDatasetFacet(
            storageLayer=identity.storage_layer, fileFormat=identity.file_format or None, producer=PRODUCER
        )
    if identity.version:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
            datasetVersion=identity.version, producer=PRODUCER
        )
    if catalog := identity.catalog:
        facets["catalog"] = catalog_dataset.CatalogDatasetFacet(
            framework=catalog.framework,
            type=catalog.type,
            name=catalog.name,
            metadataUri=catalog.metadata_uri or None,
            warehouseUri=catalog.warehouse_uri or None,
            source=catalog.source or None,
            producer=PRODUCER,
        )
    return facets


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_QUOTED_ADDRESS = re.compile(r"(?<=://)%5B([0-9A-Fa-f:.]+)%5D")
"""An IPv6 address, the only place where a URI has brackets."""


def _uri_of(identity: Identity) -> str:
    """Return the namespace as a URI, percent-encoded; `file:///` for `file`.

    `catalog:///<name>` if it is only a name: of a catalog, for a table in an unknown place. There is always a
    URI, because Data.Rentgen refuses a whole event if one dataset has none.
    """
    namespace = identity.id.namespace
    if ":" not in namespace and (identity.storage_layer or namespace == "file"):
        return f"{namespace}:///"  # a file system without a host
    quoted = quote(_PERCENT.sub("%25", namespace), safe=":/?@!$&'()*+,;=%~")
    if not _SCHEME.match(namespace):
        return f"catalog:///{quoted}"
    return _QUOTED_ADDRESS.sub(r"[\1]", quoted)


def _schema_field(field: TypedField) -> schema_dataset.SchemaDatasetFacetFields:
    return schema_dataset.SchemaDatasetFacetFields(
        name=field.name, type=field.type, fields=[_schema_field(part) for part in field.fields] or None
    )


def _output_only_facets(write: Output, dataset_edges_per_field: bool) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {}
    if write.edges:
        facets["columnLineage"] = _column_lineage(write, dataset_edges_per_field)
    if write.mode in _LIFECYCLE:
        old = write.previous
        previous = lifecycle.PreviousIdentifier(name=old.name, namespace=old.namespace) if old else None
        facets["lifecycleStateChange"] = lifecycle.LifecycleStateChangeDatasetFacet(
            lifecycleStateChange=_LIFECYCLE[write.mode], previousIdentifier=previous, producer=PRODUCER
        )
    return facets


def _column_lineage(write: Output, per_field: bool) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    edges = _repeated_per_field(write) if per_field else write.edges
    by_column = {
        column: [
            column_lineage_dataset.InputField(source.namespace, source.name, field, transformations)
            for source, field, transformations in fields_read(group, column_lineage_dataset.Transformation)
        ]
        for column, group in groupby(edges, key=lambda edge: edge.column)
    }
    on_dataset = by_column.pop("", None)
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={column: column_lineage_dataset.Fields(read) for column, read in by_column.items()},
        dataset=on_dataset,
        producer=PRODUCER,
    )


def _repeated_per_field(write: Output) -> list[Edge]:
    columns = {field.name for field in write.dataset.fields} | {e.column for e in write.edges if e.column}
    repeated = {replace(e, column=column) for e in write.edges if not e.column for column in columns}
    return sorted(repeated.union(write.edges), key=lambda e: e.order)


def _transformation(edge: Edge) -> tuple[Kind, str | None, bool]:
    """Return the transformation of an edge: kind, description, and whether it masks.

    Consumers look fields up among a dataset's columns. So an edge from a part of a struct is a TRANSFORMATION
    of the whole column, and the description names the part: `address.city`.
    """
    if not edge.part:
        return edge.kind, None, edge.masking
    kind = Kind.TRANSFORMATION if edge.kind is Kind.IDENTITY else edge.kind
    return kind, f"{edge.field}.{edge.part}", edge.masking


def fields_read(
    edges: Iterable[Edge], transformation: Callable[..., F]
) -> Iterator[tuple[DatasetId, str, list[F]]]:
    """Yield each source field once, with all its transformations, as objects of a class of OpenLineage."""
    for (source, field), group in groupby(edges, key=lambda e: (e.source, e.field)):
        transformations = [
            transformation(type=kind.type, subtype=kind.subtype, description=description, masking=masking)
            for kind, description, masking in map(_transformation, group)
        ]
        yield source, field, transformations
