"""Datasets and catalog entries of one task by name, through creation, renaming and drop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.spark.lineage.claims import Claim, names_of, renamed
from airflow_provider_spark_lineage.spark.lineage.contents import Content, Parts
from airflow_provider_spark_lineage.spark.lineage.history import History
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Edge, Mode, Output, Snapshot
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Symlink


@dataclass(eq=False, slots=True)
class TaskDataset:
    """One dataset, or catalog entry, from its first use in the task to its drop."""

    first: DatasetId
    """Its name before the task; for a dataset that the task created, the name at its creation."""

    name: DatasetId | None
    """Its current name; None if it was dropped."""

    key: DatasetId
    """What edges from it have as their source until the end of the task: no other dataset has this key."""

    anew: bool = False
    """Another dataset had this name before it."""

    created: bool = False
    """The task created it: nothing in it is older, and a later DROP removes it from the outputs."""

    claim: Claim | None = None
    """The report about it as an output; None if the task did not write it."""

    history: History | None = None
    place: TaskDataset | None = None
    """The dataset that a catalog entry refers to, if known."""

    drop: Output | None = None
    """The output that says that it was dropped."""

    def content(self, snapshot: Snapshot) -> Content | None:
        """Return the content of a snapshot; None if the task wrote nothing of it."""
        return self.history.at(snapshot, anew=self.anew) if self.history else None


class TaskDatasets:
    """The datasets of one task by their current names."""

    def __init__(self) -> None:
        self._now: dict[DatasetId, TaskDataset] = {}
        self._gone: dict[DatasetId, TaskDataset] = {}
        """First name -> a dataset from before the task that was dropped or has another name now."""

        self._keys: dict[DatasetId, tuple[TaskDataset, DatasetId]] = {}
        """Key -> its dataset, and the name that the dataset had while this was its key."""

        self._changes = False
        """Some key is not the name that is reported."""

    def get(self, name: DatasetId) -> TaskDataset | None:
        """Return the dataset that has this name now; None if the task has not used it."""
        return self._now.get(name)

    def at(self, name: DatasetId) -> TaskDataset:
        """Return the dataset that has this name now; a name that is new here was there before the task."""
        if name not in self._now:
            self._now[name] = TaskDataset(name, name, name, anew=name in self._keys)
            self._set_key(self._now[name], name)
        return self._now[name]

    def claims(self) -> Iterator[tuple[Claim, set[Edge]]]:
        """Yield the reports about the datasets that the task wrote and that are still there.

        With each, the FILTER edges of rows around folders that were replaced.
        """
        for dataset in self._now.values():
            if dataset.claim is not None:
                yield dataset.claim, dataset.history.filters() if dataset.history else set()

    def drops(self) -> Iterator[Output]:
        """Yield the drops of datasets from before the task whose names are unused now."""
        return (gone.drop for name, gone in self._gone.items() if gone.drop and self.is_dropped(name))

    def is_dropped(self, name: DatasetId) -> bool:
        """Return whether a dataset from before the task was dropped and its name is unused now."""
        gone, now = self._gone.get(name), self._now.get(name)
        is_unused = now is None or (now.claim is None and now.place is None)
        return gone is not None and gone.drop is not None and is_unused

    def mode(self, output: Output) -> Mode:
        """Return an output's mode; CREATE in the place of a dropped dataset is an overwrite."""
        gone = self._gone.get(output.dataset.id) if output.mode is Mode.CREATE else None
        return Mode.OVERWRITE if gone is not None and gone.drop is not None else output.mode

    def reported_names(self, sources: set[DatasetId]) -> dict[DatasetId, DatasetId | None]:
        """Return the keys that are not reported as they are, with their names; None if not reported at all.

        `sources` are the keys of datasets where columns originate.
        """
        if not self._changes:
            return {}
        names = {key: _reported(dataset, key in sources, name) for key, (dataset, name) in self._keys.items()}
        return {key: name for key, name in names.items() if name != key}

    def of_key(self, key: DatasetId) -> TaskDataset:
        """Return the dataset with this key."""
        return self._keys[key][0]

    def write(
        self,
        output: Output,
        edges: set[Edge],
        inputs: set[DatasetId],
        parts: Parts,
        *,
        was_read: bool,
        is_batch: bool,
    ) -> None:
        """Add one write of a dataset.

        `was_read`: the task read rows from before it. `is_batch`: it is a batch of a stream.
        """
        name = output.dataset.id
        dataset = self._now.get(name)
        made_without_rows = output.mode is Mode.CREATE and not (inputs or output.statistics or output.partial)
        is_dropped = self.is_dropped(name)
        if made_without_rows and dataset is not None and not is_dropped:
            named = map(self._now.get, names_of(output.dataset))
            is_known = was_read and {entry and entry.place for entry in named} == {dataset}
            if is_known or dataset.history is not None:
                # CREATE TABLE IF NOT EXISTS: any other CREATE of an existing table fails.
                return
        dataset = self.at(name)
        if output.mode is not Mode.ALTER and not output.dataset.identity.is_entry:
            dataset.history = dataset.history or History(dataset.key)
            # Nothing is older than the task where the task itself freed the name.
            is_empty = is_dropped or output.is_whole or (dataset.anew and not was_read)
            deciding = dataset.history.write(output, edges, inputs, parts, empty=is_empty, is_batch=is_batch)
            # The lineage of a stream is the same after one batch and after several.
            edges = edges if is_batch else edges | deciding
        elif dataset.history is not None:
            dataset.history.change_columns(output)
        # The task created this table and now writes it elsewhere. Spark refuses a location that is not empty.
        is_whole = output.mode in (Mode.CREATE, Mode.OVERWRITE) and not output.partial
        entries = [self.at(entry) for entry in names_of(output.dataset)]
        is_moved = is_whole and any(entry.created and entry.place not in (None, dataset) for entry in entries)
        self.link(output.dataset)
        self._claim(output, edges, inputs, is_free=is_moved, was_read=was_read)
        for entry in entries:
            entry.created |= output.mode is Mode.CREATE and not output.was_empty
            # The dataset has its own claim; that of its entry says something else if it was renamed.
            if entry is not dataset and entry.claim is not None and entry.claim.output.previous is None:
                entry.claim = None

    def link(self, dataset: Dataset) -> None:
        """Note which entries refer to a dataset."""
        if dataset.identity.is_entry or not dataset.identity.symlinks:
            return
        place = self.at(dataset.id)
        for entry in map(self.at, names_of(dataset)):
            if entry.place is not place:
                # It may have referred to a dataset at another location.
                self._unlink(entry)
                entry.place = place

    def drop(self, output: Output, read: Dataset | None) -> None:
        """Remove a dataset, which the task has `read`; if the task created it, it is no longer an output."""
        name = output.dataset.id
        if output.may_be_absent and name in self._gone and name not in self._now:
            # DROP IF EXISTS of a name that the task itself freed.
            return
        dataset = self.at(name)
        for entry in names_of(output.dataset):
            if entry != name:
                self._now.pop(entry, None)
        known = dataset.claim.dataset if dataset.claim else read
        # What the task read or wrote was there.
        output = replace(output, may_be_absent=output.may_be_absent and known is None)
        self._remove(dataset, output, known)

    def drop_entry(self, output: Output) -> None:
        """Remove a catalog entry; its dataset stays, without this name."""
        entry = self.at(output.dataset.id)
        self._unlink(entry)
        self._remove(entry, output, None)

    def rename(self, output: Output) -> None:
        """Rename a dataset; all that is known of it stays with it."""
        new = output.dataset.id
        dataset = self.at(output.previous or new)
        claim = dataset.claim
        for entry in names_of(claim.output.dataset) if claim else ():
            if entry != dataset.name:
                self._now.pop(entry, None)
        self._move(dataset, new)
        self.link(output.dataset)
        if claim is None:
            self._claim(output, set(), set())
        elif dataset.created:
            claim.output = replace(claim.output, dataset=output.dataset)
            for entry in names_of(output.dataset):
                self.at(entry).created = True
        elif dataset.first != new:
            claim.output = replace(output, previous=dataset.first)
        elif claim.data_mode is not None:
            # It has its first name again, so only changes of its data are reported.
            claim.output = replace(output, mode=claim.data_mode, previous=None)
        else:
            dataset.claim = None

    def rename_entry(self, output: Output) -> None:
        """Rename a catalog entry."""
        old, new = output.previous, output.dataset.id
        if old is None:
            self._claim(output, set(), set())
            return
        entry = self.at(old)
        self._unlink(entry, new)
        self._move(entry, new)
        if entry.created:
            if entry.claim is not None:
                entry.claim.output = replace(entry.claim.output, dataset=output.dataset)
        elif entry.first != new:
            entry.claim = Claim(replace(output, previous=entry.first))
        else:
            entry.claim = None

    def _remove(self, dataset: TaskDataset, output: Output, known: Dataset | None) -> None:
        """Remove the name of a dataset that was dropped; `known`: the dataset as it was before."""
        if dataset.name is not None:
            self._now.pop(dataset.name, None)
        dataset.name, self._changes = None, True
        if dataset.created:
            return
        described = known or output.dataset
        if described.id != dataset.first:
            # Consumers know a dataset from before the task by its old name.
            claim = dataset.claim
            described = renamed(claim.dataset if claim else described, dataset.first)
        dataset.drop = replace(output, dataset=described, previous=None)
        self._gone[dataset.first] = dataset

    def _unlink(self, entry: TaskDataset, new: DatasetId | None = None) -> None:
        """Remove an entry's name from its dataset, or replace it by a new one."""
        claim = entry.place.claim if entry.place else None
        if claim is not None:
            identity = claim.output.dataset.identity
            links = [link for link in identity.symlinks if link.id != entry.name]
            links += [Symlink(new.namespace, new.name)] if new is not None else []
            dataset = replace(claim.output.dataset, identity=replace(identity, symlinks=tuple(links)))
            claim.output = replace(claim.output, dataset=dataset)
        if new is None:
            entry.place = None

    def _move(self, dataset: TaskDataset, new: DatasetId) -> None:
        """Give a dataset another name."""
        self._occupy(new)
        if dataset.name is not None:
            del self._now[dataset.name]
        dataset.name, self._changes = new, True
        self._now[new] = dataset
        if dataset.created:
            return
        if new != dataset.first:
            self._gone[dataset.first] = dataset
        elif self._gone.get(new) is dataset:
            del self._gone[new]
        # What is read from now on is reported under the new name.
        self._set_key(dataset, new)

    def _set_key(self, dataset: TaskDataset, name: DatasetId) -> None:
        """Give a dataset a key of its own: the name itself, if no other dataset has had it."""
        is_taken = name in self._keys
        dataset.key = DatasetId(name.namespace, f"{name.name}\n{len(self._keys)}") if is_taken else name
        if dataset.history is not None:
            dataset.history.source = dataset.key
        self._keys[dataset.key] = dataset, name
        self._changes |= is_taken

    def _occupy(self, name: DatasetId) -> None:
        """Note that a name is in use; a DROP IF EXISTS of it may have had no effect and is not reported."""
        gone = self._gone.get(name)
        if gone is not None and gone.drop is not None and gone.drop.may_be_absent:
            del self._gone[name]

    def _claim(
        self,
        output: Output,
        edges: set[Edge],
        inputs: set[DatasetId],
        *,
        is_free: bool = False,
        was_read: bool = False,
    ) -> None:
        """Add one write to the claim of its dataset; `is_free`: its location was certainly empty before."""
        name = output.dataset.id
        dataset = self.at(name)
        if dataset.claim is not None:
            dataset.claim.add(output, edges, inputs)
            return
        self._occupy(name)
        # A dataset that the task read first is older than the task; an overwritten dataset may be.
        is_new = (
            is_free
            or name in self._gone
            or (output.mode is Mode.CREATE and not (output.partial or output.was_empty or was_read))
        )
        dataset.created |= is_new and output.mode is not Mode.RENAME
        dataset.claim = Claim(output)
        dataset.claim.add(output, edges, inputs)


def _reported(dataset: TaskDataset, is_source: bool, name: DatasetId) -> DatasetId | None:
    """Return the name of a dataset in the lineage, given its name when it was read."""
    if dataset.created:
        return dataset.name
    if dataset.name is None:
        return dataset.first
    return dataset.name if is_source else name
