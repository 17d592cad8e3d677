"""Mistakes in packages, Spark and Java, planted."""

from __future__ import annotations

from dataclasses import replace

from cli.doctor_found import FOUND, LISTENER, installed, options, plugins, variables

from airflow_provider_spark_lineage.cli.doctor.found import Java, SparkHome

PLANTED = [
    # Packages
    (installed(openlineage_python=None), "package-missing", ["run `pip install openlineage-python`"]),
    (
        installed(apache_airflow="2.11.0"),
        "package-version",
        ["airflow-provider-spark-lineage needs apache-airflow<4,>=3.0.6", "2.11.0 is installed"],
    ),
    (
        installed(apache_airflow_providers_openlineage="2.3.0"),
        "package-version",
        ["apache-airflow-providers-openlineage>=2.9", "2.3.0 is installed"],
    ),
    (
        installed(openlineage_python="1.30.0"),
        "package-version",
        ["apache-airflow-providers-openlineage needs openlineage-python>=1.52.0", "run `pip install"],
    ),
    (
        installed(openlineage_airflow="1.20.0"),
        "legacy-package",
        ["run `pip uninstall openlineage-airflow`", "apache-airflow-providers-openlineage has replaced it"],
    ),
    # Spark and Java
    (installed(pyspark=None), "spark-missing", ["pyspark is not installed", "pip install pyspark==4.1.4"]),
    (installed(pyspark=None, pyspark_client=None), "spark-missing", ["[spark-4-2]"]),
    (
        replace(installed(pyspark="3.4.4", pyspark_client=None), spark_in_files="3.4.4"),
        "spark-too-old",
        ["pyspark 3.4.4 is older than 3.5", "pip install 'pyspark>=3.5'"],
    ),
    (replace(FOUND, spark_in_files=""), "spark-files", ["files of pyspark 4.1.4 are missing"]),
    (replace(FOUND, spark_in_files="4.0.0"), "spark-files", ["its files have version 4.0.0"]),
    (
        installed(pyspark_client="4.2.0"),
        "spark-client-version",
        ["pyspark-client 4.2.0 and pyspark 4.1.4 overwrite each other's files", "pip install pyspark==4.1.4"],
    ),
    (
        installed(pyspark_connect="4.0.1"),
        "spark-connect-version",
        ["pyspark-connect 4.0.1 is for another version than pyspark 4.1.4"],
    ),
    (installed(pyspark_connect="4.1.4"), "spark-connect-default", ["set `spark.api.mode` to `classic`"]),
    (installed(py4j=None), "py4j-missing", ["py4j is not installed"]),
    (installed(pandas="3.0.0"), "pandas-too-new", ["pip install 'pandas<3'"]),
    (
        replace(installed(pyspark="4.2.0", pandas="3.0.0"), warns_of_pandas=True),
        "pandas-too-new",
        ["pyspark 4.2.0 warns that it does not fully support pandas 3.0.0", "pip install 'pandas<3'"],
    ),
    (
        replace(FOUND, spark_home=SparkHome("/no/spark", has_spark=False)),
        "spark-home-missing",
        ["SPARK_HOME is /no/spark, which has no `bin/spark-submit`; unset or correct it"],
    ),
    (
        replace(FOUND, spark_home=SparkHome("/opt/spark", version="3.5.1-amzn-0")),
        "spark-home-version",
        ["SPARK_HOME is /opt/spark with Spark 3.5.1-amzn-0", "`pip install pyspark==3.5.1`"],
    ),
    (
        replace(FOUND, spark_home=SparkHome("/opt/spark", version="4.1.2")),
        "spark-home-patch",
        ["with Spark 4.1.2, which pyspark 4.1.4 starts", "unset it"],
    ),
    (replace(FOUND, java=Java()), "java-missing", ["Spark needs Java 17 or newer, and no `java` is on PATH"]),
    (replace(FOUND, java=Java("/no/jdk")), "java-missing", ["JAVA_HOME is /no/jdk", "unset JAVA_HOME"]),
    (replace(FOUND, java=Java("", "/bin/java", "")), "java-fails", ["`/bin/java -version` fails"]),
    (replace(FOUND, java=Java("", "/bin/java", "11.0.2")), "java-too-old", ["Java 17 or newer, not 11.0.2"]),
    (
        replace(
            installed(pyspark="4.0.4", pyspark_client=None),
            spark_in_files="4.0.4",
            java=Java("/jdk", "/jdk/bin/java", "25.0.1"),
        ),
        "java-too-new",
        ["Spark 4.0.4 does not start on Java 25.0.1", "set JAVA_HOME"],
    ),
    (
        replace(FOUND, spark_listeners={"/conf/spark-defaults.conf": f"company.Own,{LISTENER}"}),
        "java-listener",
        ["/conf/spark-defaults.conf", "reported twice", "`spark.extraListeners`"],
    ),
    (
        variables(AIRFLOW_CONN_SPARK_DEFAULT=f'{{"extra": {{"spark.extraListeners": "{LISTENER}"}}}}'),
        "java-listener",
        ["the connection `spark_default`", "AIRFLOW_CONN_SPARK_DEFAULT"],
    ),
    (
        variables(PYSPARK_SUBMIT_ARGS=f"--conf spark.extraListeners={LISTENER} pyspark-shell"),
        "java-listener",
        ["the environment variable PYSPARK_SUBMIT_ARGS"],
    ),
    (plugins(connections_with_listener=("emr",)), "java-listener", ["the connection `emr`"]),
    (
        options(spark_inject_parent_job_info=True),
        "java-listener-injected",
        ["`[openlineage] spark_inject_parent_job_info`", "set it to False"],
    ),
    (
        options(spark_inject_transport_info=True),
        "java-listener-injected",
        ["`[openlineage] spark_inject_transport_info`"],
    ),
]
"""What is found, the mistake in it, words of its advice."""
