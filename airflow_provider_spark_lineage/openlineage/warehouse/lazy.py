"""Collections whose items are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.shapes import Id

with extra("warehouse"):
    import numpy as np

Item = TypeVar("Item")
Key = TypeVar("Key")


class Each(Sequence[Item]):
    """A sequence that makes each item by its position, once."""

    def __init__(self, size: int, make: Callable[[int], Item]) -> None:
        self._size, self._make = size, make
        self._made: dict[int, Item] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...

    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._size))]
        if not -self._size <= place < self._size:
            raise IndexError(place)
        place %= self._size
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]


class Later(Sequence[Item]):
    """A tuple that is made when an item of it is asked for; its length is known before."""

    def __init__(self, size: int, make: Callable[[], tuple[Item, ...]]) -> None:
        self._size, self._make = size, make

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return self._make()

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...

    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        return self._items[place]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, Later)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


class ByDataset(Mapping[Id, Sequence[Item]]):
    """The items of each dataset, which are given as the position of the dataset of each item."""

    def __init__(self, places: Mapping[Id, int], of_items: Any, make: Callable[[int], Item]) -> None:
        self._places, self._of_items, self._make = places, of_items, make

    @cached_property
    def _order(self) -> Any:
        return np.argsort(self._of_items, kind="stable").astype(np.int32)

    @cached_property
    def _counts(self) -> Any:
        return np.bincount(self._of_items, minlength=len(self._places))

    @cached_property
    def _offsets(self) -> Any:
        return np.concatenate(([0], np.cumsum(self._counts)))

    def __getitem__(self, dataset: Id) -> Sequence[Item]:
        place = self._places[dataset]
        begin, end = self._offsets[place : place + 2]
        if begin == end:
            raise KeyError(dataset)
        return [self._make(each) for each in self._order[begin:end].tolist()]

    def __contains__(self, dataset: object) -> bool:
        place = self._places.get(dataset)  # type: ignore[call-overload]
        return place is not None and bool(self._counts[place])

    def __iter__(self) -> Iterator[Id]:
        counts = self._counts.tolist()
        return (dataset for dataset, place in self._places.items() if counts[place])

    def __len__(self) -> int:
        return int((self._counts > 0).sum())


class Made(Mapping[Key, Item]):
    """A value for each of some keys, made from the number of the key when it is asked for."""

    def __init__(self, numbers: Mapping[Key, int], make: Callable[[int], Item]) -> None:
        self._numbers, self._make = numbers, make

    def __getitem__(self, key: Key) -> Item:
        return self._make(self._numbers[key])

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
