"""Table of the parts of facets that an expected file keeps: facets of OpenLineage and of Airflow's provider.

An expected file must pass in the next run and on another machine, and a person must be able to read it. So a
row keeps what says something about the pipeline, and names everything else, with `OUT`.
`airflow.draft_rules` has the rows of our own facets; tests compare all rows with the schemas of the facets.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any


class Keep(Enum):
    """Expectation of a draft for one value."""

    OUT = "nothing: it differs between runs or machines, or says nothing about the pipeline"
    VALUE = "the value, with variables, and matchers for ids and times"
    MEASURED = "a number"
    COMPUTED = "the value; any number if it is a fraction, whose last digits depend on the order of the rows"
    STRING = "a text that is not empty"
    MESSAGE = "the first line of a text for people, without addresses and ids of processes"
    STATE = "the value; CREATE and OVERWRITE accept each other, because the second run finds the data"


Row = Keep | Mapping[str, Any]
"""One expectation, or the row of each key of an object, or of the objects of a list. Keys without a row are
left out; `*` matches any key."""

ANY_KEY = "*"

_OUT, _VALUE, _MEASURED, _COMPUTED = Keep.OUT, Keep.VALUE, Keep.MEASURED, Keep.COMPUTED
_DATASET = {"namespace": _VALUE, "name": _VALUE}
_JOB = {"namespace": _OUT, "name": _VALUE, "facets": _OUT}
_DEPENDENCIES = {
    "job": {"namespace": _OUT, "name": _VALUE},
    "run": _OUT,
    "dependency_type": _VALUE,
    "sequence_trigger_rule": _VALUE,
    "status_trigger_rule": _VALUE,
}
_FACTS_OF_SIZE = {"rowCount": _VALUE, "size": _OUT, "fileCount": _OUT}
_EDGE = {
    **_DATASET,
    "field": _VALUE,
    "transformations": {"type": _VALUE, "subtype": _VALUE, "masking": _VALUE, "description": _OUT},
}
_RESULT = {
    "name": _VALUE,
    "column": _VALUE,
    "severity": _VALUE,
    "description": _OUT,
    "expected": _VALUE,
    # A measured value may be a time, or a fraction that depends on the order of the rows.
    "actual": _OUT,
    "content": _OUT,
    "contentType": _OUT,
    # A check without a result is another thing than a failed one.
    "params": {"not_evaluated": Keep.MESSAGE},
}

FACETS: dict[str, Row] = {
    # Of runs.
    "airflow": _OUT,
    "airflowDagRun": _OUT,
    "airflowState": {"dagRunState": _VALUE, "tasksState": {ANY_KEY: _VALUE}, "tasksDuration": _OUT},
    "airflow_mappedTask": _OUT,
    "debug": _OUT,
    "environmentVariables": _OUT,
    "errorMessage": {"message": Keep.MESSAGE, "programmingLanguage": _VALUE, "stackTrace": _OUT},
    "executionParameters": _OUT,
    "externalQuery": _OUT,
    "extractionError": {"totalTasks": _VALUE, "failedTasks": _VALUE, "errors": _OUT},
    "jobDependencies": {"upstream": _DEPENDENCIES, "downstream": _DEPENDENCIES, "trigger_rule": _VALUE},
    "nominalTime": _OUT,
    "parent": {"run": _OUT, "job": _JOB, "root": {"run": _OUT, "job": _JOB}},
    "processing_engine": {"name": _VALUE, "version": _OUT, "openlineageAdapterVersion": _OUT},
    "tags": {"tags": {"key": _VALUE, "value": _VALUE, "source": _VALUE, "field": _VALUE}},
    "test": {"tests": {**_RESULT, "type": _VALUE, "status": _VALUE}},
    "unknownSourceAttribute": _OUT,
    # Of jobs; `documentation` and `ownership` of datasets, too.
    "documentation": _OUT,
    "jobType": {"processingType": _VALUE, "jobType": _VALUE, "integration": _OUT, "emissionPattern": _OUT},
    # The edges of single fields are in `columnLineage`, too.
    "lineage": {
        "entries": {**_DATASET, "type": _OUT, "inputs": _OUT, "fields": _OUT, "runId": _OUT},
        "inputs": _OUT,
        "fields": _OUT,
    },
    "ownership": {"owners": {"name": _VALUE, "type": _VALUE}},
    "sourceCode": _OUT,
    "sourceCodeLocation": _OUT,
    "sql": {"query": _VALUE, "dialect": _VALUE},
    # Of datasets.
    "catalog": {
        "framework": _VALUE,
        "type": _VALUE,
        "name": _VALUE,
        "metadataUri": _OUT,
        "warehouseUri": _OUT,
        "source": _OUT,
        "catalogProperties": _OUT,
    },
    "columnLineage": {
        "fields": {
            ANY_KEY: {"inputFields": _EDGE, "transformationDescription": _OUT, "transformationType": _OUT}
        },
        "dataset": _EDGE,
    },
    "dataQualityAssertions": {"assertions": {**_RESULT, "assertion": _VALUE, "success": _VALUE}},
    "dataQualityMetrics": {
        "columnMetrics": {
            ANY_KEY: {
                **dict.fromkeys(("nullCount", "distinctCount", "sum", "count", "min", "max"), _COMPUTED),
                "quantiles": _OUT,
            }
        },
        "rowCount": _VALUE,
        **dict.fromkeys(("bytes", "fileCount", "lastUpdated", "captureDate"), _OUT),
    },
    # The dataset's namespace, and the same as a URL.
    "dataSource": _OUT,
    "datasetType": {"datasetType": _VALUE, "subType": _VALUE},
    "hierarchy": {"hierarchy": {"type": _VALUE, "name": _VALUE}},
    "inputStatistics": _FACTS_OF_SIZE,
    "lifecycleStateChange": {"lifecycleStateChange": Keep.STATE, "previousIdentifier": _DATASET},
    "outputStatistics": _FACTS_OF_SIZE,
    # Fields of structs have the same shape.
    "schema": {"fields": _VALUE},
    "storage": {"storageLayer": _VALUE, "fileFormat": _VALUE},
    "subset": {"inputCondition": _VALUE, "outputCondition": _VALUE},
    "symlinks": {"identifiers": {**_DATASET, "type": _VALUE}},
    "version": {"datasetVersion": Keep.STRING},
}
"""Name of a facet, wherever it may stand -> its row."""


def row_of(row: Row, key: str) -> Row:
    """Return the row of a key of an object."""
    if isinstance(row, Keep):
        return row
    inner: Row = row.get(key, row.get(ANY_KEY, Keep.OUT))
    return inner
