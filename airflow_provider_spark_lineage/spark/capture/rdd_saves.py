"""Targets of the writing methods of pyspark's `RDD`, as facts."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping

from airflow_provider_spark_lineage.spark.capture.rdd import PICKLED, TEXT
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name

Facts = Dict[str, Any]

_OUTPUT_FORMATS = ("mapreduce.job.outputformat.class", "mapred.output.format.class")
_OUTPUT_FOLDERS = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")


def _format(output_format: str) -> Facts:
    """Return the name of a Hadoop output format: `sequence` for `SequenceFileOutputFormat`."""
    name = simple_name(output_format)
    for ending in ("OutputFormat", "File"):
        name = name[: -len(ending)] if name.endswith(ending) else name
    return {"format": name.lower()}


def _hadoop_file(arguments: Mapping[str, Any]) -> Facts:
    return {"paths": arguments["path"], **_format(arguments["outputFormatClass"])}


def _hadoop_dataset(arguments: Mapping[str, Any]) -> Facts:
    """Return the facts of a target in a Hadoop configuration, which may not be a file."""
    conf = arguments["conf"]
    output_format = next((conf[key] for key in _OUTPUT_FORMATS if key in conf), "")
    path = next((conf[key] for key in _OUTPUT_FOLDERS if key in conf), "")
    return {"paths": path, **_format(output_format)} if path else {"relation_class": output_format}


RDD_SAVES: Dict[str, Callable[[Mapping[str, Any]], Facts]] = {
    "saveAsTextFile": lambda arguments: {"paths": arguments["path"], "format": "text", "schema": TEXT},
    "saveAsPickleFile": lambda arguments: {"paths": arguments["path"], "format": PICKLED},
    "saveAsSequenceFile": lambda arguments: {"paths": arguments["path"], "format": "sequence"},
    "saveAsHadoopFile": _hadoop_file,
    "saveAsNewAPIHadoopFile": _hadoop_file,
    "saveAsHadoopDataset": _hadoop_dataset,
    "saveAsNewAPIHadoopDataset": _hadoop_dataset,
}
"""Method -> the facts of its target, from its arguments by name."""


def target(save: Callable[[Mapping[str, Any]], Facts], arguments: Mapping[str, Any], context: Any) -> Facts:
    """Return the facts of the target of a save; its path has a scheme and no secrets."""
    facts = {**save(arguments), "mode": "errorifexists"}
    if "paths" in facts:
        facts["paths"] = _qualified(context, facts["paths"])
    return facts


def _qualified(context: Any, text: str) -> str:
    """Return a path with Hadoop's scheme and authority."""
    path = context._jvm.org.apache.hadoop.fs.Path(text)
    system = path.getFileSystem(context._jsc.hadoopConfiguration())
    return without_secrets(str(system.makeQualified(path).toString()))
