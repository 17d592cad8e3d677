"""Functions that mount the viewer in a page of a test, and find its boxes; the folder of its modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHECKOUT = Path(__file__).resolve().parents[2]
STATIC = CHECKOUT / "airflow_provider_spark_lineage" / "openlineage" / "viewer" / "static"

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

PREVIOUS = [{"id": "p", "label": "scheduled__2026-11-24"}, {"id": "q", "label": "scheduled__2026-11-23"}]


def box(page: Page, label: str) -> Any:
    return page.locator(".graph .header").filter(has=page.locator(".title", has_text=label))


def row(page: Page, name: str) -> Any:
    return page.locator(".graph .row").filter(has=page.locator(f".name:text-is('{name}')"))


def toggle(page: Page, label: str) -> None:
    page.locator(".graph .box").filter(has=page.locator(".title", has_text=label)).locator(".toggle").click()
