"""Reads class files as the JVM specification describes them (chapter 4), without a JVM."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

INTERFACE, ABSTRACT, PUBLIC = 0x0200, 0x0400, 0x0001

_UTF8, _CLASS = 1, 7
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Tag of a constant -> bytes after the tag, of those that name no class."""

_TWO_SLOTS = frozenset({5, 6})
"""Long and double take two entries of the constant pool (JVMS 4.4.5)."""


@dataclass(frozen=True)
class ClassFile:
    """The superclass, the interfaces and, on request, the members that a class file declares."""

    name: str
    parents: tuple[str, ...]
    concrete: bool
    members: dict[str, set[str]] = field(default_factory=dict)
    """`name/arity` of a public method, or `name!` of a field -> its types."""


def read_class(data: bytes, *, with_members: bool = False) -> ClassFile:
    """Read name, superclass, interfaces and, if asked, the members of a class file."""
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    (count,) = struct.unpack_from(">H", data, 8)
    at, index = 10, 1
    while index < count:
        tag = data[at]
        at += 1
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", data, at)
            texts[index] = data[at + 2 : at + 2 + length].decode("utf-8", "replace")
            at += 2 + length
        elif tag == _CLASS:
            (classes[index],) = struct.unpack_from(">H", data, at)
            at += 2
        else:
            at += _SIZES[tag]
        index += 2 if tag in _TWO_SLOTS else 1
    flags, class_index, parent, interfaces = struct.unpack_from(">HHHH", data, at)
    above = (parent, *struct.unpack_from(f">{interfaces}H", data, at + 8))

    def name(index: int) -> str:
        return texts[classes[index]].replace("/", ".")

    members = _members(data, at + 8 + 2 * interfaces, texts) if with_members else {}
    parents = tuple(name(index) for index in above if index)
    return ClassFile(name(class_index), parents, not flags & (INTERFACE | ABSTRACT), members)


def _members(data: bytes, at: int, texts: dict[int, str]) -> dict[str, set[str]]:
    """Read fields (JVMS 4.5) and methods (4.6), which have the same form."""
    members: dict[str, set[str]] = {}
    for is_method in (False, True):
        (count,) = struct.unpack_from(">H", data, at)
        at += 2
        for _ in range(count):
            flags, name, descriptor, attributes = struct.unpack_from(">HHHH", data, at)
            at += 8
            written = erased = texts[descriptor]
            for _ in range(attributes):
                attribute, length = struct.unpack_from(">HI", data, at)
                if texts[attribute] == "Signature":
                    written = texts[struct.unpack_from(">H", data, at + 6)[0]]
                at += 6 + length
            if not is_method:
                members.setdefault(f"{texts[name]}!", set()).add(_type(written))
            elif flags & PUBLIC:
                parameters = erased[1 : erased.index(")")]
                arity = len(re.findall(r"\[*(?:L[^;]*;|[BCDFIJSZ])", parameters))
                members.setdefault(f"{texts[name]}/{arity}", set()).add(_type(written.rpartition(")")[2]))
    return members


def _type(written: str) -> str:
    """Return a type by its descriptor or signature: `a.B`, `a.B<element>`, or `*` for a type variable.

    The element is the last type argument; an array's is the type of its items.
    """
    written = written.partition("^")[0]
    if written.startswith("["):
        return f"array<{_type(written[1:])}>"
    if written.startswith("T"):
        return "*"
    if not written.startswith("L"):
        return "primitive"
    name = re.match(r"L([^<;]*)", written)[1].replace("/", ".")  # type: ignore[index]
    if name == "java.lang.Object":
        return "*"
    arguments = re.fullmatch(r"L[^<;]*<(.*)>;", written)
    if arguments is None:
        return name
    depth, start, last = 0, 0, ""
    for index, letter in enumerate(arguments[1]):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            last, start = arguments[1][start : index + 1], index + 1
    last = last.lstrip("+-")
    return f"{name}<{_type(last) if last and not last.startswith('*') else '*'}>"


def class_files(jar: Path, *, with_members: bool = False) -> Iterator[ClassFile]:
    """Yield every class of a jar."""
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.endswith(".class") and not name.startswith("META-INF/"):
                yield read_class(archive.read(name), with_members=with_members)
