"""What the doctor finds on a healthy machine, as data, and changes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.cli.doctor.found import Airflow, Extractor, Found, Java, Plugins

OURS = "airflow_provider_spark_lineage.extractors.SparkExtractor"
USERS = "company.lineage.Extractor"
LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"

PLUGINS = Plugins(
    extractors=(Extractor(OURS, names=("SparkSubmitOperator", "PySparkOperator")),),
    registered={"SparkSubmitOperator": OURS, "PySparkOperator": OURS},
)
AIRFLOW = Airflow(
    options={
        "is_disabled": False,
        "config_conn_id": "",
        "config_path": "",
        "config_path_option": "",
        "disabled_option": False,
        "transport": {"type": "http", "url": "http://marquez:5000"},
        "custom_extractors": {OURS},
        "disabled_operators": set(),
        "selective_enable": False,
        "namespace": "team",
        "execution_timeout": 10,
        "execute_in_thread": False,
        "emission_policy": [],
        "spark_inject_parent_job_info": False,
        "spark_inject_transport_info": False,
    },
    texts={
        "extractors": OURS,
        "namespace": "team",
        "transport": '{"type": "http", "url": "http://marquez:5000"}',
    },
    own_texts={"auto_capture": "True"},
    known_options=frozenset(
        {
            "config_conn_id",
            "config_path",
            "disabled",
            "disabled_for_operators",
            "extractors",
            "namespace",
            "transport",
        }
    ),
    own_values={
        "auto_capture": True,
        "auto_capture_include": ("*",),
        "auto_capture_exclude": (),
        "disabled": False,
        "extra_operators": {},
    },
    transport={
        "type": "http",
        "url": "http://marquez:5000",
        "auth": {"type": "api_key", "apiKey": "hunter2hunter2"},
    },
    transport_types=("composite", "console", "file", "http", "kafka", "noop"),
    plugins=PLUGINS,
)
FOUND = Found(
    python="3.11.7",
    distributions={
        "airflow-provider-spark-lineage": "0.1.0",
        "apache-airflow": "3.3.2",
        "apache-airflow-providers-apache-spark": "6.3.4",
        "apache-airflow-providers-openlineage": "2.20.3",
        "openlineage-python": "1.54.0",
        "pandas": "2.3.3",
        "py4j": "0.10.9.9",
        "pyspark": "4.1.4",
        "pyspark-client": "4.1.4",
    },
    requirements={
        "airflow-provider-spark-lineage": (
            "apache-airflow<4,>=3.0.6",
            "apache-airflow-providers-openlineage>=2.9",
        ),
        "apache-airflow-providers-openlineage": (
            "openlineage-python>=1.52.0",
            'openlineage-sql>=9; extra == "sql"',
        ),
    },
    environment={"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True", "PATH": "/usr/bin"},
    spark_in_files="4.1.4",
    java=Java("", "/usr/bin/java", "17.0.15"),
    airflow=AIRFLOW,
    secrets=frozenset({"hunter2hunter2"}),
)


def installed(**versions: str | None) -> Found:
    """Return the healthy machine with other versions; None removes a package."""
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    all_versions = {**FOUND.distributions, **names}
    return replace(FOUND, distributions={name: version for name, version in all_versions.items() if version})


def variables(**values: str) -> Found:
    return replace(FOUND, environment={**FOUND.environment, **values})


def airflow(**fields: Any) -> Found:
    return replace(FOUND, airflow=replace(AIRFLOW, **fields))


def options(**values: Any) -> Found:
    return airflow(options={**AIRFLOW.options, **values})


def texts(**values: str) -> Found:
    return airflow(texts={**AIRFLOW.texts, **values})


def own(**values: Any) -> Found:
    return airflow(own_values={**AIRFLOW.own_values, **values})


def plugins(**fields: Any) -> Found:
    return airflow(plugins=replace(PLUGINS, **fields))


def extractor(path: str = USERS, **fields: Any) -> Found:
    """Return the healthy machine with one more extractor."""
    return plugins(extractors=(*PLUGINS.extractors, Extractor(path, **fields)))


def transport(config: Any, **fields: Any) -> Found:
    return airflow(transport=config, **fields)
