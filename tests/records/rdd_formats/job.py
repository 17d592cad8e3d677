"""Saves in Hadoop's formats name their folders, whatever the API; their columns are unknown."""


def setup(spark, path):
    pairs = spark.sparkContext.parallelize([("a", 1), ("b", 2)], 1)
    pairs.saveAsSequenceFile(path("pairs"))


def job(spark, path):
    context = spark.sparkContext
    pairs = context.sequenceFile(path("pairs"))
    pairs.saveAsPickleFile(path("pickle"))
    context.pickleFile(path("pickle")).saveAsSequenceFile(path("sequence"))
    text = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
    pairs.saveAsNewAPIHadoopFile(path("new_api"), text)
    pairs.saveAsHadoopFile(path("old_api"), "org.apache.hadoop.mapred.TextOutputFormat")
    conf = {
        "mapreduce.job.outputformat.class": text,
        "mapreduce.output.fileoutputformat.outputdir": path("by_conf"),
        "mapreduce.job.output.key.class": "org.apache.hadoop.io.Text",
        "mapreduce.job.output.value.class": "org.apache.hadoop.io.IntWritable",
    }
    pairs.saveAsNewAPIHadoopDataset(conf)
