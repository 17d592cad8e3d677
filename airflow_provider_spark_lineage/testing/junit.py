"""Writes a report as JUnit XML, which CI servers show: a test case per expected event and per relation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from airflow_provider_spark_lineage.testing.render import group_lines
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report

SUITE = "spark-lineage"


def junit(report: Report) -> str:
    """The whole document.

    The cases of classes `event` and `relation` are there whether they pass or not; those of `unexpected` and
    `readable` only where something is wrong. Several events of one key are numbered: `key`, `key (2)`.
    """
    events, related = _by_case(report)
    suite = ElementTree.Element("testsuite", name=SUITE)
    names = Counter[str]()
    for key in report.passed:
        _case(suite, "event", _numbered(key, names))
    for group in events:
        unexpected = group[0].kind is Kind.UNEXPECTED
        name = _numbered(f"{group[0].key}", names)
        case = _case(suite, "unexpected" if unexpected else "event", name)
        _add(case, "failure", group[0].kind.value, [group])
    for rule in report.relations:
        case = _case(suite, "relation", rule)
        if rule in related:
            _add(case, "failure", f"does not hold in {len(related[rule])} places", related[rule])
    for number, problem in enumerate(report.problems, 1):
        _add(_case(suite, "readable", f"problem {number}"), "error", problem, ())
    for count in ("failure", "error"):
        suite.set(f"{count}s", str(len(suite.findall(f"testcase/{count}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    ElementTree.SubElement(suite, "system-out").text = _printable(report.text())
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


Group = tuple[Difference, ...]


def _by_case(report: Report) -> tuple[list[Group], dict[str, list[Group]]]:
    """The differences of each event that is not as expected, and of each relation that does not hold."""
    events: list[Group] = []
    related: dict[str, list[Group]] = {}
    for group in report.by_event():
        if group[0].kind is Kind.RELATION:
            related.setdefault(group[0].rule, []).append(group)
        else:
            events.append(group)
    return events, related


def _numbered(name: str, seen: Counter[str]) -> str:
    seen[name] += 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


def _case(suite: ElementTree.Element, classname: str, name: str) -> ElementTree.Element:
    attributes = {"classname": f"{SUITE}.{classname}", "name": _printable(name), "time": "0"}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _add(case: ElementTree.Element, kind: str, message: str, groups: Iterable[Group]) -> None:
    element = ElementTree.SubElement(case, kind, message=_printable(message), type=kind)
    element.text = _printable("\n".join(line.text for group in groups for line in group_lines(group)))


def _printable(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, escaped or not; half of a surrogate pair could not even be encoded."""
