"""Mistakes in `[openlineage] extractors`, planted."""

from __future__ import annotations

from cli.doctor_machine import OURS, USERS, extractor

CIRCULAR = "ImportError: cannot import name 'DAG' from partially initialized module 'airflow'"

PLANTED = [
    (
        extractor(error="ModuleNotFoundError: No module named 'company'", is_import_error=True),
        "extractor-import",
        [
            f"names {USERS}, which cannot be imported (ModuleNotFoundError: No module named 'company')",
            "plugins_folder",
        ],
    ),
    (
        extractor(error="RuntimeError: no such licence"),
        "extractor-breaks-plugin",
        ["raises RuntimeError: no such licence", "disables OpenLineage's whole plugin"],
    ),
    (
        extractor(error=CIRCULAR, is_import_error=True),
        "extractor-circular",
        ["circular", "import Airflow inside the extractor's methods"],
    ),
    (
        extractor(error="AttributeError: partially initialized module 'airflow' has no attribute 'x'"),
        "extractor-circular",
        ["circular", "Airflow is still loading"],
    ),
    (
        extractor(names=("OwnOperator",), is_registered=False),
        "extractor-circular",
        ["not registered when Airflow loaded its plugins"],
    ),
    (
        extractor(names=("SparkSubmitOperator",)),
        "extractor-twice",
        [
            f"{OURS} and {USERS} both claim `SparkSubmitOperator`",
            "the last one registered",
        ],
    ),
    (
        extractor(names=("PySparkOperator", "SparkSubmitOperator")),
        "extractor-twice",
        ["both claim `SparkSubmitOperator`, `PySparkOperator`:"],
    ),
    (
        extractor(names=("LivyOperator",)),
        "extractor-before-capture",
        ["Auto-capture does not capture `LivyOperator`", "remove that from `[openlineage] extractors`."],
    ),
    (
        extractor(names=("SparkSqlOperator",)),
        "extractor-before-capture",
        ["Auto-capture does not capture `SparkSqlOperator`", "`[spark_lineage] extra_operators`"],
    ),
]
"""The machine, the mistake in it, words of its advice."""
