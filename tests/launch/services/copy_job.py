"""A job that reads its first argument and writes its second."""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(sys.argv[1]).write.parquet(sys.argv[2])
