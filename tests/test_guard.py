"""The place where exceptions of lineage code end: the text that is logged, and the text that is withheld."""

from __future__ import annotations

import logging

import pytest

from airflow_provider_spark_lineage.spark.capture.this_process import Capture
from airflow_provider_spark_lineage.spark.guard import harmless, told_elsewhere, withhold

WORDS = "cannot parse select 'ordinary-literal-4711'"


def said(problems: list[str]) -> None:
    with harmless("a plan could not be read", problems):
        raise ValueError(WORDS)


def test_the_reason_of_a_failure_is_given(caplog: pytest.LogCaptureFixture) -> None:
    """A gap without a reason cannot be fixed by its reader."""
    problems: list[str] = []
    with caplog.at_level(logging.DEBUG):
        said(problems)
    assert problems == [f"a plan could not be read: ValueError: {WORDS}"]
    assert "Traceback" in caplog.text


def test_a_reason_that_may_repeat_a_literal_is_kept_back(caplog: pytest.LogCaptureFixture) -> None:
    """Neither the log nor a gap repeats text that `sql_text` withholds."""
    problems: list[str] = []
    withhold(1)
    try:
        with caplog.at_level(logging.DEBUG):
            said(problems)
    finally:
        withhold(-1)
    assert problems == ["a plan could not be read: ValueError"]
    assert "ordinary-literal" not in caplog.text


@pytest.mark.parametrize("sql_text", ["full", "masked", "none"])
def test_reasons_are_repeated_when_the_capture_has_ended(sql_text: str) -> None:
    """The setting of one capture is not that of the next, however often it is ended."""
    capture = Capture(lambda record: None, sql_text=sql_text)
    capture.arm()
    during: list[str] = []
    said(during)
    capture.disarm()
    capture.disarm()
    afterwards: list[str] = []
    said(afterwards)
    assert (WORDS in during[0]) == (sql_text == "full")
    assert WORDS in afterwards[0]


def test_a_loss_that_another_process_tells_is_not_told_again(caplog: pytest.LogCaptureFixture) -> None:
    """A task computes its lineage once for the event, in a forked child, and once for the viewer."""
    problems: list[str] = []
    with told_elsewhere():
        said(problems)
    assert (caplog.text, len(problems)) == ("", 1)
    said([])
    assert "a plan could not be read" in caplog.text
