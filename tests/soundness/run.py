"""Proves the lineage of every query, shows how far it is, and prints how precise the edges are.

python tests/soundness/run.py                    all queries: `make soundness`
python tests/soundness/run.py joins "frames: p"  those whose names contain one of these
python tests/soundness/run.py --capture          only compare their lineage with `expected/`, in minutes
python tests/soundness/run.py --accept           write `expected/`: read the difference before committing it
python tests/soundness/run.py --readers          only look for columns that event logs or Connect lose
python tests/soundness/run.py --programs         only compare seeded programs with their lineage
python tests/soundness/run.py --checks           only compare seeded checks with the rows that were written
python tests/soundness/run.py --seeds 17 1000-1020 these programs alone; `--once`: not on changed data
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checked_frames
import expected
import judged
import readers
import session
from program_runs import Outcome, Runner
from programs import ALL, Program, of_seed
from prover import Query, Verdict, proving
from query_set import queries
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from wide_programs import WIDE, wide_of_seed

EVERY = (*ALL, *WIDE)
"""The seeds of all programs."""

PROGRAMS_OF_A_SESSION = 40
"""Programs leave streams and caches in their session, which has 2 GB."""

console = Console(highlight=False)


def main(arguments: list[str]) -> int:
    """Return the exit code: 1 where an edge is missing, a query breaks, or the lineage is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only queries whose names contain one of these")
    parser.add_argument("--capture", action="store_true", help="compare lineage with expected/ alone")
    parser.add_argument("--accept", action="store_true", help="capture, and write expected/")
    parser.add_argument("--readers", action="store_true", help="read event logs and Connect alone")
    parser.add_argument("--programs", action="store_true", help="run the seeded programs alone")
    parser.add_argument("--checks", action="store_true", help="run the seeded checks alone")
    parser.add_argument("--seeds", nargs="+", help="run these programs alone: 17 200-220")
    parser.add_argument("--once", action="store_true", help="run programs on unchanged data alone")
    options = parser.parse_args(arguments)
    if options.programs or options.seeds:
        seeds = _seeds(options.seeds) if options.seeds else EVERY
        return prove_programs(seeds, perturb=not options.once)
    if options.checks:
        return prove_checks(checked_frames.ALL)
    chosen = [
        query for query in queries() if not options.names or any(name in query.name for name in options.names)
    ]
    if options.readers:
        return ask_readers(chosen)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        capture_only = options.capture or options.accept
        verdicts: list[Verdict] = []
        broken: list[str] = []
        for lakes in (False, True):
            some = [query for query in chosen if query.on_lakes is lakes]
            if some and lakes and not session.has_lakes():
                console.print(f"[yellow]skipped[/yellow] {len(some)}: no Delta or Iceberg for this Spark")
            elif some:
                with proving(Path(folder), lakes) as prover:
                    step = prover.capture if capture_only else prover.prove
                    go_through(some, step, verdicts, broken)
    texts = {verdict.query.name: verdict.text for verdict in verdicts}
    if options.accept:
        expected.write(expected.read() | texts)
        return 1 if broken else 0
    wanted = expected.read()
    differ = [name for name, text in texts.items() if text != wanted.get(name)]
    for name in differ:
        console.print(f"[red]not as expected[/red] {escape(name)}\n{escape(texts[name])}", soft_wrap=True)
    if not capture_only:
        show_figures(verdicts)
    missing = sum(len(verdict.problems) for verdict in verdicts)
    console.print(
        f"{len(verdicts)} queries, {sum(verdict.runs for verdict in verdicts)} runs in"
        f" {time.monotonic() - started:.0f} s: {missing} edges missing,"
        f" {len(differ)} lineages not as expected, {len(broken)} queries broken",
        style="bold red" if missing or differ or broken else "bold green",
    )
    failed = bool(missing or differ or broken)
    if not (options.names or capture_only):
        failed |= bool(ask_readers(chosen)) | bool(prove_programs(EVERY))
        failed |= bool(prove_checks(checked_frames.ALL))
    return 1 if failed else 0


def _program(seed: int) -> Program:
    return wide_of_seed(seed) if seed in WIDE else of_seed(seed)


def _seeds(given: list[str]) -> list[int]:
    """Return the numbers in a list like `17 200-220`."""
    ranges = [text.partition("-")[::2] for text in given]
    return [seed for first, last in ranges for seed in range(int(first), int(last or first) + 1)]


def ask_readers(chosen: list[Query]) -> int:
    """Ask other readers for the queries' lineage, print their losses, and return the exit code."""
    lost = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for answers in readers.readings(chosen, Path(folder)):
            for each in answers:
                if each.silent or not each.text:
                    lost += 1
                    what = f"nothing of {', '.join(each.silent)}" if each.text else "not its output"
                    console.print(f"[red]lost[/red] {each.reader}, {escape(each.query.name)}: {what}")
            equal = sum(each.is_equal for each in answers)
            gaps = sum("\ngap " in each.text and not each.is_equal for each in answers)
            reader = answers[0].reader if answers else "reader"
            console.print(
                f"{reader}: {len(answers)} queries, {equal} as in a session, {gaps} others have a gap"
            )
    return 1 if lost else 0


def run_programs(programs: Sequence[Program], lakes: bool, *, perturb: bool) -> Iterator[Outcome]:
    """Run programs in a session of their own, and print each that its lineage does not agree with."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        runner = Runner(session.start(Path(folder), lakes), Path(folder), lakes)
        try:
            for program in programs:
                outcome = runner.outcome(program, perturb=perturb)
                if outcome.differences:
                    console.print(f"[red]differs[/red] {escape(str(outcome))}", soft_wrap=True)
                yield outcome
        finally:
            runner.spark.stop()


def prove_programs(seeds: Sequence[int], *, perturb: bool = True) -> int:
    """Run seeded programs, print each that its lineage does not agree with, and return the exit code."""
    began = time.monotonic()
    outcomes: list[Outcome] = []
    for lakes in (False, True):
        chosen = [program for seed in seeds if (program := _program(seed)).lakes is lakes]
        if not chosen or (lakes and not session.has_lakes()):
            console.print(f"[yellow]not run[/yellow] {len(chosen)} programs {'on lakes' * lakes}")
            continue
        # Ctrl-C ends the run, and shows what it has proven.
        with contextlib.suppress(KeyboardInterrupt):
            for first in range(0, len(chosen), PROGRAMS_OF_A_SESSION):
                part = chosen[first : first + PROGRAMS_OF_A_SESSION]
                for outcome in run_programs(part, lakes, perturb=perturb):
                    outcomes.append(outcome)  # one by one, so that those before Ctrl-C stay
                minutes = (time.monotonic() - began) / 60
                done = min(first + PROGRAMS_OF_A_SESSION, len(chosen))
                console.print(f"{done} of {len(chosen)} programs after {minutes:.1f} min")
    unjudged = show_changes(outcomes) if perturb else 0
    wrong = sum(bool(outcome.differences) for outcome in outcomes)
    gaps = sum(bool(outcome.gaps) for outcome in outcomes)
    console.print(
        f"{len(outcomes)} programs in {time.monotonic() - began:.0f} s: {wrong} differ from disk, catalog or"
        f" changed data, {gaps} have gaps, {unjudged} kinds of edges are neither confirmed nor judged",
        style="bold red" if wrong or unjudged else "bold green",
    )
    return 1 if wrong or unjudged else 0


def show_changes(outcomes: list[Outcome]) -> int:
    """Print what changed data proved; return the number of kinds of edges to be judged."""
    every = [outcome.perturbed for outcome in outcomes]
    edges, sure = sum(len(each.edges) for each in every), sum(len(each.confirmed) for each in every)
    console.print(
        f"{sum(each.runs for each in every)} runs on changed data, {sum(len(each.refused) for each in every)}"
        f" of them refused; {sure} of {edges} edges confirmed"
    )
    listed = judged.unconfirmed(outcomes)
    reasons = judged.read()
    for kind, examples in listed.items():
        if kind not in reasons:
            console.print(
                f"[yellow]not confirmed[/yellow] {escape(kind)}: {escape(examples)}", soft_wrap=True
            )
    return len(listed.keys() - reasons.keys())


def prove_checks(seeds: Sequence[int]) -> int:
    """Write checked frames after seeded steps, print false results, and return the exit code."""
    began, wrong, known = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        spark = session.start(Path(folder))
        for seed in seeds:
            outcome = checked_frames.outcome(spark, seed, Path(folder))
            known += outcome.known
            if outcome.wrong:
                wrong += 1
                console.print(f"[red]false[/red] {escape(str(outcome))}", soft_wrap=True)
    console.print(
        f"{len(seeds)} checked frames in {time.monotonic() - began:.0f} s: {wrong} with false results,"
        f" {known} results",
        style="bold red" if wrong else "bold green",
    )
    return 1 if wrong else 0


def go_through(
    chosen: list[Query], step: Callable[[Query], Verdict], verdicts: list[Verdict], broken: list[str]
) -> None:
    """Take one step for each query, and print errors as soon as they are known.

    Without a terminal for a bar, each query is a line.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Spark starts", total=len(chosen))
        started = time.monotonic()
        for number, query in enumerate(chosen, 1):
            progress.update(task, description=f"{query.name:<50.50}")
            try:
                verdicts.append(step(query))
            # One query that this Spark cannot run must not cost the others.
            except Exception as error:
                broken.append(query.name)
                progress.console.print(
                    f"[red]broken[/red] {query.name}: {escape(f'{type(error).__name__}: {error}'[:400])}"
                )
            else:
                for problem in verdicts[-1].problems:
                    progress.console.print(f"[red]missing[/red] {escape(problem)}", soft_wrap=True)
            progress.advance(task)
            if not console.is_terminal:
                minutes = (time.monotonic() - started) / 60
                console.print(f"{number} of {len(chosen)} after {minutes:.1f} min: {query.name}")


def show_figures(verdicts: list[Verdict]) -> None:
    """Print the edges that no change of data confirmed, and how many did not need to."""
    for verdict in verdicts:
        # What code over whole rows does is not known: its edges come from all that it gets.
        for edge in () if verdict.opaque else verdict.unconfirmed():
            console.print(f"[yellow]unconfirmed[/yellow] {escape(f'{verdict.query.name}: {edge}')}")
        for change in verdict.refused:
            console.print(f"[yellow]refused[/yellow] {escape(f'{verdict.query.name}: {change}')}")
        if verdict.unstable:
            console.print(f"[yellow]unstable[/yellow] {verdict.query.name}: {', '.join(verdict.unstable)}")
    table = Table("edges", "all", "confirmed", "share")
    for opaque in (False, True):
        for direct in (True, False):
            name = f"{'direct' if direct else 'indirect'}{', of code over whole rows' if opaque else ''}"
            some = [verdict for verdict in verdicts if verdict.opaque is opaque]
            every = sum(edge.kind.is_direct is direct for verdict in some for edge in verdict.edges)
            sure = sum(edge.kind.is_direct is direct for verdict in some for edge in verdict.confirmed)
            table.add_row(name, f"{every}", f"{sure}", f"{sure / every:.1%}" if every else "")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
