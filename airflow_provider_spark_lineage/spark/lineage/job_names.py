"""Names of the jobs of executions: after the dataset that each writes, or reads if it writes nothing."""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.spark.sources.dataset import Identity


class JobNames:
    """The names of the jobs below one parent; the second job of a name gets `.2`, the third `.3`.

    If a statement is added to a script, only later jobs of the same name get a new name.
    """

    def __init__(self, parent: str) -> None:
        self._parent = parent
        self._counts: dict[str, int] = {}

    def next(self, dataset: Identity) -> str:
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


def _short(dataset: Identity) -> str:
    """Return a table's name without its database, the last part of a path, or any other name unchanged."""
    tables = [link.name for link in dataset.symlinks if link.type == "TABLE"]
    if dataset.is_entry:
        tables.append(dataset.id.name)
    if tables:
        # Glue's names are `table/<database>/<table>`.
        name = re.split(r"[./]", tables[0])[-1]
    else:
        name = (dataset.id.name.strip("/") or dataset.id.namespace).rpartition("/")[2]
    # These characters mark instance and try in the keys of expected events.
    return re.sub(r"[\[\]#]", "_", name)
