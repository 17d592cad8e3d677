"""Edges of seeded programs that no change of data confirmed, and those judged by hand: `judged.txt`.

An edge from a column that the program's text does not use for that output is listed whenever it is not
confirmed; others if none of their kind is, in any program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from perturbation import UNEXPLAINED
from program_runs import Outcome

FILE = Path(__file__).with_name("judged.txt")


def read() -> dict[str, str]:
    """Return the reason of each judged kind of edges."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {kind: reason.strip() for line in lines for kind, _, reason in [line.partition("  # ")]}


def unconfirmed(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return the kinds of edges that no program confirmed, with a few examples of each."""
    examples: dict[str, list[str]] = defaultdict(list)
    confirmed: set[str] = set()
    for outcome in outcomes:
        for edge, kind in outcome.perturbed.edges.items():
            if edge not in outcome.perturbed.confirmed:
                examples[kind].append(f"seed {outcome.program.seed}, {edge}")
            elif UNEXPLAINED not in kind:
                confirmed.add(kind)
    return {
        kind: "; ".join([*edges[:3], *[f"{len(edges)} in all"] * (len(edges) > 3)])
        for kind, edges in sorted(examples.items())
        if kind not in confirmed
    }
