"""The description of an application: allowed properties only, no secret, tolerant of other releases."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.get_provider_info import OPTIONS
from airflow_provider_spark_lineage.spark.records.application import PROPERTIES, Application
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage

BARE = Application("application_1", "load", "4.1.0")


def properties(settings, allowed=("*",)):
    return BARE.with_settings(settings, allowed).properties


def test_only_allowed_properties_are_kept():
    """Everything that no pattern allows stays in the driver."""
    settings = {"spark.executor.cores": "4", "spark.executor.memory": "8g", "spark.yarn.queue": "etl"}
    assert properties(settings, ["spark.executor.*"]) == {
        "spark.executor.cores": "4",
        "spark.executor.memory": "8g",
    }


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("spark.hadoop.fs.s3a.secret.key", "hunter2", "***"),
        ("spark.executorEnv.DB_PASSWORD", "two words", "***"),
        ("spark.redis.auth", "hunter2", "***"),
        (
            "spark.sql.catalog.pg.url",
            "jdbc:postgresql://me:hunter2@db/sales",
            "jdbc:postgresql://***@db/sales",
        ),
        ("spark.executorEnv.DB_CONN", "hunter2", "***"),
        ("spark.executorEnv.PASS_DB", "hunter2", "***"),
        ("spark.hadoop.fs.azure.sas.fixed.x", "hunter2", "***"),
        ("spark.sql.shuffle.partitions", "200", "200"),
    ],
)
def test_secrets_are_removed_by_name_and_by_form(name, value, shown):
    """A pattern that allows too much must not send a credential."""
    assert properties({name: value}) == {name: shown}


def test_options_of_the_jvm_are_reported_only_by_their_names():
    """They may hold a secret in any form: `spark.executor.*` is in the default."""
    name, value = "spark.executor.extraJavaOptions", "-Dtoken=hunter2 -Xss4m"
    assert properties({name: value}, ["spark.executor.*"]) == {}
    assert properties({name: value}, [name]) == {name: "-Dtoken=*** -Xss4m"}


def test_secrets_of_the_java_agents_transport_are_not_reported():
    """Airflow passes them as properties; a user may want to see the others."""
    prefix = "spark.openlineage.transport"
    secrets = {
        f"{prefix}.auth.apiKey": "Bearer hunter2",
        f"{prefix}.headers.X-Team": "hunter2",
        f"{prefix}.transports.main.headers.X-Team": "hunter2",
        f"{prefix}.url": "https://user:hunter2@backend",
    }
    reported = properties({**secrets, "spark.openlineage.parentJobName": "d.t"}, ["spark.openlineage.*"])
    assert "hunter2" not in str(reported)
    assert reported["spark.openlineage.parentJobName"] == "d.t"


def test_what_spark_has_masked_is_unknown():
    """Spark masks values that look like secrets, such as a host called `token`: they are no addresses."""
    masked = "*********(redacted)"
    application = BARE.with_settings(
        {"spark.master": masked, "spark.yarn.historyServer.address": masked}, PROPERTIES
    )
    assert (application.master, application.history_url, application.properties) == ("", "", {})


@pytest.mark.parametrize(
    ("settings", "proxy", "history"),
    [
        (
            {"spark.yarn.historyServer.address": "history:18080", "spark.app.attempt.id": "1"},
            "",
            "http://history:18080/history/application_1/1",
        ),
        (
            {"spark.yarn.historyServer.address": "https://history:18480/"},
            "",
            "https://history:18480/history/application_1",
        ),
        ({"spark.yarn.historyServer.address": "${hadoopconf-yarn.resourcemanager.hostname}:18080"}, "", ""),
        (
            {
                "spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_URI_BASES": "http://rm/proxy/1,http://b"
            },
            "http://rm/proxy/1",
            "",
        ),
        (
            {"spark.ui.reverseProxy": "true", "spark.ui.reverseProxyUrl": "https://spark/"},
            "https://spark/proxy/application_1",
            "",
        ),
        ({}, "", ""),
    ],
)
def test_pages_of_an_application(settings, proxy, history):
    """The addresses that Spark itself builds; an address with an unknown part is no address."""
    application = BARE.with_settings(settings, ())
    assert (application.proxy_url, application.history_url) == (proxy, history)


def test_details_survive_a_file():
    """What a driver writes, the worker reads."""
    usage = Usage(jobs=2, longest_stages=(StageUsage(3, execution=1, name="count at a.py:1", tasks=2),))
    application = BARE.with_settings({"spark.master": "yarn"}, PROPERTIES)
    whole = Application(**{**vars(application), "user": "etl", "usage": usage})
    assert BARE.with_details(json.loads(json.dumps(whole.details))) == whole


@pytest.mark.parametrize(
    "details",
    [
        None,
        [],
        {"master": 1, "properties": {"a": 1}, "usage": 7, "more": "x"},
        {"usage": {"longest_stages": [{"tasks": 1}, 3, None]}, "properties": None},
    ],
)
def test_details_of_another_release_cost_nothing(details):
    """A file of another release may have other fields: unknown ones are left out, without an error."""
    application = BARE.with_details(details)
    assert (application.master, application.properties) == ("", {})
    assert application.usage in (None, Usage())


def test_the_default_is_the_one_of_the_option():
    """A notebook without Airflow records the same properties as a task."""
    assert OPTIONS["spark_properties"].default == ";".join(PROPERTIES)
