"""Jars of tests: fetched once from Maven into `.cache/jars`, where sessions and servers read them.

The user's own `~/.m2` and `~/.ivy2` are neither read nor written: a file that is broken there breaks no test.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import quoteattr

FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "jars"

_SETTINGS = f"""<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir={quoteattr(str(FOLDER / "ivy"))}/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="true"/></resolvers>
</ivysettings>
"""


class JarsError(Exception):
    """Jars could not be fetched; one sentence with the cure."""


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def jar(coordinate: str) -> Path:
    """Return the one jar of a Maven coordinate, without its dependencies."""
    (path,) = jars([coordinate], transitive=False)
    return path


def jars(coordinates: Sequence[str], excluded: Sequence[str] = (), *, transitive: bool = True) -> list[Path]:
    """Return the jars of Maven coordinates, resolved together, and of all that they need.

    They are fetched if they are not there; `excluded` are patterns like `org.slf4j:*`. Raises JarsError.
    """
    module = _module(coordinates, excluded, transitive)
    name = f"{coordinates[0].split(':')[1]}-{hashlib.sha256(module.encode()).hexdigest()[:12]}"
    listed = FOLDER / f"{name}.txt"
    paths = _listed(listed)
    if paths is None:
        with _locked():
            # Another process may have fetched them meanwhile.
            paths = _listed(listed) or _fetched(name, module, listed)
    return paths


def ivy_settings() -> Path:
    """Return the file for `spark.jars.ivySettings` that makes Spark itself find the jars fetched here."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "ivysettings.xml"
    if not path.exists() or path.read_text(encoding="utf-8") != _SETTINGS:
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(_SETTINGS, encoding="utf-8")
        unfinished.replace(path)
    return path


def remove_broken() -> None:
    """Remove jars that a fetch left unfinished; the next call of `jars` fetches them again."""
    with _locked():
        for path in FOLDER.glob("ivy/**/*.jar"):
            if not zipfile.is_zipfile(path):
                path.unlink()


def _module(coordinates: Sequence[str], excluded: Sequence[str], transitive: bool) -> str:
    """Return Ivy's own description of a module that depends on these coordinates."""
    lines = []
    for coordinate in coordinates:
        group, name, version = map(quoteattr, coordinate.split(":"))
        lines.append(
            f'<dependency org={group} name={name} rev={version} conf="default"'
            f' transitive="{str(transitive).lower()}"/>'
        )
    for pattern in excluded:
        group, name = map(quoteattr, pattern.split(":"))
        lines.append(f'<exclude org={group} module={name} matcher="glob"/>')
    head = '<info organisation="tests" module="tests"/>'
    confs = '<configurations><conf name="default"/></configurations>'
    return (
        f'<ivy-module version="2.0">{head}{confs}<dependencies>{"".join(lines)}</dependencies></ivy-module>'
    )


def _listed(listed: Path) -> list[Path] | None:
    """Return the jars of a list; None without a list, or if one of them is gone."""
    if not listed.exists():
        return None
    paths = [FOLDER / line for line in listed.read_text(encoding="utf-8").splitlines()]
    return paths if all(path.exists() for path in paths) else None


def _fetched(name: str, module: str, listed: Path) -> list[Path]:
    import pyspark

    # Ivy, and the libraries that its patterns of `excluded` need.
    folder = Path(pyspark.__file__).parent / "jars"
    classpath = os.pathsep.join(str(jar) for name in ("ivy", "oro") for jar in folder.glob(f"{name}-*.jar"))
    description, resolved, log = (FOLDER / f"{name}.{end}" for end in ("xml", "classpath", "log"))
    description.write_text(module, encoding="utf-8")
    resolved.unlink(missing_ok=True)
    options = ["-settings", str(ivy_settings()), "-ivy", str(description), "-confs", "default"]
    options += ["-types", "jar", "bundle", "-cachepath", str(resolved)]
    with log.open("w", encoding="utf-8") as out:
        command = [java(), "-cp", classpath, "org.apache.ivy.Main", *options]
        failed = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    text = resolved.read_text(encoding="utf-8").strip() if resolved.exists() and not failed else ""
    if not text:
        raise JarsError(
            f"the jars of {name.rpartition('-')[0]} could not be fetched from Maven Central; connect this"
            f" machine to it and try again. What was tried is in {log}."
        )
    paths = [Path(path) for path in text.split(os.pathsep)]
    unfinished = listed.with_suffix(".new")
    unfinished.write_text("".join(f"{path.relative_to(FOLDER)}\n" for path in paths), encoding="utf-8")
    unfinished.replace(listed)
    return paths


@contextmanager
def _locked() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
