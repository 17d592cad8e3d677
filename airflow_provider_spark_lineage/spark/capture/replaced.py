"""Replaces methods of pyspark's classes, and restores them."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, Tuple


class Replacements:
    """The currently replaced methods and properties."""

    def __init__(self) -> None:
        self._replaced: Dict[Tuple[Any, str], Tuple[Any, Any]] = {}
        """Class and name of a method -> the original, the replacement."""

    def replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Replace the function of a method, a property or a cached property by `wrap(function)`, once."""
        if (owner, name) not in self._replaced:
            original = vars(owner)[name]
            replacement = _replacement(original, name, owner, wrap)
            self._replaced[owner, name] = (original, replacement)
            setattr(owner, name, replacement)

    def restore(self) -> None:
        """Restore the originals, except a method that was replaced again since: that calls ours."""
        for (owner, name), (original, replacement) in tuple(self._replaced.items()):
            if vars(owner).get(name) is replacement:
                setattr(owner, name, original)
                del self._replaced[owner, name]


def _replacement(original: Any, name: str, owner: Any, wrap: Callable[[Any], Any]) -> Any:
    if isinstance(original, property):
        return property(_wrapped(original.fget, wrap), doc=original.__doc__)
    if isinstance(original, functools.cached_property):
        replacement = functools.cached_property(_wrapped(original.func, wrap))
        replacement.__set_name__(owner, name)
        return replacement
    return _wrapped(original, wrap)


def _wrapped(original: Any, wrap: Callable[[Any], Any]) -> Any:
    wrapper: Any = functools.wraps(original)(wrap(original))
    if hasattr(original, "__code__"):
        # pyspark names jobs by the frame above its own files: it must be the user's, not ours.
        of_file = {"co_filename": original.__code__.co_filename, "co_name": original.__code__.co_name}
        wrapper.__code__ = wrapper.__code__.replace(**of_file)
    return wrapper


class without_own_frame:  # noqa: N801  reads as a statement
    """Remove the frame of the block from the traceback of an error that leaves it.

    The program then sees the same traceback as without capture. Before Python 3.11, Python adds the frame
    once more.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if trace is not None and trace.tb_frame is sys._getframe(1):
            error.__traceback__ = trace.tb_next
