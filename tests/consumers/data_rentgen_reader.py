"""Reads events as Data.Rentgen does, up to what it would store; runs in an environment of its own.

python data_rentgen_reader.py FILE    prints a JSON document about the file's events, one in a line
"""

import json
import sys

from data_rentgen.consumer.extractors import BatchExtractor
from data_rentgen.consumer.subscribers import OpenLineageRunEventAdapter

batch, refused = BatchExtractor(), {}
with open(sys.argv[1], encoding="utf-8") as events:
    for line in events:
        name, event = json.loads(line)
        try:
            batch.add_events([OpenLineageRunEventAdapter.validate_python(event)])
        # Whatever the consumer raises, the event is lost.
        except Exception as error:
            refused[name] = str(error)
stored = batch.result
told = {
    "refused": refused,
    "operations": sorted(operation.name for operation in stored.operations()),
    "runs": sorted(run.job.name for run in stored.runs()),
    "outputs": sorted(
        {(output.operation.name, output.dataset.name, output.type.name) for output in stored.outputs()}
    ),
    "column_lineage": sum(len(lineage.column_relations) for lineage in stored.column_lineage()),
}
print(json.dumps(told))
