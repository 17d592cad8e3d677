"""Sentences of gaps about the names and the content of datasets."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Sentence

UNNAMED = Sentence(GapKind.UNNAMED_DATASET, "its location was not recorded, so the dataset has no name")
UNKNOWN_SOURCE = Sentence(
    GapKind.UNKNOWN_SOURCE, "unknown data source; {name} is the name that Spark reports"
)
UNNAMED_TABLE = Sentence(
    GapKind.UNNAMED_DATASET, "the table `{table}` of the catalog `{catalog}` has no name"
)
RELATIVE = Sentence(
    GapKind.UNKNOWN_LOCATION,
    "its path is relative to a folder that was not recorded; it is named as if that were the root",
)
TOO_MANY_FOLDERS = Sentence(
    GapKind.SEVERAL_DATASETS,
    "it reads more than {limit} folders at once, so it is named by the folder above them",
)
TOPICS_IN_ROWS = Sentence(
    GapKind.SEVERAL_DATASETS, "its rows name their topics themselves, in the column `topic`"
)
TOPICS_OF_PATTERN = Sentence(
    GapKind.SEVERAL_DATASETS, "the topics that the pattern `{pattern}` matched are not recorded"
)

# Reads behind an RDD.
MORE_RDDS = Sentence(
    GapKind.LIMIT_REACHED,
    "an RDD depends on too many others, so not all files that it reads were recorded",
)
UNASKED_PARTITIONS = Sentence(
    GapKind.LIMIT_REACHED,
    "an RDD reads too many partitions, so only the files of some were recorded",
)
UNNAMED_READ = Sentence(
    GapKind.UNNAMED_DATASET,
    "an RDD reads with a Hadoop input format without files, so its source is not recorded",
)

# Reads of files by a pattern, or of many paths.
NOT_ALL_PATHS = Sentence(
    GapKind.LIMIT_REACHED,
    "too many paths are read at once: only some of them were recorded, so there may be further datasets",
)
UNMATCHED = Sentence(
    GapKind.SEVERAL_DATASETS,
    "what its pattern matches was not recorded; a folder that it matches may be a dataset of its own",
)
