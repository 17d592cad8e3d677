"""A probe: which facts to read from the live objects of one kind of plan node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Tuple, Union


@dataclass(frozen=True)
class Probe:
    """Facts to read from the live objects of one kind of plan node.

    `accessors` maps a fact's name to a path through objects, in the small language that docs/design.md
    describes ("The language of probes"); `tests/sources/probe_paths.py` parses it. If a Spark version lacks a
    member of a path, the fact is left out. If several probes match a node, only the first one is read: it
    must list every fact that the source needs.

    >>> Probe("LogicalRelation", {"paths": "relation.location.rootPaths[]"}, relation="HadoopFsRelation").of
    'relation'
    """

    node: str
    """Simple class name of the plan node."""

    accessors: Mapping[str, str]
    relation: str = ""
    """Simple class name of the object at `of`, if several sources share one node class; `*` is any."""

    of: str = "relation"
    """Path to the object whose class distinguishes sources."""

    target: bool = False
    """The node is a command that writes, not a leaf that is read."""

    before: bool = False
    """Read before the command runs: existence of its table, or dropped objects, which are lost afterwards."""

    when: Tuple[str, ...] = ()
    """(field of the node's JSON, simple name of the Scala object that it must have), if any."""


Names = Union[str, Tuple[str, ...]]
"""One simple class name, or several that have the same probe."""


def read(
    nodes: Names, accessors: Mapping[str, str], *, relation: Names = "", **more: Any
) -> Tuple[Probe, ...]:
    """Return a probe for each node and each class of the relation; `more` are other fields of `Probe`."""
    return tuple(Probe(node, accessors, each, **more) for node in _each(nodes) for each in _each(relation))


def write(nodes: Names, accessors: Mapping[str, str], **more: Any) -> Tuple[Probe, ...]:
    """Return the same for commands: their facts describe the table that they write or change."""
    return read(nodes, accessors, target=True, **more)


def _each(names: Names) -> Tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
