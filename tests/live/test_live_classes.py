"""The compiled classes of capture's Java: kept once, and loaded by later JVMs."""

from __future__ import annotations

import threading
import time

import pytest

from airflow_provider_spark_lineage.capture.jvm.classes import load_reader

pytestmark = pytest.mark.spark


@pytest.fixture
def load(spark, tmp_path):
    """Return a function that loads the reader as a new JVM would, and gives its class and class loader."""

    def load(*, is_new_jvm=True):
        jvm = spark._jvm
        if is_new_jvm:
            for name in [str(name) for name in jvm.System.getProperties().stringPropertyNames()]:
                if name.startswith("sparklineage."):
                    jvm.System.clearProperty(name)
        reader = load_reader(spark.sparkContext._gateway, jvm, tmp_path)
        return reader.getName(), reader.getClassLoader().getClass().getSimpleName()

    return load


def kept(folder):
    """Return the file of compiled classes; the JVM writes it in the background."""
    deadline = time.monotonic() + 30
    while not (files := list(folder.glob("classes-*.jar"))):
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    return files[0]


def test_classes_are_compiled_once_for_many_jvms(load, tmp_path):
    """The file belongs to the user alone. A JVM that has loaded it once compiles the next time."""
    name, loader = load()
    assert loader != "URLClassLoader"
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600
    again, other = load(is_new_jvm=False)
    assert again != name
    assert other != "URLClassLoader"
    assert load() == (name, "URLClassLoader")


def test_a_damaged_file_is_written_again(load, tmp_path):
    """A torn file must neither stop capture nor stay."""
    name, _ = load()
    file = kept(tmp_path)
    whole = file.stat().st_size
    file.write_bytes(file.read_bytes()[:1000])
    again, loader = load()
    assert (again, loader != "URLClassLoader") == (name, True)
    deadline = time.monotonic() + 30
    while kept(tmp_path).stat().st_size != whole:
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
