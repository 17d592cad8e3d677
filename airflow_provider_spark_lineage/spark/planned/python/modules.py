"""Texts of the modules beside a script and in its `--py-files`; nothing is imported or run."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

MAX_MODULES = 100
MAX_BYTES = 300_000
"""Limits of the modules that are read for one script, together."""

_LARGEST_ARCHIVE = 20_000_000
"""Limit of an archive, in bytes: its whole table of contents is read."""

_AT_START = frozenset({*sys.builtin_module_names, "abc", "codecs", "encodings", "io", "os", "site", "stat"})
"""Modules that Python has loaded before it looks beside the script."""


class UnreadableModuleError(Exception):
    """A text is there, but cannot be read or parsed."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True)
class ModuleText:
    """The text of one module."""

    file: str
    """Path below its folder or archive, for gaps; empty for a package without a file."""

    tree: ast.Module
    is_package: bool


def parsed(text: str) -> ast.Module:
    """Return the tree of a text; raise UnreadableError."""
    try:
        with warnings.catch_warnings():
            # Python warns about invalid escapes in the text.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        problem = getattr(error, "msg", "it cannot be parsed")
        raise UnreadableModuleError(problem, getattr(error, "lineno", 0) or 1) from error


def decoded(data: bytes) -> str:
    """Return the text of a Python file, by the encoding that it declares; raise UnicodeDecodeError."""
    encoding = "utf-8-sig"
    with contextlib.suppress(SyntaxError):
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def places(script: str, py_files: str, directory: str) -> Iterator[str]:
    """Yield the places on this machine where a script's driver finds modules, in the order of `sys.path`.

    `py_files` is the value of `--py-files`; relative paths start from `directory`.
    """
    if script:
        yield os.path.dirname(os.path.realpath(os.path.join(directory, script)))
    for file in py_files.split(","):
        parts = urlsplit(file.strip())
        if parts.path and parts.scheme in ("", "file", "local"):
            yield os.path.join(directory, url2pathname(parts.path) if parts.scheme else file.strip())


class ModuleFiles:
    """Finds modules in places, in their order: folders, archives (.zip, .egg) and single files."""

    def __init__(self, places: Iterable[str]) -> None:
        self._places = tuple(dict.fromkeys(map(Path, places)))
        self._archives: dict[Path, zipfile.Path] = {}
        self._count = self._bytes = 0

    def find(self, name: str) -> ModuleText | None:
        """Return a module by its full name, None if it is elsewhere; raise UnreadableError."""
        if name.partition(".")[0] in _AT_START or not all(map(str.isidentifier, name.split("."))):
            return None
        try:
            return next(self._found(name.replace(".", "/")), None)
        except (EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
            raise UnreadableModuleError(f"it cannot be read ({type(error).__name__})") from error
        except (zipfile.BadZipFile, zlib.error) as error:
            raise UnreadableModuleError("the archive is damaged") from error

    def close(self) -> None:
        """Close the archives."""
        for archive in self._archives.values():
            archive.root.close()

    def _found(self, path: str) -> Iterator[ModuleText]:
        is_package = False
        for place, root in self._roots():
            if place.suffix == ".py":
                files = [place.name] if path == place.stem else []
            else:
                files = [f"{path}/__init__.py", f"{path}.py"]
                is_package |= (root / path).is_dir()
            for file in files:
                if (root / file).is_file():
                    yield self._module(
                        root / file, file if isinstance(root, Path) else f"{place.name}/{file}"
                    )
        if is_package:
            yield ModuleText("", ast.Module([], []), is_package=True)

    def _roots(self) -> Iterator[tuple[Path, Path | zipfile.Path]]:
        for place in self._places:
            if place.suffix == ".py":
                yield place, place.parent
            elif place.is_dir():
                yield place, place
            elif place in self._archives:
                yield place, self._archives[place]
            elif place.is_file() and place.stat().st_size <= _LARGEST_ARCHIVE:
                self._archives[place] = zipfile.Path(place)
                yield place, self._archives[place]

    def _module(self, path: Path | zipfile.Path, file: str) -> ModuleText:
        self._count += 1
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES - self._bytes + 1)
        self._bytes += len(data)
        if self._count > MAX_MODULES or self._bytes > MAX_BYTES:
            raise UnreadableModuleError(f"at most {MAX_MODULES} modules and {MAX_BYTES:,} bytes are read")
        try:
            return ModuleText(file, parsed(decoded(data)), path.name == "__init__.py")
        except UnreadableModuleError as error:
            raise UnreadableModuleError(f"it is not Python: line {error.line}: {error}") from error
