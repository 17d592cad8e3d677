"""Sources written in Python have a name if their options identify the data."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.sources import OPTIONS, identify

PROVIDER = "org.apache.spark.sql.execution.datasources.v2.python.PythonTable"


def named(**options):
    (identity,) = identify({"provider": PROVIDER, "v2_table": "shop", "options": options})
    return identity


def test_options_that_place_data_are_the_name() -> None:
    """From the whole to the part, whatever order they were given in."""
    assert named(table="people", url="https://shop.example/v1").id == (
        named(url="https://shop.example/v1", table="people").id
    )
    assert named(table="people", database="crm").id.name == "crm/people"
    assert named(table="people", database="crm").id.namespace == "shop"
    assert named(path="/in/people").known


def test_a_login_does_not_belong_to_the_name() -> None:
    """Neither the login nor a request's extras tell which data it is."""
    assert named(url="https://etl:pw@shop.example/v1?token=abc").id.name == "https://shop.example/v1"


def test_without_such_options_the_name_is_the_sources_and_a_gap() -> None:
    """Two tables of one source would be one dataset: a gap says so."""
    assert named().id.name == "shop"
    assert not named().known


def test_no_option_that_may_be_a_secret_is_recorded() -> None:
    """Capture records the listed options, and nothing else that a program passes to its source."""
    assert not OPTIONS & {"password", "token", "key", "pin", "secret", "auth"}
