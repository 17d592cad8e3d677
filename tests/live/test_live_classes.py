"""The compiled classes of capture's Java: kept once, and loaded by later JVMs."""

from __future__ import annotations

import threading
import time

import pytest

from airflow_provider_spark_lineage.spark.capture.jvm import classes
from airflow_provider_spark_lineage.spark.capture.jvm.classes import load_reader
from airflow_provider_spark_lineage.spark.capture.this_process import Capture

pytestmark = pytest.mark.spark


@pytest.fixture
def load_class(spark, tmp_path):
    """Return a function that loads the reader as a new JVM would."""

    def load_class(*, is_new_jvm=True):
        jvm = spark._jvm
        if is_new_jvm:
            for name in [str(name) for name in jvm.System.getProperties().stringPropertyNames()]:
                if name.startswith("sparklineage."):
                    jvm.System.clearProperty(name)
        return load_reader(spark.sparkContext._gateway, jvm, tmp_path)

    return load_class


@pytest.fixture
def load(load_class):
    """Return a function that loads the reader, and gives the names of its class and class loader."""

    def load(**options):
        reader = load_class(**options)
        return reader.getName(), reader.getClassLoader().getClass().getSimpleName()

    return load


def class_file(folder):
    """Return the file of compiled classes; the JVM writes it in the background."""
    deadline = time.monotonic() + 300
    while not (files := list(folder.glob("classes-*.jar"))):
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    return files[0]


def test_classes_are_compiled_once_for_many_jvms(load, tmp_path):
    """The file belongs to the user alone. A JVM that has loaded it once compiles the next time."""
    name, loader = load()
    assert loader != "URLClassLoader"
    assert class_file(tmp_path).stat().st_mode & 0o777 == 0o600
    again, other = load(is_new_jvm=False)
    assert again != name
    assert other != "URLClassLoader"
    assert load() == (name, "URLClassLoader")


def torn(content):
    """Return the beginning of a file that was cut short."""
    return content[:1000]


def changed(content):
    """Return a file whose first class no decompressor reads."""
    begin = content.index(b".class") + len(b".class")
    return content[:begin] + b"\xff" * 50 + content[begin + 50 :]


@pytest.mark.parametrize("damage", [torn, changed])
def test_a_damaged_file_is_written_again(load, tmp_path, damage):
    """It must neither stop capture nor stay."""
    name, _ = load()
    file = class_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    damaged = file.stat().st_ino
    again, loader = load()
    assert (again, loader != "URLClassLoader") == (name, True)
    deadline = time.monotonic() + 300
    while class_file(tmp_path).stat().st_ino == damaged:
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    assert class_file(tmp_path).stat().st_size == len(whole)


def test_a_file_that_is_lost_later_does_not_stop_spark(load_class, spark, tmp_path, recorded, monkeypatch):
    """The listener uses some classes late, and an error on Spark's bus stops the context."""
    # A name of its own: py4j keeps methods by the names of classes.
    monkeypatch.setattr(classes, "_key", lambda jvm: "lost")
    load_class()
    file = class_file(tmp_path)
    reader = load_class()
    assert reader.getClassLoader().getClass().getSimpleName() == "URLClassLoader"
    # As an open file on NFS that another machine has replaced.
    file.write_bytes(b"")
    monkeypatch.setattr(classes, "_loaded", (spark.sparkContext._gateway, reader))
    with recorded() as records:
        spark.sparkContext.parallelize([1]).count()
        spark.range(5).count()
    assert [record.name for record in records] == ["count", "count"]
    assert not spark.sparkContext._jsc.sc().isStopped()


def test_a_class_that_is_missing_does_not_stop_spark(load_class, spark, tmp_path, monkeypatch):
    """Spark survives other errors of a listener, but not those of loading classes."""
    monkeypatch.setattr(classes, "_key", lambda jvm: "missing")
    package = load_class().getPackageName()
    file = class_file(tmp_path)
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(file)).toURI().toURL()
    parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    reader = jvm.java.net.URLClassLoader(urls, parent).loadClass(f"{package}.Reader")
    monkeypatch.setattr(classes, "_loaded", (gateway, reader))
    # Which classes the JVM has by now is not known, so the end of the capture may wait in vain.
    capture = Capture([].append, drain_timeout_seconds=2)
    capture.arm()
    file.write_bytes(b"")
    assert spark.sparkContext.parallelize([1]).count() == 1
    assert spark.range(5).count() == 5
    capture.disarm()
    assert capture.problems
    assert not spark.sparkContext._jsc.sc().isStopped()
