"""What Airflow's provider manager reads: operators, decorators, options. Data only."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description in the shape of Airflow's provider_info schema."""
    return {
        "package-name": "airflow-provider-spark-lineage",
        "name": "Spark Lineage",
        "description": "Lineage of Spark jobs as OpenLineage events, without a jar on the cluster.",
        "integrations": [
            {
                "integration-name": "Spark Lineage",
                "external-doc-url": "https://openlineage.io/docs/",
                "tags": ["apache"],
            }
        ],
        "operators": [
            {
                "integration-name": "Spark Lineage",
                "python-modules": ["airflow_provider_spark_lineage.operators.pyspark"],
            }
        ],
        "task-decorators": [
            {
                "name": "pyspark_lineage",
                "class-name": "airflow_provider_spark_lineage.operators.pyspark.pyspark_lineage_task",
            }
        ],
    }
