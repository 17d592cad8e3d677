"""Inputs by a wildcard are named by the pattern, whatever it matches today."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.sources import identify, patterns
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity
from airflow_provider_spark_lineage.spark.sources.paths import MAX_SIBLINGS


def read(pattern: str | list[str], *paths: str, **more: Any) -> tuple[Identity, ...]:
    """The datasets of a read that found `paths`; a path that ends with a slash is a folder."""
    facts = {
        "patterns": [pattern] if isinstance(pattern, str) else pattern,
        "paths": [path.rstrip("/") for path in paths],
        "is_file": [not path.endswith("/") for path in paths],
        "path_count": len(paths),
        **more,
    }
    return identify(facts)


def names(*arguments: Any, **more: Any) -> list[str]:
    return [identity.id.name for identity in read(*arguments, **more)]


def test_examples_of_the_module() -> None:
    """Its doctests hold."""
    assert doctest.testmod(patterns).failed == 0


@pytest.mark.parametrize(
    ("pattern", "files", "name"),
    [
        ("/in/t_*.json", ["file:/in/t_1.json"], "/in"),
        ("/in/t_*.json", ["file:/in/t_1.json", "file:/in/t_2.json"], "/in"),
        ("/in/t_?.json", ["file:/in/t_1.json"], "/in"),
        ("/in/t_[12].json", ["file:/in/t_1.json"], "/in"),
        ("/in/{a,b}.json", ["file:/in/a.json"], "/in"),
        ("file:///in/*.json", ["file:/in/a.json"], "/in"),
        ("in/*", ["file:/home/me/in/a.json"], "/home/me/in"),
        ("*.json", ["file:/home/me/a.json"], "/home/me"),
        ("../in/*", ["file:/home/in/a"], "/home/in"),
        ("/in/*", ["file:/in/no_ending"], "/in"),
        ("/in/*/", ["file:/in/a.json"], "/in"),
        ("/in/*/*/*", [f"file:/in/{a}/{b}/x.json" for a in range(26) for b in range(26)], "/in"),
        ("/in/day=*/*.json", ["file:/in/day=1/a.json", "file:/in/day=2/a.json"], "/in"),
        ("/in/day=1/*.json", ["file:/in/day=1/a.json"], "/in"),
        ("/in/2024/01/*", ["file:/in/2024/01/a.json"], "/in"),
        (r"/in/a\[1\]/*.json", ["file:/in/a[1]/x.json"], "/in/a[1]"),
        ("/*.json", ["file:/a.json"], "/"),
    ],
)
def test_matched_files_belong_to_the_folder_before_the_wildcard(
    pattern: str, files: list[str], name: str
) -> None:
    """One match, two or 676: the name is the pattern's, so that each day's run reads the same dataset."""
    (identity,) = read(pattern, *files)
    assert identity.id == DatasetId("file", name)
    assert identity.note is None
    assert set(identity.locations) == set(files)


@pytest.mark.parametrize(
    ("pattern", "file", "expected"),
    [
        ("s3a://lake/in/*.json", "s3a://lake/in/a.json", DatasetId("s3://lake", "in")),
        ("s3a://lake/*.json", "s3a://lake/a.json", DatasetId("s3://lake", "/")),
        ("hdfs:///in/*", "hdfs://nn:8020/in/a", DatasetId("hdfs://nn:8020", "/in")),
        ("/in/*", "hdfs://nn:8020/in/a", DatasetId("hdfs://nn:8020", "/in")),
    ],
)
def test_pattern_lies_where_its_matches_do(pattern: str, file: str, expected: DatasetId) -> None:
    """Spark completes the matches, not the pattern."""
    assert [identity.id for identity in read(pattern, file)] == [expected]


def test_matched_folders_are_the_datasets_that_others_write() -> None:
    """Each is a whole dataset under the name by which its writer knows it, also with an ending."""
    few = read("/in/*", "file:/in/a/", "file:/in/b.parquet/", "file:/in/_SUCCESS/", "file:/in/.crc/")
    assert [identity.id.name for identity in few] == ["/in/a", "/in/b.parquet"]
    assert {identity.part.shown for identity in few} == {()}
    assert names("/in/*", "file:/in/b.parquet/") == ["/in/b.parquet"]
    folders = [f"file:/in/t{number}/" for number in range(MAX_SIBLINGS)]
    assert len(read("/in/*", *folders)) == MAX_SIBLINGS


def test_very_many_matched_folders_are_the_folder_before_the_wildcard() -> None:
    """Hundreds of datasets in one event help nobody; the gap says that the name is not theirs."""
    folders = [f"file:/in/{number % 7}/t{number}/" for number in range(MAX_SIBLINGS + 1)]
    (identity,) = read("/in/*/*", *folders)
    assert (identity.id.name, identity.note.kind) == ("/in", GapKind.SEVERAL_DATASETS)
    assert identity.part.shown == ("file:/in/*/*",)


@pytest.mark.parametrize("count", [1, 2, 60, 5000])
def test_partitions_by_a_wildcard_are_one_dataset(count: int) -> None:
    """However many there are, and also if only some of them were recorded."""
    days = [f"file:/in/day={number}/" for number in range(count)][:1000]
    (identity,) = read("/in/day=*", *days, path_count=count)
    assert (identity.id.name, identity.note) == ("/in", None)
    assert identity.part.shown == ("file:/in/day=*",)


def test_files_and_folders_of_one_pattern_are_told_apart() -> None:
    """`/in/*` may match both: files of `/in`, and datasets beside them."""
    assert names("/in/*", "file:/in/a.json", "file:/in/sub/") == ["/in", "/in/sub"]


def test_several_paths_are_each_named_by_its_own_pattern() -> None:
    """A read of several paths may mix patterns and plain paths."""
    identities = read(["/in/*.json", "/x/*/*.json"], "file:/in/a.json", "file:/x/y/b.json", "file:/plain/c/")
    assert {identity.id.name: identity.part.shown for identity in identities} == {
        "/in": ("file:/in/*.json",),
        "/x": ("file:/x/*/*.json",),
        "/plain/c": (),
    }


def test_braces_with_slashes_are_several_paths() -> None:
    """Hadoop makes a pattern of each."""
    files = ["file:/in/a/x/1.json", "file:/in/b/2.json"]
    assert names("/in/{a/x,b}/*.json", *files) == ["/in/a/x", "/in/b"]


def test_event_has_the_pattern_instead_of_what_it_matched() -> None:
    """The part that is read is stated as the program asked for it, in one line."""
    (identity,) = read("/in/*.json", *(f"file:/in/{number}.json" for number in range(1000)))
    assert identity.part.shown == ("file:/in/*.json",)


def test_very_many_matches_that_were_recorded_in_part_are_no_part_to_compare() -> None:
    """Reads of some of 10,000 files are not told apart by the ones that were recorded."""
    files = [f"file:/in/{number}.json" for number in range(1000)]
    (identity,) = read("/in/*.json", *files, path_count=10_000)
    assert (identity.id.name, identity.locations, identity.folders) == ("/in", (), frozenset())
    assert identity.part.shown == ("file:/in/*.json",)
    folders = [f"file:/in/{number % 3}/x{number}=1/" for number in range(1000)]
    identities = read("/in/*/*", *folders, path_count=10_000)
    assert {each.note.kind for each in identities} == {GapKind.LIMIT_REACHED}
    plain = {"paths": ["file:/a/1.json", "file:/b/1.json"], "path_count": 10_000}
    assert {each.note.kind for each in identify(plain)} == {GapKind.LIMIT_REACHED}


def test_names_tell_files_where_nothing_else_does() -> None:
    """Texts of plans do not say what is a file."""
    facts = {"patterns": ["/in/*"], "paths": ["file:/in/a.json", "file:/in/part-00000", "file:/in/sub"]}
    assert [identity.id.name for identity in identify(facts)] == ["/in", "/in/sub"]


@pytest.mark.parametrize(
    ("pattern", "has_gap"),
    [
        ("file:/in/*.json", False),
        ("file:/in/day=*", False),
        ("file:/in/day=*/*", False),
        ("file:/in/part-*", False),
        ("file:/in/*", True),
        ("file:/in/*/orders.parquet", True),
    ],
)
def test_pattern_alone_has_a_gap_if_it_may_match_folders(pattern: str, has_gap: bool) -> None:
    """Without recorded matches, only a text can tell files from folders."""
    (identity,) = identify({"patterns": [pattern], "format": "json"})
    assert identity.id == DatasetId("file", "/in")
    assert (identity.note is not None) is has_gap
    assert not has_gap or identity.note.kind is GapKind.SEVERAL_DATASETS


def test_root_of_a_partitioned_table_stays_its_name() -> None:
    """The option `basePath` names the dataset, also of a read by a pattern."""
    assert names("/in/p=*/q=*", "file:/in/p=1/q=1/", "file:/in/p=1/q=2/", base_path="/in") == ["/in"]


def test_paths_without_a_pattern_are_bounded_too() -> None:
    """An event log has what a pattern matched, not the pattern: 676 files of 676 folders are one input."""
    (identity,) = identify({"paths": [f"file:/in/{a}/{b}/x.json" for a in range(26) for b in range(26)]})
    assert (identity.id.name, identity.note.kind) == ("/in", GapKind.SEVERAL_DATASETS)


@given(
    st.text(alphabet=r"ab/*?[]{},\=.:", max_size=24),
    st.lists(st.text(alphabet="ab/{[.=:", max_size=12), max_size=4),
)
def test_any_pattern_gives_names_or_nothing(pattern: str, paths: list[str]) -> None:
    """No text of a program raises."""
    for identity in identify({"patterns": [pattern], "paths": [f"file:/{path}" for path in paths]}):
        assert identity.id.name
