"""Modules of a script's own project: each runs once, at its first import, as in Python."""

from __future__ import annotations

from collections.abc import Callable

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.planned.python.modules import (
    ModuleFiles,
    ModuleText,
    UnreadableModuleError,
)
from airflow_provider_spark_lineage.spark.planned.python.reading import Reading
from airflow_provider_spark_lineage.spark.planned.python.scopes import Scope
from airflow_provider_spark_lineage.spark.planned.python.values import (
    Known,
    Module,
    Value,
    items_of,
    whole_text,
)

STAR = "*"
"""Name in a scope for the last module that is not followed and whose names are all imported."""


class Imports:
    """The names of the modules that the script imports; `run` reads the statements of one."""

    def __init__(
        self, files: ModuleFiles, reading: Reading, run: Callable[[ModuleText, Scope], None]
    ) -> None:
        self._files = files
        self._reading = reading
        self._run = run
        self._scopes: dict[str, Scope | None] = {}

    def scope(self, name: str) -> Scope | None:
        """Return the names of a module after its first import; None if it is not followed."""
        if name not in self._scopes:
            package = name.rpartition(".")[0]
            text = None if package and self.scope(package) is None else self._text(name)
            self._scopes[name] = None
            if text is not None:
                around = name if text.is_package else package
                scope = Scope({"__name__": Known(name), "__package__": Known(around)})
                # A cycle of imports finds the names that are bound so far.
                self._scopes[name] = scope
                with self._reading.inside(text.file):
                    self._run(text, scope)
        return self._scopes[name]

    def member(self, name: str) -> Value | None:
        """Return a module or a value in it, by the full name; None if the module is not followed."""
        module, _, last = name.rpartition(".")
        scope = self.scope(module) if module else None
        if scope and last in scope.values:
            return scope.values[last]
        return Module(name) if self.scope(name) else None

    def public(self, module: str) -> dict[str, Value] | None:
        """Return the names that `from module import *` binds; None if the module is not followed."""
        scope = self.scope(module)
        if scope is None:
            return None
        listed = items_of(scope.values.get("__all__"))
        names = [whole_text(item) for item in listed] or [n for n in scope.values if not n.startswith("_")]
        return {name: value for name in names if name and (value := self.member(f"{module}.{name}"))}

    def _text(self, name: str) -> ModuleText | None:
        try:
            return self._files.find(name)
        except UnreadableModuleError as error:
            self._reading.gap(of_programs.MODULE(name=name, error=error))
            return None
