"""Names of the jobs of executions: what each of them writes, or reads where it writes nothing."""

from __future__ import annotations

from airflow_provider_spark_lineage.sources.dataset import DatasetId


class JobNames:
    """The names of the jobs below one parent; the second job of a name gets `.2`, the third `.3`.

    A statement added to a script does not rename the jobs of the others, as numbering them all would.
    """

    def __init__(self, parent: str) -> None:
        self._parent = parent
        self._counts: dict[str, int] = {}

    def next(self, dataset: DatasetId) -> str:
        """Return the name of the next job: `<parent>.<dataset>`."""
        name = f"{self._parent}.{_short(dataset)}"
        count = self._counts[name] = self._counts.get(name, 0) + 1
        if count == 1:
            return name
        # A dataset may be called `orders.2` itself.
        while (numbered := f"{name}.{count}") in self._counts:
            count += 1
        self._counts[name], self._counts[numbered] = count, 1
        return numbered


def _short(dataset: DatasetId) -> str:
    """Return the last part of a path, which is the same in every environment; other names unchanged.

    >>> _short(DatasetId("s3://lake", "/prod/orders"))
    'orders'
    >>> _short(DatasetId("postgres://db:5432", "shop.public.orders"))
    'shop.public.orders'
    """
    path = dataset.name.strip("/")
    return path.rpartition("/")[2] if path else dataset.namespace.rpartition("/")[2]
