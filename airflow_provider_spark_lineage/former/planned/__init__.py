"""Former path of `spark.planned`."""
