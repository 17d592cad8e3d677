"""The folder that the agent writes: files are complete, and a full disk still gets the note about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_spark_lineage.spark.agent.folder import writer_of


def test_a_file_is_replaced_where_there_is_no_room_beside_it(tmp_path: Path):
    """On a full disk the note of a driver takes the place of its first one; a new file is lost."""
    write = writer_of(str(tmp_path), None)
    write("note", b"began")
    for name in ("note", "record"):
        # Its temporary name cannot be written, as on a disk that is full.
        (tmp_path / f".{name}.part").mkdir()
    write("note", b"a record was lost")
    assert (tmp_path / "note").read_bytes() == b"a record was lost"
    with pytest.raises(OSError, match="record"):
        write("record", b"1")
    assert not (tmp_path / "record").exists()
