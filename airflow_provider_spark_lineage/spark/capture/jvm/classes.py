"""The classes of the Java sources beside this file, in Spark's JVM.

The compiler is Janino, which Spark uses for its generated code, so capture needs no jar. In a new JVM,
compiling takes more than a second, so the compiled classes are kept in the user's cache, for the same
sources, Spark, Scala and Java.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
import re
import stat
import threading
import uuid
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

_CLASSES = tuple(
    """
    ClassesFile Computed Counts Execution Foresight Jobs Joins Json Listener Mark MaskedSql Observed Paths
    Patterns Plans Positions Query Reader Schemas StageUsage Step StoredFiles StreamRun Streams Texts
    TooLarge Usage
    """.split()
)

_loaded: Tuple[Any, Any] = (None, None)
"""A gateway, and the class `Reader` in its JVM, for all applications of the process."""

_loading = threading.Lock()


def reader_class(gateway: Any, jvm: Any) -> Any:
    """Return the class `Reader` of a JVM; load or compile it at the first call."""
    global _loaded  # noqa: PLW0603  a process has one JVM
    with _loading:
        if _loaded[0] is not gateway:
            _loaded = gateway, load_reader(gateway, jvm, cache_folder())
    return _loaded[1]


def cache_folder() -> Optional[Path]:
    """Return the folder for compiled classes; None unless it belongs to the user alone.

    The classes in it run inside the user's jobs.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(cache, "airflow-provider-spark-lineage")
    if not folder.is_absolute():
        # A user without a home, as in containers whose user is only a number.
        return None
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return None
    is_private = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if is_private else None


def load_reader(gateway: Any, jvm: Any, folder: Optional[Path]) -> Any:
    """Return the class `Reader` from `folder`; if it is not there, compile it and store it there."""
    key = _key(jvm)
    # py4j caches methods by the name of their class: a name may be loaded only once in a JVM.
    if folder is None or jvm.System.setProperty(f"sparklineage.{key}", "loaded") is not None:
        package = f"sparklineage.of{uuid.uuid4().hex}"
        return _compile(jvm, package).getClassLoader().loadClass(f"{package}.Reader")
    package, file = f"sparklineage.of{key}", folder / f"classes-{key}.jar"
    if _is_whole(file):
        return _load(gateway, jvm, file, package)
    compiler = _compile(jvm, package)
    loader = compiler.getClassLoader()
    arguments = gateway.new_array(jvm.java.lang.Object, 2)
    arguments[0], arguments[1] = compiler.getBytecodes(), str(file)
    loader.loadClass(f"{package}.ClassesFile").getConstructors()[0].newInstance(arguments).start()
    return loader.loadClass(f"{package}.Reader")


def _load(gateway: Any, jvm: Any, file: Path, package: str) -> Any:
    """Return the class `Reader` in a file of compiled classes.

    All classes are loaded now, and the file is closed, because it may be removed, or its disk unmounted. If
    the listener did not find a class later, the error on Spark's bus would stop the context.
    """
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(file)).toURI().toURL()
    loader = jvm.java.net.URLClassLoader(urls, _parent(jvm))
    classes = {name: loader.loadClass(f"{package}.{name}") for name in _CLASSES}
    loader.close()
    return classes["Reader"]


def _key(jvm: Any) -> str:
    """Return a hash of the dependencies of compiled classes: our sources, and this Spark, Scala and Java."""
    spark = jvm.org.apache.spark.package
    about = (
        __name__,
        spark.SPARK_VERSION(),
        spark.SPARK_REVISION(),
        spark.SPARK_BUILD_DATE(),
        jvm.scala.util.Properties.versionString(),
        jvm.System.getProperty("java.version"),
        _source(""),
    )
    return hashlib.sha256("\n".join(map(str, about)).encode("utf-8")).hexdigest()[:32]


def _is_whole(file: Path) -> bool:
    """Return whether a file has all classes, with correct checksums."""
    try:
        with zipfile.ZipFile(file) as classes:
            return classes.testzip() is None and len(classes.namelist()) == len(_CLASSES)
    except Exception:  # A damaged file raises errors of any decompressor, among others.
        return False


def _compile(jvm: Any, package: str) -> Any:
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(_parent(jvm))
    compiler.cook(_source(package))
    return compiler


def _parent(jvm: Any) -> Any:
    """Return the class loader that includes the application's jars."""
    return jvm.java.lang.Thread.currentThread().getContextClassLoader()


def _source(package: str) -> str:
    """Return all Java sources as one compilation unit, which Janino needs."""
    imports: Dict[str, None] = {}
    bodies = []
    for name in _CLASSES:
        source = (pkgutil.get_data(__name__, name + ".java") or b"").decode("utf-8")
        imports.update(dict.fromkeys(re.findall(r"^import .+;$", source, re.MULTILINE)))
        bodies.append(re.sub(r"^(?:import|package) .+;$", "", source, flags=re.MULTILINE))
    return "\n".join((f"package {package};", *sorted(imports), *bodies))
