"""Gives a warehouse one face of folders: those on this machine, and those in object storage.

On this machine a folder is a `Path`; `ObjectFolder` has those of its methods that are needed, by
`pyarrow.fs`. What differs more than by a method is a function here. Spark gets the address as the user wrote
it and uses its own connector.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.events.addresses import (
    address_of,
    local_path,
    without_secrets,
)
from airflow_provider_spark_lineage.openlineage.events.reader import files_of

with extra("warehouse"):
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
    from pyarrow import fs

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss"}
"""Scheme of an address -> scheme of pyarrow: `s3a` is a name of Spark's connector."""

_CURE = "give a folder, or an address that begins with s3a://, s3://, gs:// or abfss://"


@dataclass(frozen=True)
class ObjectFolder:
    """A folder or an object in object storage, with some methods of `Path`.

    Folders exist while objects are below them. Errors of the storage are BadInputError.
    """

    scheme: str
    bucket: str
    """Bucket, or container and account."""
    key: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}{'/' if self.key else ''}{self.key}"

    def __truediv__(self, name: str) -> ObjectFolder:
        return ObjectFolder(self.scheme, self.bucket, f"{self.key}/{name}".strip("/"))

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> ObjectFolder:
        """The folder above."""
        return ObjectFolder(self.scheme, self.bucket, self.key.rpartition("/")[0])

    @property
    def storage(self) -> tuple[Any, str]:
        """The file system of pyarrow, and the path there."""
        storage, root = _storage(SCHEMES[self.scheme], self.bucket, _endpoint())
        return storage, f"{root}/{self.key}".rstrip("/")

    def absolute(self) -> ObjectFolder:
        """Return the folder itself."""
        return self

    def resolve(self) -> ObjectFolder:
        """Return the folder itself."""
        return self

    def _kind(self) -> Any:
        storage, path = self.storage
        with self.named_errors():
            return storage.get_file_info(path).type

    def exists(self) -> bool:
        """Return whether there is an object of this name, or below it."""
        return bool(self._kind() != fs.FileType.NotFound)

    def is_dir(self) -> bool:
        """Return whether objects are below it."""
        return bool(self._kind() == fs.FileType.Directory)

    def is_file(self) -> bool:
        """Return whether there is an object of this name."""
        return bool(self._kind() == fs.FileType.File)

    def read_text(self, encoding: str) -> str:
        """Return the text of an object; raise FileNotFoundError without one."""
        storage, path = self.storage
        with self.named_errors(), storage.open_input_stream(path, compression=None) as stream:
            text: str = stream.read().decode(encoding)
        return text

    def write_text(self, text: str, encoding: str) -> None:
        """Write an object."""
        storage, path = self.storage
        with self.named_errors(), storage.open_output_stream(path, compression=None) as stream:
            stream.write(text.encode(encoding))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: the first object makes its folders."""

    def unlink(self) -> None:
        """Delete an object."""
        storage, path = self.storage
        with self.named_errors():
            storage.delete_file(path)

    def below(self, *, recursive: bool) -> dict[str, Any]:
        """Return the objects and folders below it: path from here -> `FileInfo`."""
        storage, path = self.storage
        selector = fs.FileSelector(path, recursive=recursive, allow_not_found=True)
        with self.named_errors():
            entries = storage.get_file_info(selector)
        # The connector of EMR marks folders by objects of such names.
        return {
            entry.path[len(path) + 1 :]: entry
            for entry in entries
            if entry.path != path and not entry.path.endswith("_$folder$")
        }

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Raise BadInputError for errors of the storage, but for an object that is missing."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise BadInputError(f"{self} cannot be used ({cause_of(error)}).") from None


Folder: TypeAlias = Path | ObjectFolder


def folder_of(place: Folder | str) -> Folder:
    """Return the folder of a path or address; raise BadInputError for one that cannot be used."""
    if isinstance(place, ObjectFolder):
        return place
    address = address_of(place)
    if address is None or address[0] not in SCHEMES:
        scheme = str(place).partition(":")[0].lower()
        if address is None and ":" in str(place) and scheme in SCHEMES:
            raise BadInputError(f"{scheme}: an address begins with {scheme}://bucket.")
        return local_path(place, _CURE)
    scheme, rest = address
    bucket, _, key = rest.partition("/")
    if f"{scheme}://{rest}" != without_secrets(place) or not bucket:
        raise BadInputError(
            f"{without_secrets(place)}: write {scheme}://bucket/folder, with no keys and no options: pyarrow"
            " and Spark take them from their own settings."
        )
    if ":" in bucket:
        raise BadInputError(f"{scheme}: an address has no keys: write {scheme}://bucket/folder.")
    return ObjectFolder(scheme, bucket, "/".join(filter(None, key.split("/"))))


def cause_of(error: Exception) -> str:
    """Return what an error of the file system or of pyarrow says, in one line."""
    text = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
    return str(text).rstrip(".")


def _endpoint() -> str:
    # pyarrow reads these itself, but only newer releases read all of them.
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


@lru_cache
def _storage(scheme: str, bucket: str, endpoint: str) -> tuple[Any, str]:
    """Return the file system of a bucket, and its path there: finding the region takes a request."""
    address = f"{scheme}://{quote(bucket, safe='@.:')}"
    if scheme == "s3" and endpoint:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
            raise BadInputError("AWS_ENDPOINT_URL is not of the form http(s)://host:port: correct it.")
        address += "?" + urlencode({"scheme": parts.scheme, "endpoint_override": parts.netloc})
    try:
        storage, root = fs.FileSystem.from_uri(address)
    except (OSError, pa.ArrowException) as error:
        raise BadInputError(f"{scheme}://{bucket} cannot be used ({cause_of(error)}).") from None
    # That of Azure ends with a slash.
    return storage, root.rstrip("/")


# ---- whole folders -------------------------------------------------------------------------------------


def names_in(folder: Folder, pattern: str) -> list[str]:
    """Return the names in a folder that are of a pattern, in their order."""
    if isinstance(folder, Path):
        return sorted(each.name for each in folder.glob(pattern))
    return sorted(name for name in folder.below(recursive=False) if fnmatchcase(name, pattern))


def missing_in(folder: Folder, names: Iterable[str]) -> list[str]:
    """Return which of some folders and files are not below a folder."""
    if isinstance(folder, Path):
        return [name for name in names if not (folder / name).exists()]
    # A request lists a thousand objects, and finding one takes two requests.
    present = folder.below(recursive=True)
    return [name for name in names if name not in present]


def folders_in(folder: Folder, name: str, levels: int) -> list[str]:
    """Return the folders below one of them, down to some levels: those above before those below."""
    if isinstance(folder, Path):
        patterns = ["/".join([name, *["*"] * level]) for level in range(1, levels + 1)]
        entries = [each for pattern in patterns for each in sorted(folder.glob(pattern))]
        return [str(each.relative_to(folder)) for each in entries if each.is_dir()]
    objects = (folder / name).below(recursive=True).items()
    names = [each for each, entry in objects if entry.type == fs.FileType.Directory]
    return [
        f"{name}/{each}"
        for each in sorted(names, key=lambda each: (each.count("/"), each))
        if each.count("/") < levels
    ]


def delete_below(folder: Folder) -> None:
    """Delete a folder; what cannot be deleted stays."""
    if isinstance(folder, Path):
        shutil.rmtree(folder, ignore_errors=True)
        return
    storage, path = folder.storage
    try:
        storage.delete_dir(path)
    except (OSError, pa.ArrowException):
        return


def copy_below(source: Folder, target: Folder) -> None:
    """Copy a folder to another place of the same warehouse."""
    if isinstance(source, Path):
        shutil.copytree(source, str(target))
        return
    storage, path = source.storage
    with source.named_errors():
        fs.copy_files(path, _of_arrow(target)[0], source_filesystem=storage, destination_filesystem=storage)


def write_whole(file: Folder, text: str, mark: str) -> None:
    """Write a text so that a reader sees the text before or this one; `mark` is in the name until then."""
    if isinstance(file, Path):
        new = file.with_name(f"{file.name}.{mark}")
        with new.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, file)
        return
    # Azure makes an object empty before it writes it.
    staged = file.parent / f"{file.name}.{mark}"
    staged.write_text(text, encoding="utf-8")
    storage, path = file.storage
    try:
        storage.move(staged.storage[1], path)
    except (OSError, pa.ArrowException) as error:
        raise BadInputError(f"{file} cannot be written ({cause_of(error)}).") from None


@contextmanager
def whole_files(place: Folder | str) -> Iterator[None]:
    """Raise BadInputError if a file that is read there is gone or broken."""
    try:
        yield
    except (OSError, pa.ArrowException, ValueError, KeyError, IndexError) as error:
        is_silent = isinstance(folder_of(place), ObjectFolder) and type(error) is OSError
        # Object storage that does not answer says nothing about the files.
        cure = "" if is_silent else ": delete the folder of the warehouse, and load the events again"
        raise BadInputError(f"{place} cannot be read ({cause_of(error)}){cure}.") from None


# ---- parquet -------------------------------------------------------------------------------------------


def _of_arrow(place: Folder | str) -> tuple[str, Any]:
    """Return a path, and its file system for pyarrow; None for that of this machine."""
    folder = place if isinstance(place, Path) else folder_of(place)
    if isinstance(folder, Path):
        return str(place), None
    storage, path = folder.storage
    return path, storage


def dataset_at(place: Folder | str) -> Any:
    """Return the parquet files of a folder, or one file, as a dataset of pyarrow."""
    folder = folder_of(place)
    if isinstance(folder, Path):
        return ds.dataset(place, format="parquet")
    storage, path = folder.storage
    # One request in place of three: `dataset` asks first whether it is a folder.
    files = [path] if path.endswith(".parquet") else fs.FileSelector(path, recursive=True)
    with folder.named_errors():
        return ds.FileSystemDatasetFactory(storage, files, ds.ParquetFileFormat()).finish()


def files_at(folders: Iterable[str]) -> list[str]:
    """Return the parquet files in folders; a file is returned as it is.

    Raises FileNotFoundError for a folder without one.
    """
    files = []
    for each in folders:
        is_file = each.endswith(".parquet") and folder_of(each).is_file()
        some = [each] if is_file else [f"{each}/{name}" for name in names_in(folder_of(each), "*.parquet")]
        if not some:
            raise FileNotFoundError(f"{each} has no files")
        files += some
    return files


def dataset_of(files: list[str]) -> Any:
    """Return parquet files of one warehouse as a dataset of pyarrow."""
    _, storage = _of_arrow(files[0])
    return ds.dataset([_of_arrow(file)[0] for file in files], format="parquet", filesystem=storage)


def read_columns(file: Folder, columns: list[str] | None = None) -> Any:
    """Return columns of a parquet file, or all of them."""
    path, storage = _of_arrow(file)
    return pq.read_table(path, columns=columns, filesystem=storage)


def write_rows(rows: Any, file: Folder) -> None:
    """Write a table of pyarrow as a parquet file."""
    path, storage = _of_arrow(file)
    pq.write_table(rows, path, filesystem=storage)


def writer_of(file: Folder, schema: Any) -> Any:
    """Return a writer of a parquet file."""
    path, storage = _of_arrow(file)
    return pq.ParquetWriter(path, schema, filesystem=storage)


# ---- files of events -----------------------------------------------------------------------------------


def event_files(place: Folder | str) -> dict[str, list[int]]:
    """Return the files of events of a file, a folder or a path before times: size and time of the change.

    Raises BadInputError if there are none.
    """
    folder = folder_of(place).absolute()
    if isinstance(folder, Path):
        stats = {str(file): file.stat() for file in files_of(folder) if file.exists()}
        if not stats:
            raise BadInputError(f"{folder}: the folder has no files, so no events can be loaded from it.")
        return {file: [stat.st_size, stat.st_mtime_ns] for file, stat in stats.items()}
    below = {} if folder.is_file() else folder.below(recursive=True)
    entries = {folder / name: entry for name, entry in below.items()}
    if not entries:
        entries = {
            folder.parent / name: entry
            for name, entry in folder.parent.below(recursive=False).items()
            if name == folder.name or (name.startswith(f"{folder.name}-") and name.endswith(".json"))
        }
    files = {
        str(file): [entry.size, entry.mtime_ns or 0]
        for file, entry in sorted(entries.items(), key=lambda item: item[0].key)
        if entry.type == fs.FileType.File and "/." not in file.key[len(folder.key) :]
    }
    if not files:
        raise BadInputError(f"{folder}: no such object, and none below it, so no events can be loaded.")
    return files


def present_of(files: Iterable[str]) -> set[str]:
    """Return which of some files of events are there, or may be: storage may not be reachable any more."""
    present = set()
    listed: dict[ObjectFolder, set[str] | None] = {}
    for file in files:
        place = folder_of(file)
        if isinstance(place, Path):
            is_there = place.exists()
        else:
            if place.parent not in listed:
                listed[place.parent] = _names_below(place.parent)
            names = listed[place.parent]
            is_there = names is None or place.name in names
        if is_there:
            present.add(file)
    return present


def _names_below(folder: ObjectFolder) -> set[str] | None:
    """Return the names in a folder, or None if that cannot be told."""
    try:
        return {*folder.below(recursive=False)}
    except BadInputError:
        return None
