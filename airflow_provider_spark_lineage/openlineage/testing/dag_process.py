"""Runs one DAG of a file with `dag.test()`, and writes its result to a file.

    python dag_process.py RESULT_FILE DAG_FILE OPTIONS

The result is a JSON object: the final state of the DAG run and of each task instance, or the DAGs of the file
if the requested one is not there. OPTIONS is a JSON object: `dag_id`, or null for the only DAG of the file,
and `conf` of the run. `runs` starts this program; it is never imported.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:  # Airflow before 3.2
    from airflow.models.dagbag import DagBag


def main(result: Path, dag_file: str, options: Mapping[str, Any]) -> None:
    """Run the DAG and write its result, or the DAGs of the file if the requested one is not there."""
    bag = DagBag(dag_folder=dag_file, safe_mode=False)
    if bag.import_errors:
        sys.exit(f"{dag_file} cannot be imported:\n" + "\n".join(bag.import_errors.values()))
    chosen = [dag for dag in bag.dags.values() if options["dag_id"] in (None, dag.dag_id)]
    if len(chosen) != 1:
        result.write_text(json.dumps({"not_found": sorted(bag.dags)}))
        return

    [dag] = chosen
    # `dag.test()` runs tasks in this process, unless the settings of the run name an executor.
    run = dag.test(run_conf=options["conf"] or None, use_executor="AIRFLOW__CORE__EXECUTOR" in os.environ)
    states = {
        f"{ti.task_id}[{ti.map_index}]" if ti.map_index >= 0 else ti.task_id: str(ti.state)
        for ti in run.get_task_instances()
    }
    result.write_text(json.dumps({"dag_id": dag.dag_id, "state": str(run.state), "tasks": states}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
