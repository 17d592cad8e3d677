"""The result of a policy: what breaks its rules, and what cannot be excluded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.shapes import Id

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.openlineage.graph.current import JobWrite
    from airflow_provider_spark_lineage.openlineage.graph.model import PathStep


class Place(NamedTuple):
    """A place on a path, with the edge that leads to it from the place before."""

    dataset: Id
    field: str | None
    """None means all rows of the dataset."""
    type: str = ""
    """`DIRECT`, `INDIRECT`, `ROWS`, or `READ` and `WRITE` of a whole dataset; empty at most first places."""
    subtype: str = ""
    masking: bool = False
    write: JobWrite | None = None
    """The write that the edge is of."""

    @classmethod
    def after(cls, step: PathStep) -> Place:
        """Return the place where a step of the graph ends."""
        target = step.target
        return cls(target.dataset, target.field, step.type, step.subtype, step.masking, step.write)

    def document(self) -> dict[str, Any]:
        """Return the place as JSON."""
        write = self.write
        return {
            "namespace": self.dataset[0],
            "name": self.dataset[1],
            "field": self.field,
            "type": self.type or None,
            "subtype": self.subtype or None,
            "masking": self.masking,
            "job": {"namespace": write.job.namespace, "name": write.job.name} if write else None,
            "run": {"id": write.run.id, "time": write.run.time} if write else None,
        }


@dataclass(frozen=True)
class PolicyFinding:
    """A column, or all rows of a dataset if `field` is None, that breaks a rule or may do so."""

    rule: str
    condition: str
    """The key of the rule's condition, for example `must_not_contain`."""
    dataset: Id
    field: str | None
    path: tuple[Place, ...]
    """From the source, the first, to the column, the last."""
    reason: str
    fails: bool = True
    gap: str | None = None
    """Kind of the gap that is the reason, as events name it."""

    def document(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "rule": self.rule,
            "condition": self.condition,
            "namespace": self.dataset[0],
            "name": self.dataset[1],
            "field": self.field,
            "reason": self.reason,
            "gap": self.gap,
            "path": [place.document() for place in self.path],
        }


@dataclass(frozen=True)
class PolicyReport:
    """The result of a policy."""

    violations: tuple[PolicyFinding, ...]
    unknown: tuple[PolicyFinding, ...]
    """What cannot be excluded, because something is not known; each fails if its rule says so."""
    warnings: tuple[str, ...]
    """Sentences about the policy, as about a pattern that matches nothing."""
    checked: tuple[tuple[str, Id], ...] = ()
    """Each rule with each of its datasets."""

    @property
    def ok(self) -> bool:
        """Return whether nothing breaks a rule."""
        return not self.violations and not any(each.fails for each in self.unknown)

    @property
    def failures(self) -> tuple[PolicyFinding, ...]:
        """The violations, and what cannot be excluded where the rule does not accept it."""
        return (*self.violations, *(each for each in self.unknown if each.fails))

    def document(self) -> Mapping[str, Any]:
        """Return the result as JSON."""
        return {
            "violations": [each.document() for each in self.violations],
            "unknown": [{**each.document(), "fails": each.fails} for each in self.unknown],
            "warnings": [*self.warnings],
        }
