"""Shows the lineage of a program's text, a line for each step, and loads the files of cases."""

from __future__ import annotations

from pathlib import Path

from airflow_provider_spark_lineage.spark.planned.program import Access, Program, Unread


def cases(path: Path) -> list[tuple[str, str, str]]:
    """(rule, text, steps) of each block of a file; a block ends at `---`, its steps begin behind `=>`."""
    lines = []
    for block in path.read_text(encoding="utf-8").split("\n---\n"):
        rule, _, rest = block.strip("\n").partition("\n")
        text, _, steps = rest.partition("=>")
        lines.append((rule.removeprefix("# "), text, steps.strip("\n")))
    return lines


def shown(program: Program) -> str:
    return "\n".join(map(_line, program.steps))


def _line(step: Access | Unread) -> str:
    if isinstance(step, Unread):
        return f"gap {step.file} {step.line}: {step.reason}".replace("  ", " ")
    words = [step.change or "read"]
    flags = ("partial", "rewrites", "if_exists", "is_view")
    words += [flag for flag in flags if getattr(step, flag)] + ([] if step.is_certain else ["maybe"])
    words += [step.format] if step.format else []
    words += [f"{step.catalog}:" * bool(step.catalog) + ".".join(step.table)] if step.table else []
    words += [f"was {'.'.join(step.previous)}"] if step.previous else []
    words += list(step.paths)
    words += [f"{name}={value}" for name, value in step.options]
    words += [f"{name}=?" for name in step.unknown_options]
    return " ".join(words)
