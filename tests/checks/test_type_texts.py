"""Types of expected columns are read when a DAG is parsed: what Spark accepts, and nothing else."""

from __future__ import annotations

import pytest
from checks.spark_types import ACCEPTED, ACCEPTED_SINCE_SPARK_4, REFUSED

from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks
from airflow_provider_spark_lineage.spark.checks.type_texts import type_text


@pytest.mark.parametrize(("text", "form"), {**ACCEPTED, **ACCEPTED_SINCE_SPARK_4}.items())
def test_a_type_of_spark_is_accepted_in_any_spelling(text, form):
    """Case, blanks, other names, NOT NULL and comments make no difference; the form is read as itself."""
    assert type_text(text) == form
    assert type_text(text.upper()) == form
    row_checks({"shape": {"columns": {"a": text}}})


@pytest.mark.parametrize(("text", "problem"), REFUSED.items())
def test_another_text_is_refused_in_one_sentence_with_the_cure(text, problem):
    """A DAG with such a text is not parsed: the task never runs."""
    with pytest.raises(ValueError, match="shape: ") as error:
        row_checks({"shape": {"columns": {"id": "int", "a": text}}})
    sentence = str(error.value)
    assert sentence.startswith(f"shape: the type of a is {text!r}; {problem}")
    assert sentence.endswith(".")


def _leaves(kind):
    """Yield PySpark's classes of types without parts; a new release's are among them."""
    from pyspark.sql import types

    parts = (types.ArrayType, types.MapType, types.StructType, types.StructField, types.UserDefinedType)
    below = [each for each in kind.__subclasses__() if each.__module__ == types.__name__]
    if not below and kind not in parts:
        yield kind
    for each in below:
        if not issubclass(each, types.UserDefinedType):
            yield from _leaves(each)


def printed_by_pyspark():
    """Yield instances of PySpark's types, each class by itself and inside others."""
    from pyspark.sql import types

    examples = {
        types.CharType: [types.CharType(3)],
        types.VarcharType: [types.VarcharType(3)],
        types.DecimalType: [types.DecimalType(38, 18)],
        types.DayTimeIntervalType: [
            types.DayTimeIntervalType(first, last) for first in range(4) for last in range(first, 4)
        ],
        types.YearMonthIntervalType: [
            types.YearMonthIntervalType(first, last) for first in range(2) for last in range(first, 2)
        ],
    }
    for name in ("GeographyType", "GeometryType"):
        if kind := getattr(types, name, None):
            examples[kind] = [kind(4326), kind("ANY")]
    plain = [each for kind in _leaves(types.DataType) for each in examples.get(kind) or [kind()]]
    yield from plain
    for each in plain:
        yield types.ArrayType(each)
        yield types.MapType(types.StringType(), each)
        fields = [types.StructField(name, each) for name in ("a", "a b", "sum(a)", "it's", "int", "a.b-c")]
        yield types.StructType([*fields, types.StructField("z", types.ArrayType(types.StructType(fields)))])


def test_what_pyspark_prints_of_a_type_is_accepted():
    """Also names of fields that it does not quote; a text of a schema can be copied into a check."""
    texts = [each.simpleString() for each in printed_by_pyspark()]
    assert len(texts) > 100, texts
    for text in texts:
        is_text_of_length = "char(" in text
        assert is_text_of_length or type_text(text) == text.lower()
        row_checks({"shape": {"columns": {"a": text}}})


def test_a_name_that_no_type_text_can_have_is_compared_as_it_is():
    """A frame's own type never raises: it is then unlike every expected type."""
    from airflow_provider_spark_lineage.spark.checks.checks import findings_of, measures_of
    from airflow_provider_spark_lineage.spark.checks.measuring import Measured

    checks = row_checks({"shape": {"columns": {"a": "struct<b:int>"}}})
    [key] = measures_of(checks, {})
    findings = findings_of(checks, {key: Measured([("a", "struct<<b>:int>")])}, {}, clause="", of_dataset="t")
    assert [each.success for each in findings.assertions] == [False]
