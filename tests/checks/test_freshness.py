"""The age of the newest value, against the time of a run."""

from __future__ import annotations

import datetime

import pendulum
import pytest

from airflow_provider_spark_lineage.spark.checks.freshness import age, moment_of_run

UTC = datetime.timezone.utc
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=UTC)
TOKYO = datetime.timezone(datetime.timedelta(hours=9))


def us(time):
    return (time - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1)


def found(within, newest, **given):
    return age("freshness", {"within": within, **given}, newest, moment_of_run(NOON))


@pytest.mark.parametrize(
    ("within", "age_seconds", "success", "actual"),
    [
        ("24 hours", 3600, True, "1 hour"),
        ("24 hours", 24 * 3600, True, "24 hours"),
        # A text that is rounded down would look fresh.
        ("24 hours", 24 * 3600 + 0.000001, False, "24 hours 1 second"),
        ("1 day 12 hours", 36 * 3600 + 1, False, "36 hours 1 second"),
        ("2 weeks", 20 * 86_400, False, "20 days"),
        (datetime.timedelta(minutes=5), 301, False, "5 minutes 1 second"),
        # A run of an earlier interval, made now, sees later values.
        ("24 hours", -7200, True, "-2 hours"),
        ("24 hours", 0, True, "0 seconds"),
    ],
)
def test_an_age_is_compared_exactly(within, age_seconds, success, actual):
    """And is shown in full seconds, rounded up."""
    result = found(within, us(NOON - datetime.timedelta(seconds=age_seconds)))
    assert (result.success, result.actual) == (success, actual)


def test_the_result_tells_the_times_with_their_zone():
    """Whatever the zone of the run's time is."""
    newest = us(NOON - datetime.timedelta(hours=30))
    # Airflow's times are of pendulum's class.
    for time in (
        NOON,
        NOON.astimezone(TOKYO),
        pendulum.instance(NOON),
        pendulum.instance(NOON, "Asia/Tokyo"),
    ):
        result = age("freshness", {"within": "24 hours"}, newest, moment_of_run(time))
        assert result.expected == "<=24 hours"
        assert result.params == {
            "within": "24 hours",
            "against": "data_interval_end",
            "at": "2026-01-31T12:00:00+00:00",
            "newest": "2026-01-30T06:00:00+00:00",
        }


def test_a_run_without_an_interval_is_compared_with_now():
    """A run by hand may have none; a check may ask for now, or for a time of its own."""
    newest = us(datetime.datetime.now(UTC) - datetime.timedelta(hours=1))
    without = age("freshness", {"within": "24 hours"}, newest, moment_of_run(None))
    assert (without.success, without.params["against"]) == (True, "now")
    assert found("24 hours", newest, against="now").params["against"] == "now"
    given = found("1 hour", us(NOON), against="2026-01-31T14:00:00+01:00")
    assert (given.success, given.actual, given.params["against"]) == (True, "1 hour", "given")
    late = found("1 hour", us(NOON), against="2026-01-31T14:00:00Z")
    assert (late.success, late.actual) == (False, "2 hours")


def test_without_a_value_nothing_is_fresh():
    """An empty table fails, as opposed to the checks of Airflow."""
    result = found("24 hours", None)
    assert (result.success, result.actual) == (False, "no value")
    assert "newest" not in result.params


def test_a_year_that_python_does_not_have_is_no_exception():
    """Spark has the year 12000."""
    result = found("24 hours", 10**12 * 316_000)
    assert (result.success, result.params["newest"]) == (True, "out of range")
