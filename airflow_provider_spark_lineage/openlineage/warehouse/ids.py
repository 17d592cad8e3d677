"""Ids of names: `xxhash64(namespace, name)` of Spark SQL, in plain Python.

An id needs no sequence and no look-up: whoever knows a name can compute it, in Spark, Trino or Python.
"""

from __future__ import annotations

import struct
from functools import lru_cache

_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_MASK = (1 << 64) - 1

_SEED = 42
"""Seed of the first column in Spark; the hash of a column is the seed of the next one."""


_LONGEST_NAME = 500
"""Longer texts are contents: of these fewer are kept, because they take so much memory."""


def id_of_names(*names: str) -> int:
    """Return what Spark's `xxhash64` returns for these texts, a signed integer of 64 bits.

    >>> id_of_names("file", "/data/orders")
    6116036816227932237
    """
    return _of_name(*names) if sum(map(len, names)) <= _LONGEST_NAME else _of_content(*names)


def _id(*names: str) -> int:
    value = _SEED
    for name in names:
        value = _xxh64(name.encode("utf-8", "surrogatepass"), value)
    return value - (1 << 64) if value >> 63 else value


_of_name, _of_content = lru_cache(maxsize=100_000)(_id), lru_cache(maxsize=5_000)(_id)


def _xxh64(data: bytes, seed: int) -> int:
    length = len(data)
    position = length - length % _STRIPE.size
    value = _of_stripes(data[:position], seed) if position else seed + _P5
    value = (value + length) & _MASK
    while position <= length - 8:
        value = (_rotated(value ^ _round(0, _word(data, position, 8)), 27) * _P1 + _P4) & _MASK
        position += 8
    if position <= length - 4:
        value = (_rotated(value ^ (_word(data, position, 4) * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        position += 4
    for byte in data[position:]:
        value = _rotated(value ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32


_STRIPE = struct.Struct("<4Q")


def _of_stripes(data: bytes, seed: int) -> int:
    # Written out, because contents of versions are long, and their hash is most of the work for them.
    lane_1, lane_2, lane_3, lane_4 = (
        (seed + _P1 + _P2) & _MASK,
        (seed + _P2) & _MASK,
        seed,
        (seed - _P1) & _MASK,
    )
    for first, second, third, fourth in _STRIPE.iter_unpack(data):
        lane_1 = lane_1 + first * _P2 & _MASK
        lane_1 = (lane_1 << 31 | lane_1 >> 33) * _P1 & _MASK
        lane_2 = lane_2 + second * _P2 & _MASK
        lane_2 = (lane_2 << 31 | lane_2 >> 33) * _P1 & _MASK
        lane_3 = lane_3 + third * _P2 & _MASK
        lane_3 = (lane_3 << 31 | lane_3 >> 33) * _P1 & _MASK
        lane_4 = lane_4 + fourth * _P2 & _MASK
        lane_4 = (lane_4 << 31 | lane_4 >> 33) * _P1 & _MASK
    lanes = lane_1, lane_2, lane_3, lane_4
    value = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
    for lane in lanes:
        value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return value


def _word(data: bytes, position: int, size: int) -> int:
    return int.from_bytes(data[position : position + size], "little")


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK
