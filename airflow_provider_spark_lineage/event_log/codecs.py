"""Opens the files of an event log: plain ones, and those that Spark's codecs wrote.

Each codec needs a library, which is imported when a file of it is opened.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from airflow_provider_spark_lineage.record import RecordError

_BUFFER = 1 << 20


class _Blocks(io.RawIOBase):
    """A stream of blocks that are decompressed one by one."""

    def __init__(self, source: BinaryIO, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._source = source
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def opened(path: Path, codec: str) -> BinaryIO:
    """Open a file for reading its content; raise `RecordError` where that cannot be."""
    try:
        source = path.open("rb", buffering=_BUFFER)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None
    if not codec:
        return source
    try:
        return CODECS[codec](source)
    except (ImportError, NotImplementedError) as error:
        source.close()
        cure = "install airflow-provider-spark-lineage[event-log]"
        if isinstance(error, NotImplementedError):
            cure = "set spark.eventLog.compression.codec to zstd or lz4"
        raise RecordError(f"{path} is compressed by {codec} and cannot be read: {cure}") from None


def _zstd(source: BinaryIO) -> BinaryIO:
    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
    return io.BufferedReader(reader, _BUFFER)


def _lz4(source: BinaryIO) -> BinaryIO:
    import lz4.block

    return _of_blocks(source, _lz4_blocks(source, lz4.block.decompress))


_LZ4_MAGIC = b"LZ4Block"
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_RAW, _LZ4_COMPRESSED = 0x10, 0x20


def _lz4_blocks(source: BinaryIO, decompress: Callable[..., bytes]) -> Iterator[bytes]:
    """Yield the blocks of net.jpountz's LZ4BlockOutputStream: a header of 21 bytes, then the data.

    The header has the magic, the method and level, both lengths and a checksum, which is not read. A block of
    length 0 ends a stream; another one may follow.
    """
    while len(header := source.read(_LZ4_HEADER.size)) == _LZ4_HEADER.size:
        magic, token, compressed, original, _ = _LZ4_HEADER.unpack(header)
        if magic != _LZ4_MAGIC:
            raise ValueError("no block of LZ4Block")
        data = source.read(compressed)
        if len(data) < compressed:
            return
        if original:
            is_raw = token & 0xF0 == _LZ4_RAW
            yield data if is_raw else decompress(data, uncompressed_size=original)


def _unread(source: BinaryIO) -> BinaryIO:
    raise NotImplementedError


def _of_blocks(source: BinaryIO, blocks: Iterator[bytes]) -> BinaryIO:
    return io.BufferedReader(_Blocks(source, blocks), _BUFFER)


CODECS: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    "zstd": _zstd,
    "lz4": _lz4,
    "snappy": _unread,
    "lzf": _unread,
}
"""Spark's short name of a codec, which ends a file's name -> what opens a stream of it."""
