"""Opens the files of an event log, plain or compressed by one of Spark's codecs.

Each codec needs a library, which is imported when such a file is opened.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from airflow_provider_spark_lineage.spark.records.record import RecordError

_BUFFER = 1 << 20
_ZSTD_READ = 1 << 16
"""Bytes to decompress at once: decompressed events are twenty times as large, or more."""


class TornError(Exception):
    """A compressed file ends in the middle of its data, or is damaged."""


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
    """Open a file for reading its content; raise `RecordError` if that is not possible.

    Reading raises `TornError` if a compressed file ends in the middle.
    """
    if codec in NOT_READ:
        cure = "set spark.eventLog.compression.codec to zstd or lz4"
        raise RecordError(f"{path} is compressed by {codec}, which is not supported: {cure}")
    try:
        source = path.open("rb", buffering=_BUFFER)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None
    if not codec:
        return source
    try:
        blocks = CODECS[codec](source)
    except ImportError:
        source.close()
        cure = "install airflow-provider-spark-lineage[event-log]"
        raise RecordError(f"{path} is compressed by {codec} and cannot be read: {cure}") from None
    return io.BufferedReader(_Blocks(source, blocks), _BUFFER)


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    import zstandard

    def blocks() -> Iterator[bytes]:
        frame, has_begun = zstandard.ZstdDecompressor().decompressobj(), False
        try:
            while data := source.read(_ZSTD_READ):
                while data:
                    has_begun = True
                    yield frame.decompress(data)
                    data = frame.unused_data if frame.eof else b""
                    if frame.eof:
                        frame, has_begun = zstandard.ZstdDecompressor().decompressobj(), False
        except zstandard.ZstdError as error:
            raise TornError(str(error)) from None
        if has_begun:
            raise TornError("its last frame has no end")

    return blocks()


def _lz4(source: BinaryIO) -> Iterator[bytes]:
    import lz4.block

    def blocks() -> Iterator[bytes]:
        try:
            yield from _lz4_blocks(source, lz4.block.decompress)
        except lz4.block.LZ4BlockError as error:
            raise TornError(str(error)) from None

    return blocks()


_LZ4_MAGIC = b"LZ4Block"
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_RAW, _LZ4_COMPRESSED = 0x10, 0x20


def _lz4_blocks(source: BinaryIO, decompress: Callable[..., bytes]) -> Iterator[bytes]:
    """Yield the blocks of net.jpountz's LZ4BlockOutputStream: a header of 21 bytes, then the data.

    The header has the magic, the method and level, both lengths and a checksum, which is not read. A block of
    length 0 ends a stream; another one may follow.
    """
    while header := source.read(_LZ4_HEADER.size):
        if len(header) < _LZ4_HEADER.size:
            raise TornError("incomplete header of a block")
        magic, token, compressed, original, _ = _LZ4_HEADER.unpack(header)
        if magic != _LZ4_MAGIC or compressed < 0:
            raise TornError("not a block of LZ4Block")
        data = source.read(compressed)
        if len(data) < compressed:
            raise TornError("incomplete block")
        if original:
            is_raw = token & 0xF0 == _LZ4_RAW
            yield data if is_raw else decompress(data, uncompressed_size=original)


CODECS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {"lz4": _lz4, "zstd": _zstd}
"""Spark's short name of a codec, the suffix of file names -> reader of its blocks."""

NOT_READ = frozenset({"lzf", "snappy"})
"""Codecs of Spark that are not supported."""
