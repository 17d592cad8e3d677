"""Compressed event logs: zstd and lz4 with their torn ends, and codecs that are not read."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from one_log import LINES, LOG, read

from airflow_provider_spark_lineage.spark.event_log import is_event_log
from airflow_provider_spark_lineage.spark.records.record import Record, RecordError


@pytest.mark.parametrize(("suffix", "library"), [("zstd", "zstandard"), ("lz4", "lz4")])
def test_a_missing_library_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, library: str
) -> None:
    """The error for a compressed log names the extra to install."""
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    path = tmp_path / f"app-1.{suffix}"
    path.write_bytes(b"x")
    with pytest.raises(RecordError, match=r"airflow-provider-spark-lineage\[event-log\]"):
        read(path)


def test_zstd(tmp_path: Path, whole: list[Record]) -> None:
    """Spark's default codec: also where the last frame was not finished."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "app-1.zstd"
    compressor = zstandard.ZstdCompressor().compressobj()
    flushed = b"".join(
        compressor.compress(line) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for line in LINES
    )
    path.write_bytes(flushed + compressor.flush())
    assert read(path) == (whole, [])
    path.write_bytes(flushed)
    assert read(path) == (
        whole,
        ["app-1.zstd ends in the middle (its last frame has no end): later events are missing"],
    )
    path.write_bytes(flushed[:-40])
    records, problems = read(path)
    assert records == whole[: len(records)]
    assert any("ends in the middle" in problem for problem in problems)
    path.write_bytes(flushed[:-40] + b"no frame")
    assert any("ends in the middle" in problem for problem in read(path)[1])
    half = len(LINES) // 2
    path.write_bytes(b"".join(zstandard.compress(b"".join(part)) for part in (LINES[:half], LINES[half:])))
    assert read(path)[0] == whole


def test_lz4_blocks(tmp_path: Path, whole: list[Record]) -> None:
    """Blocks of net.jpountz: compressed ones, raw ones, and several streams in one file."""
    block = pytest.importorskip("lz4.block")

    def framed(data: bytes, *, compressed: bool) -> bytes:
        content = block.compress(data, store_size=False) if compressed else data
        token = (0x20 if compressed else 0x10) | 5
        return struct.pack("<8sBiii", b"LZ4Block", token, len(content), len(data), 0) + content

    end = struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)
    blocks = [framed(line, compressed=number % 2 == 0) for number, line in enumerate(LINES)]
    path = tmp_path / "app-1.lz4"
    path.write_bytes(b"".join(blocks[:5]) + end + b"".join(blocks[5:]) + end)
    assert read(path)[0] == whole
    for torn in (b"".join(blocks)[:-30], b"".join(blocks) + end[:9], b"".join(blocks) + b"no block" * 4):
        path.write_bytes(torn)
        records, problems = read(path)
        assert records == whole[: len(records)]
        assert [problem for problem in problems if "ends in the middle" in problem]


def test_a_damaged_block_is_a_torn_end(tmp_path: Path, whole: list[Record]) -> None:
    """Events before it are kept, and only the library's own exception counts as damage."""
    block = pytest.importorskip("lz4.block")
    data = block.compress(LOG, store_size=False)
    path = tmp_path / "app-1.lz4"
    damaged = struct.pack("<8sBiii", b"LZ4Block", 0x25, 9, 1000, 0) + b"\xff" * 9
    path.write_bytes(struct.pack("<8sBiii", b"LZ4Block", 0x25, len(data), len(LOG), 0) + data + damaged)
    records, problems = read(path)
    assert records == whole
    assert [problem for problem in problems if "app-1.lz4 ends in the middle" in problem]


@pytest.mark.parametrize("codec", ["snappy", "lzf"])
def test_a_codec_that_is_not_read_is_one_sentence(tmp_path: Path, codec: str) -> None:
    """The log is there, so the sentence names the setting and not a missing log."""
    path = tmp_path / f"app-1.{codec}"
    path.write_bytes(b"x")
    assert is_event_log(path)
    with pytest.raises(
        RecordError, match=r"is not supported: set spark\.eventLog\.compression\.codec to zstd or lz4"
    ):
        read(path)
