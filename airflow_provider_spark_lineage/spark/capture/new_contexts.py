"""Adds properties to the Spark contexts that this process creates, before their listeners read them.

OpenLineage's Java agent reads its parent and its transport when the application starts, before any session
exists. The properties are added to the SparkConf that pyspark passes to the JVM, not to the user's: the next
task in this JVM must not inherit them.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Mapping, Sequence

from airflow_provider_spark_lineage.spark.capture.application import jvm_lock
from airflow_provider_spark_lineage.spark.capture.imports import imports
from airflow_provider_spark_lineage.spark.capture.replaced import Replacements, without_own_frame
from airflow_provider_spark_lineage.spark.capture.unlogged import unlogged
from airflow_provider_spark_lineage.spark.guard import alarm_paused, harmless

PREFIX = "spark.openlineage."
"""Prefix of all properties that may be added: properties of OpenLineage's Java agent."""


class NewContexts:
    """Adds the result of `added` to each context that is created between `arm` and `disarm`.

    `added` receives the names of the context's properties that begin with `PREFIX`, so that it can leave
    out properties of the user.
    """

    def __init__(self, added: Callable[[Sequence[str]], Mapping[str, str]]) -> None:
        self._added = added
        self._methods = Replacements()
        self._process = os.getpid()

    def arm(self) -> None:
        """Watch the contexts of this process, from the import of pyspark on."""
        if "pyspark" in sys.modules:
            with harmless("new Spark contexts cannot get properties for OpenLineage's Java agent"):
                self._watch()
        else:
            imports().wait("pyspark", self._watch)

    def disarm(self) -> None:
        """Stop watching, and restore the method of pyspark."""
        imports().forget("pyspark", self._watch)
        self._methods.restore()

    def _watch(self) -> None:
        # `pyspark-client` has no such class.
        context_class = getattr(sys.modules["pyspark"], "SparkContext", None)
        if context_class is not None:
            # Only here does the SparkConf have everything: defaults, and arguments of the context.
            self._methods.replace(context_class, "_initialize_context", self._creates)

    def _creates(self, create: Any) -> Callable[..., Any]:
        def create_with_properties(context: Any, conf: Any) -> Any:
            if os.getpid() == self._process:
                with harmless("the Spark context has no properties for OpenLineage's Java agent"):
                    conf = self._with_properties(conf)
            with without_own_frame():
                return create(context, conf)

        return create_with_properties

    def _with_properties(self, conf: Any) -> Any:
        """Return a SparkConf of the JVM with the properties; the user's own object is not changed."""
        # py4j's debug log must not show them: the properties of the transport may hold a secret.
        with jvm_lock, unlogged():
            present = [PREFIX + str(pair._1()) for pair in conf.getAllWithPrefix(PREFIX)]
        with alarm_paused():
            added = self._added(present)
        if added:
            with jvm_lock, unlogged():
                conf = conf.clone()
                for name, value in added.items():
                    conf.set(name, value)
        return conf
