from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import pytest
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import Failure, Gap

# In a process of its own, because importing the provider starts Airflow, which makes itself a home.
REDACT = """
import json, logging, pathlib, pickle, sys
from openlineage.client.serde import Serde
from airflow.providers.openlineage.utils.utils import OpenLineageRedactor
from airflow_provider_spark_lineage.spark.facets.events import RunIdentity, whole_run_events

warnings = []
handler = logging.Handler(logging.WARNING)
handler.emit = lambda record: warnings.append(record.getMessage())
logging.getLogger("airflow.providers.openlineage.utils.utils").addHandler(handler)
redactor = OpenLineageRedactor()
redactor.add_mask("hunter2")
whole = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
identity = RunIdentity("018cc778-5000-7a46-aca6-85a986a44f75", "ns", "sales")
_, event = whole_run_events(whole, identity)
redacted = redactor.redact(event, max_depth=20)
print("RESULT" + json.dumps({"warnings": warnings, "event": Serde.to_dict(redacted)}))
"""


@pytest.fixture
def redacted(whole, failures, tmp_path):
    lineage = replace(
        whole.lineage,
        failures=(*failures, Failure("ValueError", "cannot log in with hunter2")),
        gaps=(Gap("RDD at map#7", Reason(GapKind.ROWS_FROM_PYTHON, "hunter2 came out of an RDD.")),),
    )
    (tmp_path / "whole").write_bytes(pickle.dumps(replace(whole, lineage=lineage)))
    done = subprocess.run(
        [sys.executable, "-c", REDACT, str(tmp_path / "whole")],
        env=os.environ | {"AIRFLOW_HOME": str(tmp_path / "airflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.partition("RESULT")[2])


@pytest.mark.airflow
@needs_newest_client
def test_airflows_redactor_masks_our_facets_and_leaves_them_valid(redacted):
    """A facet that it cannot write to would stay unmasked, with "Unable to redact" in the task's log."""
    assert redacted["warnings"] == []
    assert "hunter2" not in json.dumps(redacted["event"])
    assert json.dumps(redacted["event"]).count("***") == 3
    assert problems_of(redacted["event"]) == []


@pytest.mark.airflow
def test_a_column_with_a_secret_sounding_name_keeps_its_lineage(redacted):
    """The redactor hides values under a key like `password`; a column may be called that."""
    facets = redacted["event"]["outputs"][0]["facets"]
    (read,) = facets["columnLineage"]["fields"]["password"]["inputFields"]
    assert (read["name"], read["field"]) == ("/in/orders", "password")
