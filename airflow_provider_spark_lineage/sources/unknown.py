"""Relations that no other source knows: probed for whatever name they have, so that they stay visible."""

from __future__ import annotations

from typing import Tuple

from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source

PROBES = (
    Probe(node="LogicalRelation", relation="*", accessors={"relation_class": "relation.getClass.getName"}),
    Probe(
        node="DataSourceV2Relation",
        accessors={
            "v2_table": "table.name",
            "v2_catalog": "catalog?.name",
            "provider": "table.getClass.getName",
        },
    ),
    Probe(
        node="SaveIntoDataSourceCommand",
        target=True,
        accessors={"relation_class": "dataSource.getClass.getName", "mode": "mode"},
    ),
)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name a relation by its class, or by the name that its own table class gives it.

    The lineage says in a gap that such a name was not made by a known source.
    """
    provider = str(facts.get("relation_class") or facts.get("provider") or "")
    if not provider:
        return ()
    namespace = str(facts.get("v2_catalog") or provider.rsplit(".", 1)[-1].rstrip("$"))
    name = str(facts.get("v2_table") or provider)
    return (Identity(id=DatasetId(namespace, name), uri=f"{namespace}:{name}", known=False),)


SOURCE = Source(name="unknown", probes=PROBES, identify=identify)
