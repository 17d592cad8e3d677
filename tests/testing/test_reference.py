"""The expected files of Airflow's own system tests: accepted here as there, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from testing.whole_run import whole_run

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Expected,
    Kind,
    Report,
    compare,
    read_expected,
)

KEY = "dag.task.event.start"
UUID = "018f3a5e-7d2b-7c43-8f6a-2b1d0c9e8f7a"


def start(task: str = "task", kind: str = "START", **values: Any) -> dict[str, Any]:
    return {"eventType": kind, "run": values, "job": {"name": f"dag.{task}"}}


def check(template: Any, *events: dict[str, Any], **options: Any) -> Report:
    """One template, or several, against the `run` of events that are sketches."""
    expected = Expected.of_templates({KEY: template}, **options)
    return compare(expected, Events.of(events), without=RELATIONS)


def accepts(template: Any, actual: Any) -> bool:
    report = check({"run": {"v": template}}, start(v=actual))
    assert report.ok or report.text()
    return report.ok


TIMES = "2024-05-01T10:00:00+00:00", "2024-05-01 10:00:00.123456", "2024-05-01T10:00:00Z"
TEMPLATES: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = [
    ("text", ("text",), ("texts", 1, None)),
    (1, (1, 1.0), ("1", True, None)),
    (True, (True,), (1, "True")),
    (False, (False,), (0, None)),
    ({}, ({}, {"a": 1}), ([], "x", None)),
    ({"a": {"b": 1}}, ({"a": {"b": 1, "c": 2}},), ({}, {"a": {}}, {"a": {"b": 2}})),
    ({"a": None}, ({}, {"b": 1}), ({"a": None}, {"a": 1})),
    ([], ([],), ({}, [1], None)),
    ([1, {"a": 2}], ([1, {"a": 2, "b": 3}],), ([1], [{"a": 2}, 1], [1, {"a": 2}, 3])),
    ([{"name": "a"}, {"name": "b"}], ([{"name": "a"}, {"name": "b"}],), ([{"name": "b"}, {"name": "a"}],)),
    (
        {"a": {"$optional": "x", "b": 1}},
        ({}, {"a": []}, {"a": {"b": 1}}),
        ({"a": {"b": 2}}, {"a": {}}, {"a": None}),
    ),
    (
        {"a": {"$optional": "x", "$value": [1]}},
        ({}, {"a": []}, {"a": [1]}),
        ({"a": [2]}, {"a": [1, 1]}, {"a": None}),
    ),
    ({"a": {"$optional": "x", "$value": "{{ is_uuid(result) }}"}}, ({}, {"a": UUID}), ({"a": "x"},)),
    ("{{ is_uuid(result) }}", (UUID, UUID.upper()), ("no", 1, None, [])),
    ("{{ is_datetime(result) }}", TIMES, ("yesterday", "2024-13-01T10:00:00Z", "", "2024", 5, None)),
    ("{{ is_datetime(result) }}", ("2024-05-01", "2024-05-01 10:00", "2024-05-01T10:00Z"), ("2024-02-30",)),
    ("{{ regex_match(result, '^a+') }}", ("a", "aab"), ("ba", "", 1, None)),
    ("{{ regex_match(result, 'a+$') }}", ("aa",), ("ab", "ba")),
    ("{{ any(result) }}", ("x", "", True), ()),
    ("{{ is_uid(result) }}", (), (UUID, "")),
    ("{{ nothing }}", (), ("", "x", None)),
    ("{{ not_match(result, 'secret') }}", ("open", ""), ("a secret", 1, None)),
    ("{{ result is string }}", ("x",), (1, None)),
    ("{{ result is number }}", (1, 0.5), ("1",)),
    ("{{ result == true }}", (True,), (False, "true ", 2)),
    ("{{ result.endswith('/dag.py') }}", ("/x/dag.py",), ("/x/dag.pyc", 1, None)),
    ("{{ result.split(', ') | sort == ['a', 'b'] }}", ("b, a", "a, b"), ("a", "a, b, c")),
    (
        "{{ result | map(attribute='name') | list | sort == ['a', 'b'] }}",
        ([{"name": "b"}, {"name": "a"}],),
        ([], None),
    ),
    ("{{ result | url_path }}", ("/key",), ("s3://bucket/key", 1)),
    (
        "{{ (result | url_scheme_authority) == 's3://bucket' }}",
        ("s3://bucket/key",),
        ("s3://buckets/key", "/key", 5),
    ),
    ("x-{{ env_var('OL_TEST', 'b') }}", ("x-b",), ("x-", "x-c")),
    ("{{ env_var('OL_TEST_UNSET') }}", (), ("", "x")),
    ("{{ result ~ '' }}", ("TRUE", "x"), (1,)),
    ("{% if true %}true{% endif %}", ("{% if true %}true{% endif %}",), ("x",)),
]


@pytest.mark.parametrize(
    ("template", "good", "bad"), TEMPLATES, ids=[str(case[0])[:50] for case in TEMPLATES]
)
def test_accepts_and_refuses(template, good, bad):
    """Each form accepts its own values and refuses their nearest neighbours."""
    for actual in good:
        assert accepts(template, actual), actual
    for actual in bad:
        assert not accepts(template, actual), actual


def test_places_are_named():
    """A difference has its place, the wanted value and the actual one."""
    template = {"run": {"list": [{"id": "{{ is_uuid(result) }}"}], "gone": None, "x": {"y": 1}}}
    report = check(template, start(list=[{"id": "no"}], gone=1))
    assert (
        report.text()
        == f"""\
changed     {KEY}  (event 1)
  run.list[0].id does not match the template, which renders "false"
    expected  "{{{{ is_uuid(result) }}}}"
    actual    "no"
  run.gone must be absent
    expected  !absent
    actual    1
  run.x is absent
    expected  {{y: 1}}
    actual    (absent)

0 events match, 1 differs"""
    )


def file_of(tmp_path: Path, *templates: Any, name: str = "dag.json") -> Path:
    file = tmp_path / name
    file.write_text(json.dumps(templates), encoding="utf-8")
    return file


def test_an_array_is_recognised(tmp_path):
    """A JSON array is read as Airflow reads it: key from job name and type, several of one key in order."""
    job = {"name": "dag.task"}
    first, second = ({"eventType": "START", "job": job, "run": {"v": number}} for number in (1, 2))
    absent = {"$absent": "it is skipped", "eventType": "FAIL", "job": job}
    expected = read_expected(file_of(tmp_path, first, second, absent))
    assert (
        compare(expected, Events.of([start(v=1), start(v=2)]), without=RELATIONS).summary
        == "3 events match, 0 differ"
    )
    turned = compare(expected, Events.of([start(v=2), start(v=1)]), without=RELATIONS)
    assert [entry.path for entry in turned.differences] == ["run.v", "run.v"]


def test_a_folder_of_both_forms(tmp_path):
    """Files of both forms may be in one folder; the same key in two of them is refused."""
    file_of(tmp_path, {"eventType": "START", "job": {"name": "dag.task"}})
    (tmp_path / "own.yaml").write_text("dag.other.event.start: {}\n")
    expected = read_expected(tmp_path)
    assert (
        compare(expected, Events.of([start(), start("other")]), without=RELATIONS).summary
        == "2 events match, 0 differ"
    )
    (tmp_path / "own.yaml").write_text(f"{KEY}: {{}}\n")
    with pytest.raises(BadInputError, match=r"is also expected in .*dag\.json"):
        compare(read_expected(tmp_path), Events.of([]))


def test_the_last_event_counts():
    """One template applies to the last event of its key, and to the only one unless a count says more."""
    first, second = start(v=1), start(v=2)
    assert check({"run": {"v": 2}}, second).ok
    report = check({"run": {"v": 2}}, first, second)
    assert [(item.kind, item.where, item.reason) for item in report.differences] == [
        (Kind.UNEXPECTED, "event 1", "2 with this key were emitted, 1 expected")
    ]
    assert check({"run": {"v": 2}}, first, second, counts={"dag.*": ">=2"}).ok
    assert not check({"run": {"v": 1}}, first, second, counts={"dag.*": ">=2"}).ok


def test_several_templates_are_an_event_each_whatever_counts_say():
    """One template covers all repetitions of an event; of several each needs its event."""
    templates, counts = [{}, {}, {}], {".*": ">=1"}
    assert not check(templates, start(), counts=counts).ok
    assert check(templates, start(), start(), start(), counts=counts).ok


@pytest.mark.parametrize(
    ("count", "good"),
    [("2", (2,)), (2, (2,)), ("==2", (2,)), (" >= 2 ", (2, 3, 4)), ("<=2", (1, 2)), ("0", (0,))],
)
def test_counts(count, good):
    """A count of events is checked with and without a sign; the first expression over the whole key wins.

    One must be there even so: a template that is compared with none proves nothing.
    """
    for number in range(5):
        counts = {"dag": "7", r"dag\.task\.event\.start": count, ".*": "9"}
        report = check({}, *[start()] * number, start("other"), counts=counts)
        assert report.ok == (number in good), number


def test_too_few_are_missing():
    """Fewer events than templates or counts want are missing, with both numbers."""
    report = check([{}, {}, {}], start())
    assert [(entry.kind, entry.reason) for entry in report.differences] == [
        (Kind.MISSING, "1 with this key were emitted, 3 expected")
    ] * 2
    (difference,) = check({}, start(), counts={".*": ">=2"}).differences
    assert (difference.kind, difference.reason) == (
        Kind.MISSING,
        "1 with this key were emitted, >=2 expected",
    )
    (difference,) = check({}, start("tasks")).differences
    assert difference.reason == "no event with this key was emitted"


def test_events_are_sorted_on_demand():
    """Mapped tasks emit in any order; the caller may give a key to sort by."""
    events = [start(v=number) for number in (2, 0, 1)]
    templates = [{"run": {"v": number}} for number in range(3)]
    assert not check(templates, *events).ok
    assert check(templates, *events, sort=lambda event: event["run"]["v"]).ok


def test_absent_events():
    """An event that must be absent is reported with the reason that the file gives."""
    assert check({"$absent": "it is skipped"}, start("other")).ok
    (difference,) = check({"$absent": "it is skipped"}, start()).differences
    assert (difference.kind, difference.reason) == (Kind.UNEXPECTED, "must not be emitted: it is skipped")


@pytest.mark.parametrize("order", [1, -1])
def test_a_key_is_absent_or_expected(tmp_path, order):
    """Both at once mean nothing, in whichever order: neither silently wins."""
    event = {"eventType": "FAIL", "job": {"name": "dag.task"}}
    templates = [event, {**event, "$absent": "it is skipped"}][::order]
    message = r"`dag\.task\.event\.fail`: has `\$absent` .* beside another template\.$"
    with pytest.raises(BadInputError, match=message):
        read_expected(file_of(tmp_path, *templates))
    with pytest.raises(BadInputError, match=message):
        Expected.of_templates({"dag.task.event.fail": templates})


def test_absence_proves_nothing_where_nothing_was_emitted():
    """Without any event every absent one would be absent by accident."""
    report = check({"$absent": "it is skipped"})
    assert not report.ok
    assert "No events at all" in report.text()


def test_other_keys_are_not_compared():
    """The file is about its keys only; other events are counted."""
    report = check({}, start(), start("other"), start("another"))
    assert report.ok
    names = "  dag.another.event.start\n  dag.other.event.start"
    assert f"2 events of keys with no expectation, not compared:\n{names}\n" in report.text()


def test_relations_hold_for_whole_runs():
    """For a file that names START alone a missing end is no problem, but a broken run of its DAG is."""
    expected = Expected.of_templates({"shop.load.event.start": {"run": {"runId": "{{ is_uuid(result) }}"}}})
    events = whole_run()
    assert compare(expected, Events.of(events)).ok
    del events[4]
    assert compare(expected, Events.of(events)).broken == ("one_terminal",)


def test_a_run_that_is_not_in_scope_may_go_on():
    """For a file that names one run another unfinished one is no problem; the events of that are judged."""
    expected = Expected.of_templates({"shop.event.complete": {"eventType": "COMPLETE"}})
    events = whole_run()
    del events[4]
    assert compare(expected, Events.of(events)).ok
    assert compare(Expected.of({event.key: {} for event in Events.of(events)}), Events.of(events)).broken
    events[0]["eventTime"] = "yesterday"
    assert compare(expected, Events.of(events)).broken == ("schemas",)


def test_counted_keys_may_come_again():
    """If a count allows several events of a key, a second START of a run is expected."""
    events = whole_run()
    events.insert(2, {**events[1], "eventTime": "2024-05-01T10:00:02.9Z"})
    templates = {"shop.load.orders.event.start": {}}
    assert compare(Expected.of_templates(templates, counts={".*start": ">=2"}), Events.of(events)).ok
    assert "unique_keys" in compare(Expected.of_templates(templates), Events.of(events)).broken


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", r"dag\.json, line 1: not JSON"),
        ("[]", "expects no events"),
        ("[1]", "event 1: not a JSON object but an integer"),
        ('[{"eventType": "START"}]', "event 1: it needs `job.name` and `eventType`"),
        (
            '[{"eventType": "STRAT", "job": {"name": "d.t"}}]',
            "`STRAT` is not an event type; did you mean `start`",
        ),
        (
            '[{"eventType": "START", "job": {"name": "d.t", "name": "d.t"}}]',
            "the key `name` is written twice",
        ),
        (
            '[{"eventType": "START", "job": {"name": "d.t", "n": "{{ result | url_pth }}"}}]',
            "not a Jinja template",
        ),
        ('[{"eventType": "START", "job": {"name": "d.t", "n": "{{ result"}}]', "not a Jinja template"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    """A value without a meaning is refused before a comparison, with file and place."""
    (tmp_path / "dag.json").write_text(content)
    with pytest.raises(BadInputError, match=message):
        read_expected(tmp_path / "dag.json")


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("reason", [None, True, 5, {}])
def test_absence_has_a_reason(reason, several):
    """Otherwise the event would be expected, with a key of that name, and its presence passed."""
    template = {"$absent": reason}
    with pytest.raises(BadInputError, match=r"has "):
        Expected.of_templates({KEY: [template, {}] if several else template})


@pytest.mark.parametrize("count", [">=0", "<=2"])
def test_a_count_that_allows_none_does_not_excuse_a_template(count):
    """Unlike there: a template that is compared with nothing proves nothing."""
    (difference,) = check({}, counts={".*": count}).differences
    assert difference.kind is Kind.MISSING


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({".*": "=>2"}, "`=>2` is not a count"),
        ({".*": True}, "is not a count"),
        ({"(": "1"}, "is not a regular expression"),
    ],
)
def test_bad_counts_are_refused(counts, message):
    """A wrong count would be ignored otherwise."""
    with pytest.raises(BadInputError, match=message):
        check({}, start(), counts=counts)


def test_variables_of_ours_are_left_alone():
    """`${NAME}` is not a notation of these files."""
    assert accepts("${NAME}", "${NAME}")
