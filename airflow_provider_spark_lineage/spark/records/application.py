"""Description of one Spark application: where it runs, its user interface, its versions and settings.

Also runs on the cluster's driver: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Optional
from urllib.parse import quote

from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets
from airflow_provider_spark_lineage.spark.records.secret_names import is_secret
from airflow_provider_spark_lineage.spark.records.streams import Streams
from airflow_provider_spark_lineage.spark.records.usage import Usage

PROPERTIES = (
    "spark.master",
    "spark.app.name",
    "spark.sql.shuffle.partitions",
    "spark.executor.*",
    "spark.driver.memory",
    "spark.dynamicAllocation.*",
)
"""Default of the option `spark_properties`."""

LISTENERS = "spark.extraListeners"
"""Property with the classes of an application's listeners."""

_PROXY = "spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_URI_BASES"
"""YARN sets this to the address of the application's page behind its proxy."""


@dataclass(frozen=True)
class Application:
    """One Spark application; a text is empty if it is unknown."""

    id: str
    name: str
    spark_version: str
    master: str = ""
    deploy_mode: str = ""
    """`client` or `cluster`."""

    driver_host: str = ""
    user: str = ""
    ui_url: str = ""
    """Spark's user interface on the driver; it ends with the application."""

    proxy_url: str = ""
    """The same behind a proxy of YARN or of a standalone master."""

    history_url: str = ""
    """Page of the application in the history server."""

    scala_version: str = ""
    java_version: str = ""
    python_version: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Spark's properties that the option `spark_properties` allows, without secrets."""

    usage: Optional[Usage] = None
    """What its tasks used; None if it is unknown."""

    streams: Optional[Streams] = None
    """What its streaming queries did; None if it is unknown."""

    @property
    def details(self) -> dict[str, Any]:
        """Everything but id, name and version of Spark, as plain JSON."""
        values = asdict(self)
        return {name: values[name] for name in values if name not in _IDENTITY}

    def with_details(self, details: Any) -> Application:
        """Return the application with the details of a file; values of a wrong type are left out."""
        if not isinstance(details, dict):
            return self
        texts: dict[str, Any] = {
            name: value for name, value in details.items() if name in _TEXTS and isinstance(value, str)
        }
        usage, streams = Usage.from_json(details.get("usage")), Streams.from_json(details.get("streams"))
        known = replace(self, **texts, usage=usage, streams=streams)
        properties = details.get("properties")
        if isinstance(properties, dict) and all(isinstance(value, str) for value in properties.values()):
            return replace(known, properties=properties)
        return known

    def with_settings(self, settings: Mapping[str, str], allowed: Sequence[str]) -> Application:
        """Return the application with what its Spark properties tell; known values stay.

        `allowed` are names of the properties to keep, with `*` for any text.

        >>> settings = {"spark.master": "yarn", "spark.yarn.historyServer.address": "history:18080"}
        >>> bare = Application("application_1", "load", "4.1.0")
        >>> application = bare.with_settings(settings, allowed=["spark.master"])
        >>> application.history_url, application.deploy_mode, application.properties
        ('http://history:18080/history/application_1', 'client', {'spark.master': 'yarn'})
        """
        # Spark masks what it takes for a secret, also a host of such a name.
        settings = {name: value for name, value in settings.items() if "(redacted)" not in value}
        facts = {
            "master": settings.get("spark.master", ""),
            "deploy_mode": settings.get("spark.submit.deployMode", "client"),
            "driver_host": settings.get("spark.driver.host", ""),
            "proxy_url": _proxy_url(settings, self.id),
            "history_url": _history_url(settings, self.id),
        }
        new: dict[str, Any] = {
            name: without_secrets(value) for name, value in facts.items() if not getattr(self, name)
        }
        return replace(
            self,
            **new,
            properties={
                name: _without_secret(name, settings[name])
                for name in sorted(settings)
                if name in allowed
                or (not _HOLDS_ANYTHING.search(name) and any(fnmatchcase(name, each) for each in allowed))
            },
        )


_HOLDS_ANYTHING = re.compile(r"JavaOptions$|^spark\.openlineage\.transport\..*headers\.")
"""Properties whose values may hold a secret in any form: only their whole names allow them, no pattern."""

_IDENTITY = ("id", "name", "spark_version")
_TEXTS = frozenset(each.name for each in fields(Application)) - {*_IDENTITY, "properties", "usage", "streams"}


def has_java_agent(settings: Mapping[str, str]) -> bool:
    """Return whether Spark properties of an application name OpenLineage's Java agent as a listener.

    >>> has_java_agent({"spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener"})
    True
    """
    return "OpenLineageSparkListener" in settings.get(LISTENERS, "")


def _without_secret(name: str, value: str) -> str:
    """Return the value of a property, `***` if its name says that it is a secret.

    >>> _without_secret("spark.executorEnv.DB_PASSWORD", "two words"), _without_secret("spark.master", "yarn")
    ('***', 'yarn')
    """
    return (
        REMOVED if is_secret(name) or without_secrets(f"{name}=x") != f"{name}=x" else without_secrets(value)
    )


def _proxy_url(settings: Mapping[str, str], application: str) -> str:
    """Return the address that YARN's proxy, or the master's, has for an application."""
    if settings.get("spark.ui.reverseProxy", "").lower() == "true":
        base = settings.get("spark.ui.reverseProxyUrl", "")
        return f"{base.rstrip('/')}/proxy/{quote(application)}" if base else ""
    return settings.get(_PROXY, "").split(",")[0]


def _history_url(settings: Mapping[str, str], application: str) -> str:
    address = settings.get("spark.yarn.historyServer.address", "")
    # Hadoop's variables (`${hadoopconf-...}`) are known to YARN alone.
    if not address or "$" in address:
        return ""
    scheme = "" if re.match(r"https?://", address) else "http://"
    attempt = settings.get("spark.app.attempt.id", "")
    return "/".join(filter(None, [f"{scheme}{address.rstrip('/')}/history/{quote(application)}", attempt]))
