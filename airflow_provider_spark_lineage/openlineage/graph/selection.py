"""Selects a dataset, a column or a job by its name, or by the end of its name."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName

MOST_SHOWN = 10
"""Limit of the candidates in a sentence."""


@dataclass(frozen=True)
class Selected:
    """A dataset, a column of a dataset, or a job; all else is None."""

    dataset: Id | None = None
    field: str | None = None
    job: JobName | None = None

    def __str__(self) -> str:
        if self.job is not None:
            return "/".join(self.job)
        whole = whole_name(self.dataset) if self.dataset else ""
        return whole if self.field is None else f"{whole}.{self.field}"


def whole_name(dataset: Id) -> str:
    """Return namespace and name of a dataset as one text.

    >>> whole_name(("s3://lake", "gold/orders")), whole_name(("file", "/gold/orders"))
    ('s3://lake/gold/orders', 'file/gold/orders')
    """
    namespace, name = dataset
    return f"{namespace}{name}" if name.startswith("/") else f"{namespace}/{name}"


def is_named(name: str, text: str) -> bool:
    """Return whether a name is a text, or ends with it behind a slash or a dot.

    >>> is_named("/lake/gold/orders", "gold/orders"), is_named("/lake/gold/orders", "ders")
    (True, False)
    """
    return name == text or (name.endswith(text) and (name[-len(text) - 1] in "/." or text[0] in "/."))


def select(current: Current, graph: LineageGraph, text: str) -> Selected:
    """Return the one dataset, column or job that a text names.

    A whole name wins over the end of a name, a dataset or column over a job, and those over a column without
    its dataset. Raise `BadInputError` with the candidates if several are left, and with the nearest names if
    there is none.
    """
    for candidates in _candidates(current, graph, text.strip()):
        matching = sorted(set(candidates), key=lambda each: (str(each), _parts(each)))
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise BadInputError(
                f"{text} is not unique: give one of {_listed(_told_apart(matching))}, or more of the name."
            )
    raise BadInputError(
        f"{text} is neither a dataset, a column nor a job in this lineage{_near(current, graph, text)}."
    )


def dataset_columns(
    current: Current, graph: LineageGraph, texts: Iterable[str]
) -> list[tuple[Id, str | None]]:
    """Return the dataset, and the column if it is one, that each text names; a job raises `BadInputError`."""
    columns = []
    for text in texts:
        selected = select(current, graph, text)
        if selected.dataset is None:
            raise BadInputError(f"{text} is a job: give the name of a dataset, or of a column.")
        columns.append((selected.dataset, selected.field))
    return columns


def _candidates(current: Current, graph: LineageGraph, text: str) -> Iterator[list[Selected]]:
    if not text:
        return
    names = _names(current, graph)
    yield [Selected(each) for name, each in names if name == text] + [
        Selected(dataset, field)
        for dataset in graph.datasets
        for field in graph.fields_of(dataset)
        if text in (f"{dataset[1]}.{field}", f"{whole_name(dataset)}.{field}")
    ]
    yield [Selected(each) for name, each in names if is_named(name, text)] + [
        Selected(each, field)
        for name, each in names
        for field in graph.fields_of(each)
        if text.endswith(f".{field}") and is_named(name, text[: -len(field) - 1] or "?")
    ]
    jobs = current.runs
    yield [Selected(job=job) for job in jobs if text in (job.name, "/".join(job))]
    yield [Selected(dataset, text) for dataset in graph.datasets if text in graph.fields_of(dataset)]


def _names(current: Current, graph: LineageGraph) -> list[tuple[str, Id]]:
    own = [(name, dataset) for dataset in graph.datasets for name in (dataset[1], whole_name(dataset))]
    others: Mapping[Id, Id] = current.aliases
    known = set(graph.datasets)
    return own + [
        (name, dataset)
        for alias, dataset in others.items()
        if dataset in known
        for name in (alias[1], whole_name(alias))
    ]


def _told_apart(candidates: Iterable[Selected]) -> Iterator[str]:
    """Yield the texts of candidates; for equal texts their parts, with spaces between."""
    texts = [(str(each), each) for each in candidates]
    counts = Counter(text for text, _ in texts)
    for text, each in texts:
        yield text if counts[text] == 1 else " ".join(_parts(each))


def _parts(selected: Selected) -> tuple[str, ...]:
    return selected.job or (*(selected.dataset or ()), *filter(None, [selected.field]))


def _listed(names: Iterable[str]) -> str:
    some = list(names)
    more = f" and {len(some) - MOST_SHOWN:,} more" if len(some) > MOST_SHOWN else ""
    return ", ".join(some[:MOST_SHOWN]) + more


def _near(current: Current, graph: LineageGraph, text: str) -> str:
    """Return the names that are most like a text, as the end of a sentence."""
    names: dict[str, None] = {}
    for dataset in graph.datasets:
        own = dataset[1] or whole_name(dataset)
        short = own.rstrip("/").rpartition("/")[2] or own
        for name in (own, short, *(f"{short}.{field}" for field in graph.fields_of(dataset))):
            names[name] = None
        if len(names) > _MOST_COMPARED:
            break
    names.update((job.name, None) for job in current.runs if job.name)
    near = difflib.get_close_matches(text, names, n=3)
    if near:
        return f"; the nearest are {', '.join(near)}"
    some = [dataset[1] or whole_name(dataset) for dataset in graph.datasets]
    return f"; there are {_listed(some)}" if some else "; they name no dataset"


_MOST_COMPARED = 20_000
"""Limit of the names that are compared for their likeness, which takes long."""
