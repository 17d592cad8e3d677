"""Warehouses in object storage without Spark: a server that speaks S3, and pyarrow."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

import boto3
import pytest
from click.testing import CliRunner
from moto.server import ThreadedMotoServer
from warehouse.histories import comparable, graph_of, history
from warehouse.plain_tables import plain_warehouse
from warehouse.test_load import contents

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse import storage
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage
from airflow_provider_spark_lineage.openlineage.warehouse.event_sources import source_of
from airflow_provider_spark_lineage.openlineage.warehouse.retention import compact, retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    StoredTables,
    loading,
    publish,
    read_tables,
    remove_unused,
)
from airflow_provider_spark_lineage.openlineage.warehouse.storage import ObjectFolder, folder_of, write_whole

KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local", "region_name": "us-east-1"}


@pytest.fixture(scope="module")
def server() -> Any:
    """The address of a server that speaks S3."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def client(server, monkeypatch, request) -> Any:
    """A client of the server; a bucket `lake` that is empty."""
    for key, value in {**KEYS, "aws_endpoint_url": server}.items():
        monkeypatch.setenv(key.upper(), value)
    client = boto3.client("s3", endpoint_url=server, **KEYS)
    client.create_bucket(Bucket="lake")
    for each in client.list_objects_v2(Bucket="lake").get("Contents", ()):
        client.delete_object(Bucket="lake", Key=each["Key"])
    return client


def copied(client: Any, folder: Path, key: str) -> str:
    """Copy a warehouse to the server, and return its address."""
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "loading.json":
            client.upload_file(str(file), "lake", f"{key}/{file.relative_to(folder)}")
    return f"s3a://lake/{key}"


def keys_of(client: Any) -> list[str]:
    return [each["Key"] for each in client.list_objects_v2(Bucket="lake").get("Contents", ())]


def test_what_needs_no_spark_reads_and_writes_objects(client, tmp_path):
    """As in a folder; names are taken as they are."""
    key = "a b/[1] {é}+%20"
    documents = history(3, days=2, jobs=2)
    local = plain_warehouse(tmp_path / "w", documents)
    address = copied(client, local, key)
    before = contents(local)
    assert comparable(current_lineage(address)) == comparable(graph_of(documents))
    for path in (local, address):
        retain(path, events_days=1, runs_days=1, today=date(2026, 1, 2))
    assert compact(address).dates == compact(local).dates
    assert contents(address) == contents(local) != before
    objects = [each for each in keys_of(client) if "/data/" not in each and not each.endswith("/")]
    assert objects == [f"{key}/current.json"]


def test_files_of_tables_are_opened_by_one_module():
    """`ds.dataset(folder)` would work on this machine, and in object storage not."""
    opens = re.compile(r"\bds\.dataset\(|\bpq\.|pyarrow\.parquet")
    folder = Path(storage.__file__).parent
    assert {file.name for file in folder.glob("*.py") if opens.search(file.read_text())} == {"storage.py"}


def test_commands_take_an_address(client, tmp_path, monkeypatch):
    """`s3a` of Spark is pyarrow's `s3`, and statements have the address as it was given."""
    local = plain_warehouse(tmp_path / "w", history(3, days=1, jobs=2))
    address = copied(client, local, "lineage")
    dataset = current_lineage(local).writes[0].output[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sql").write_text("INSERT INTO a SELECT x FROM b")
    for command in (
        "warehouse check --warehouse {}",
        "warehouse compact --warehouse {}",
        f"impact {dataset} --warehouse {{}}",
        "changes 2026-01-01T01:00:00Z 2026-01-09 --warehouse {}",
        "diff a.sql a.sql --production {}",
    ):
        done, there = (
            CliRunner().invoke(main, command.format(place).split())
            for place in (address.replace("s3a", "s3"), local)
        )
        assert (done.exit_code, done.stdout, done.stderr) == (0, there.stdout, there.stderr)
    statements = CliRunner().invoke(main, ["warehouse", "views", "--warehouse", address]).stdout
    assert "read_parquet(['s3a://lake/lineage/data/" in statements


def test_a_second_process_is_refused_and_named(client):
    """With the cure for one that has died; the object is gone afterwards."""
    folder = folder_of("s3://lake/lineage")
    with loading(folder):
        holder = json.loads(client.get_object(Bucket="lake", Key="lineage/loading.json")["Body"].read())
        with pytest.raises(BadInputError) as raised, loading(folder):
            pass
        assert f"process {os.getpid()} on {holder['machine']} since {holder['since']} UTC" in str(
            raised.value
        )
        assert "has died, delete s3://lake/lineage/loading.json" in str(raised.value)
        assert "lineage/loading.json" in keys_of(client)
    assert "lineage/loading.json" not in keys_of(client)


def taken_over(client: Any) -> None:
    client.put_object(Bucket="lake", Key="lineage/loading.json", Body=b'{"token": "other", "process": 1}')


def deleted(client: Any) -> None:
    client.delete_object(Bucket="lake", Key="lineage/loading.json")


def published(client: Any) -> None:
    client.put_object(Bucket="lake", Key="lineage/current.json", Body=b"of another")


@pytest.mark.parametrize("change", [taken_over, deleted, published])
def test_a_process_that_does_not_hold_the_warehouse_any_more_publishes_nothing(client, change):
    """Object storage has no lock: whose it is is looked up again before `current.json` is written."""
    folder = folder_of("s3a://lake/lineage")
    with loading(folder):
        publish(StoredTables(folder, "20260101"))
        tables = read_tables(folder)
        change(client)
        before = client.get_object(Bucket="lake", Key="lineage/current.json")["Body"].read()
        client.put_object(Bucket="lake", Key="lineage/data/20260101T000000-b/runs/0.parquet", Body=b"")
        with pytest.raises(BadInputError, match="was changed by another process in the meantime"):
            publish(tables)
        if change is not published:
            remove_unused(tables)
    # What the other one has written stays.
    assert "lineage/data/20260101T000000-b/runs/0.parquet" in keys_of(client)
    assert client.get_object(Bucket="lake", Key="lineage/current.json")["Body"].read() == before
    # The other process holds it still.
    assert ("lineage/loading.json" in keys_of(client)) == (change is taken_over)


def test_of_two_that_begin_at_once_the_last_holds(client, monkeypatch):
    """The other one reads the object again, and stops."""
    folder = folder_of("s3a://lake/lineage")
    write = ObjectFolder.write_text

    def both(self: ObjectFolder, text: str, encoding: str) -> None:
        write(self, text, encoding)
        taken_over(client)

    monkeypatch.setattr(ObjectFolder, "write_text", both)
    with pytest.raises(BadInputError, match="is being loaded by"), loading(folder):
        pass
    assert "lineage/loading.json" in keys_of(client)


@pytest.mark.parametrize(
    ("key", "is_other"),
    [
        ("data/bronze/part-0.parquet", True),
        ("data/20260101T000000-1/runs/part-0.parquet", False),
        ("delta/orders/part-0.parquet", True),
        ("delta/runs/part-0.parquet", False),
        ("current.json.20260101T000000-1", False),
    ],
)
def test_a_folder_with_objects_of_others_is_refused_and_stays(client, key, is_other):
    """A first load that died leaves files, which the next one deletes."""
    client.put_object(Bucket="lake", Key=f"x/{key}", Body=b"rows")
    folder = folder_of("s3a://lake/x")
    if is_other:
        with pytest.raises(BadInputError, match="has other files and no warehouse"), loading(folder):
            pass
    else:
        with loading(folder):
            assert read_tables(folder).load_id == ""
    assert f"x/{key}" in keys_of(client)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s3://none/x", "s3://none/x has no warehouse: "),
        ("s3://key:word@lake/x", "s3://lake/x: write s3://bucket/folder, with no keys and no options"),
        ("s3://lake/x?secret=word", "s3://lake/x: write s3://bucket/folder, with no keys and no options"),
        (
            "s3a://key:wo/word@lake/x?y=1",
            "s3a://lake/x: write s3a://bucket/folder, with no keys and no options",
        ),
        ("s3a://key:word/x", "s3a: an address has no keys: write s3a://bucket/folder"),
        ("s3a:lake/x", "s3a: an address begins with s3a://bucket"),
        ("hdfs://lake/x", "hdfs://lake/x is not a path of this machine: give a folder, or an address that"),
    ],
)
def test_an_address_without_a_warehouse_is_one_sentence(client, address, sentence):
    """With status 2, and without the keys in it."""
    for name in ("check", "retain", "compact", "views"):
        done = CliRunner().invoke(main, ["warehouse", name, "--warehouse", address])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"spark-lineage: {sentence}")
        assert "word" not in done.stderr


def test_storage_that_does_not_answer_is_one_sentence(monkeypatch):
    """It has the cause that the storage gives."""
    for key, value in {**KEYS, "aws_endpoint_url": "http://127.0.0.1:1"}.items():
        monkeypatch.setenv(key.upper(), value)
    done = CliRunner().invoke(main, ["warehouse", "check", "--warehouse", "s3a://lake/lineage"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("spark-lineage: s3a://lake/lineage/current.json cannot be used (")


@pytest.mark.parametrize("endpoint", ["localhost:9000", "http://127.0.0.1:1/path"])
def test_an_endpoint_of_another_form_is_one_sentence(monkeypatch, endpoint):
    """It is not left out, so that no request goes to another server."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(BadInputError, match="AWS_ENDPOINT_URL is not of the form"):
        folder_of("s3a://lake/x").exists()


def test_a_path_in_a_container_of_azure_has_one_slash(monkeypatch):
    """As Spark's connector writes it."""
    assert folder_of("abfss://box@account.dfs.core.windows.net/a/x").storage[1] == "box/a/x"


def test_marks_of_folders_are_not_there(client):
    """The connector of EMR makes objects of such names."""
    for key in ("w/day=2026-01-01/a.parquet", "w/day=2026-01-01_$folder$"):
        client.put_object(Bucket="lake", Key=key, Body=b"")
    assert storage.names_in(folder_of("s3://lake/w"), "day=*") == ["day=2026-01-01"]


def test_files_of_storage_that_is_gone_count_as_present(client, monkeypatch):
    """`retain` works on when events came from storage that cannot be reached any more."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    files = ["s3a://lake/e/1.jsonl", "/nowhere/1.jsonl"]
    assert storage.present_of(files) == {files[0]}


def test_a_bucket_that_does_not_exist_is_one_sentence(client):
    """Nothing can be written to it."""
    with (
        pytest.raises(BadInputError, match=r"s3a://none/x/loading\.json cannot be used"),
        loading(folder_of("s3a://none/x")),
    ):
        pass


def test_events_are_listed_with_their_size_and_time(client):
    """Of a folder, an object, and the objects that OpenLineage's file transport names by time."""
    for key in ("e/b/2.jsonl", "e/1.jsonl", "e/.tmp/3.jsonl", "log-2026.json", "log-2.txt"):
        client.put_object(Bucket="lake", Key=key, Body=b"{}\n")
    listed = {
        "s3://lake/e": ["s3://lake/e/1.jsonl", "s3://lake/e/b/2.jsonl"],
        "s3a://lake/e/1.jsonl": ["s3a://lake/e/1.jsonl"],
        "s3a://lake/log": ["s3a://lake/log-2026.json"],
    }
    for place, files in listed.items():
        states = source_of(place, {})._files
        assert [*states] == files
        assert all(size == 3 and time > 0 for size, time in states.values())
    with pytest.raises(BadInputError, match="s3a://lake/nothing: no such object, and none below it"):
        source_of("s3a://lake/nothing", {})


def test_a_text_is_written_whole_or_not_at_all(client):
    """Of the name that it has until then nothing is left."""
    file = folder_of("s3a://lake/x") / "current.json"
    for text in ("1", "22"):
        write_whole(file, text, "20260101")
        assert file.read_text("utf-8") == text
    assert [key for key in keys_of(client) if not key.endswith("/")] == ["x/current.json"]
