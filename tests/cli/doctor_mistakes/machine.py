"""Mistakes in packages, Spark and Java, planted."""

from __future__ import annotations

from cli.doctor_machine import Machine, installed, java

LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"
SPARK_HOME = {"SPARK_HOME": "{here}/spark"}
SUBMIT = {"spark/bin/spark-submit": ""}
WARNING = 'warnings.warn(\n    "PySpark does not yet fully support pandas >= 3.0.0. "\n)\n'
SPARK_4_0 = installed(pyspark="4.0.4", pyspark_client=None)

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
    # PySpark
    (installed(pyspark=None), "spark-missing", ["pyspark is not installed", "pip install pyspark==4.1.4"]),
    (installed(pyspark=None, pyspark_client=None), "spark-missing", ["[spark-4-2]"]),
    (
        installed(pyspark="3.4.4", pyspark_client=None),
        "spark-too-old",
        ["pyspark 3.4.4 is older than 3.5", "pip install 'pyspark>=3.5'"],
    ),
    (Machine(files={"pyspark/version.py": ""}), "spark-files", ["files of pyspark 4.1.4 are missing"]),
    (
        Machine(files={"pyspark/version.py": '__version__: str = "4.0.0"'}),
        "spark-files",
        ["its files have version 4.0.0", "then `pip install pyspark==4.1.4`"],
    ),
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
    (installed(pandas="3.0.0"), "pandas-too-new", ["pip install 'pandas<3'", "or use pyspark 4.2 or newer"]),
    (
        Machine(
            installed(pyspark="4.2.0", pyspark_client=None, pandas="3.0.0"),
            files={"pyspark/sql/pandas/utils.py": WARNING},
        ),
        "pandas-too-new",
        ["pyspark 4.2.0 warns that it does not fully support pandas 3.0.0", "pip install 'pandas<3'"],
    ),
    # Spark and Java
    (
        Machine(variables={"SPARK_HOME": "/no/spark"}),
        "spark-home-missing",
        ["SPARK_HOME is /no/spark, which has no `bin/spark-submit`; unset or correct it"],
    ),
    (
        Machine(files={**SUBMIT, "spark/jars/spark-core_2.12-3.5.1-amzn-0.jar": ""}, variables=SPARK_HOME),
        "spark-home-version",
        ["/spark with Spark 3.5.1-amzn-0, which pyspark 4.1.4 starts", "`pip install pyspark==3.5.1`"],
    ),
    (
        Machine(files={**SUBMIT, "spark/jars/spark-core_2.13-4.1.2.jar": ""}, variables=SPARK_HOME),
        "spark-home-patch",
        ["with Spark 4.1.2, which pyspark 4.1.4 starts", "unset it"],
    ),
    (
        Machine(variables={"JAVA_HOME": "", "PATH": "/no"}),
        "java-missing",
        ["Java 17 or newer, and no `java`"],
    ),
    (
        Machine(variables={"JAVA_HOME": "/no/jdk"}),
        "java-missing",
        ["JAVA_HOME is /no/jdk, which has no `bin/java`", "unset JAVA_HOME"],
    ),
    (
        Machine(files={"jdk/bin/java": "#!/bin/sh\necho No Java runtime present\nexit 1\n"}),
        "java-fails",
        ["/jdk/bin/java -version` fails"],
    ),
    (Machine(files={"jdk/bin/java": java("1.8.0_392")}), "java-too-old", ["17 or newer, not 1.8.0_392"]),
    (
        Machine(SPARK_4_0, files={"jdk/bin/java": java("25.0.1")}),
        "java-too-new",
        ["Spark 4.0.4 does not start on Java 25.0.1", "set JAVA_HOME"],
    ),
    (
        Machine(
            files={"conf/spark-defaults.conf": f"# none\nspark.extraListeners  company.Own,{LISTENER}\n"},
            variables={"SPARK_CONF_DIR": "{here}/conf"},
        ),
        "java-listener",
        ["/conf/spark-defaults.conf", "reported twice", "`spark.extraListeners`"],
    ),
    (
        Machine(files={"pyspark/conf/spark-defaults.conf": f"spark.extraListeners={LISTENER}"}),
        "java-listener",
        ["/pyspark/conf/spark-defaults.conf"],
    ),
    (
        Machine(variables={"PYSPARK_SUBMIT_ARGS": f"--conf spark.extraListeners={LISTENER} pyspark-shell"}),
        "java-listener",
        ["the environment variable PYSPARK_SUBMIT_ARGS"],
    ),
]
"""The machine, the mistake in it, words of its advice."""

RIGHT = [
    Machine(files={**SUBMIT, "spark/jars/spark-core_2.13-4.1.4-company-1.jar": ""}, variables=SPARK_HOME),
    Machine(
        installed(pyspark="4.2.0", pyspark_client=None, pandas="3.0.0"),
        files={"pyspark/sql/pandas/utils.py": '"Pandas >= 2.2.0 must be installed"'},
    ),
    Machine(installed(pyspark="3.5.1", pyspark_client=None), files={"jdk/bin/java": java("1.8.0_392")}),
    Machine(files={"pyspark/conf/spark-defaults.conf": f"# spark.extraListeners {LISTENER}"}),
]
"""Machines that look like some of those, without a mistake."""
