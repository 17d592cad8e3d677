"""What the tests of the viewer mount, and where its modules are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHECKOUT = Path(__file__).resolve().parents[2]
STATIC = CHECKOUT / "airflow_provider_spark_lineage" / "viewer" / "static"

MOUNT = """async (text) => {
  const [answer, runs] = JSON.parse(text);
  const { mount } = await import("/viewer.js");
  const address = {
    read: () => new URLSearchParams(location.search),
    write: (parameters) => history.replaceState(history.state, "", `?${parameters}`),
  };
  globalThis.asked = [];
  const source = {
    load: async (which) => (asked.push(which), answer),
    previous: async (id) => runs[id] ?? null,
    open: (id) => asked.push(id),
  };
  globalThis.unmount = mount(document.getElementById("here"), source, { address });
}"""

Show = Callable[..., "Page"]
"""Mounts the viewer with an answer; the second argument has earlier runs by their ids."""
