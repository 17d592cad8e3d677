"""Modules that draw nothing: layout, rows, trace, difference, and what becomes of malformed documents."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer import documents
from viewer.mounting import STATIC

LIMIT_BYTES = 135_000
LIMIT_COMPRESSED_BYTES = 42_000

GEOMETRY = """async (text) => {
  const document = JSON.parse(text);
  const { clean } = await import("/document.js");
  const { pictureOf } = await import("/picture.js");
  const { place, open } = await import("/layout.js");
  const picture = pictureOf(clean(document), new Set());
  const places = place(picture.boxes, picture.links);
  const boxes = picture.boxes.map(({ key, width, height }, box) =>
    ({ key: key.join(" "), width, height, x: places.x[box], y: places.y[box] }));
  const opened = boxes.map((_, box) =>
    open(places, boxes.map(({ height }, other) => height + (other === box ? 300 : 0))));
  return { boxes, links: picture.links, turned: [...places.turned], opened };
}"""


def geometry(modules: Page, shown: dict[str, Any]) -> dict[str, Any]:
    drawn: dict[str, Any] = modules.evaluate(GEOMETRY, json.dumps(shown))
    return drawn


def shuffled(shown: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same document with its datasets, flows and edges in another order."""
    chance = random.Random(seed)  # noqa: S311
    order = list(range(len(shown["datasets"])))
    chance.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    moved = {**shown, "datasets": [shown["datasets"][old] for old in order]}
    for lines in ("flows", "edges"):
        moved[lines] = [
            {**line, "from": place[line["from"]], "to": place[line["to"]]} for line in shown[lines]
        ]
        chance.shuffle(moved[lines])
    steps = ("reads", "writes")
    moved["tasks"] = [
        {**task, **{key: [place[old] for old in task[key]] for key in steps}} for task in shown["tasks"]
    ]
    return moved


SHAPES = {
    "simple": documents.simple(),
    "failed": documents.failed(),
    "cyclic": documents.cyclic(),
    "composed": documents.composed(),
    "many inputs": documents.many_inputs(100),
    "large": documents.large(120, 3, 8, 200),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_two_boxes_overlap_and_every_line_goes_right_or_is_marked(modules: Page, shape: str) -> None:
    """What is read stands left of what is written, and no box hides another."""
    drawn = geometry(modules, SHAPES[shape])
    boxes = drawn["boxes"]
    for number, a in enumerate(boxes):
        for b in boxes[number + 1 :]:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"], (a, b)
    for number, link in enumerate(drawn["links"]):
        goes_right = boxes[link["from"]]["x"] < boxes[link["to"]]["x"]
        assert goes_right != (number in drawn["turned"])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_of_the_input_changes_nothing(modules: Page, shape: str) -> None:
    """The same graph is the same picture on every day."""

    def places(shown: dict[str, Any]) -> list[Any]:
        return sorted((box["key"], box["x"], box["y"]) for box in geometry(modules, shown)["boxes"])

    expected = places(SHAPES[shape])
    assert [places(shuffled(SHAPES[shape], seed)) == expected for seed in range(3)] == [True] * 3


@pytest.mark.parametrize("shape", SHAPES)
def test_opening_a_box_moves_no_other_upwards(modules: Page, shape: str) -> None:
    """The opened box stays, what stands below it in its layer makes room, and everything else stays, too."""
    drawn = geometry(modules, SHAPES[shape])
    boxes = drawn["boxes"]
    for opened, tops in enumerate(drawn["opened"]):
        assert tops[opened] == boxes[opened]["y"]
        for box, other in enumerate(boxes):
            below = (
                other["x"] + other["width"] / 2 == boxes[opened]["x"] + boxes[opened]["width"] / 2
                and tops[box] > tops[opened]
            )
            assert tops[box] >= other["y"] if below else tops[box] == other["y"]


def test_cycles_of_any_length_end(modules: Page) -> None:
    """Two hundred datasets in a ring, each linked to the next and to itself."""
    datasets = [documents.dataset(f"/ring/{number:03}", "id", written=True) for number in range(200)]
    edges = [
        documents.edge(number, "id", (number + step) % 200, "id") for number in range(200) for step in (0, 1)
    ]
    drawn = geometry(modules, documents.document(datasets, edges))
    assert (len(drawn["boxes"]), len(drawn["turned"])) == (200, 201)


TRACE = """async ([document, dataset, column]) => {
  const { clean } = await import("/document.js");
  const { trace } = await import("/trace.js");
  const found = trace(clean(document), dataset, column);
  const labels = document.datasets.map(({ label }) => label);
  const named = (at, names) => [...names].map((name) => `${labels[at]}.${name ?? "*"}`);
  return [...found.columns].flatMap(([at, names]) => named(at, names)).sort();
}"""


@pytest.mark.parametrize(
    ("shown", "dataset", "column", "expected"),
    [
        (documents.simple(), 2, "revenue", "orders.amount orders.status revenue.revenue"),
        (
            documents.simple(),
            2,
            None,
            "customers.country customers.id orders.customer_id orders.status revenue.*",
        ),
        (documents.simple(), 0, "status", "orders.status revenue.* revenue.revenue"),
        (documents.simple(), 2, "score", "revenue.score"),
        (documents.cyclic(), 1, "id", "archive.id table.* table.id"),
    ],
)
def test_trace_goes_both_ways_and_ends_at_all_rows(
    modules: Page, shown: dict[str, Any], dataset: int, column: str | None, expected: str
) -> None:
    """What decides all rows is not followed into each column: then a trace would be everything."""
    assert modules.evaluate(TRACE, [shown, dataset, column]) == expected.split()


def test_a_trace_of_a_composed_run_goes_through_its_tasks(modules: Page) -> None:
    """From the raw column to the mean."""
    found = modules.evaluate(TRACE, [documents.composed(), 2, "mean_delay"])
    assert found == ["delays.mean_delay", "flights.delay", "flights.delay"]


DIFFERENCE = """async ([before, now]) => {
  const { clean } = await import("/document.js");
  const { difference } = await import("/difference.js");
  const { amounts, changes } = difference(clean(before), clean(now));
  return [...amounts.map(({ dataset, what, before, now }) => `${dataset.label} ${what} ${before} ${now}`),
    ...changes.map(({ sign, what, dataset, column, from, to }) =>
      [sign, what, dataset.name, column, from, to].filter((each) => each !== undefined).join(" "))];
}"""


def test_difference_of_two_runs(modules: Page) -> None:
    """Amounts, datasets, columns, types and edges."""
    found = modules.evaluate(DIFFERENCE, [documents.before_simple(), documents.simple()])
    assert found == [
        "revenue rows 3 1",
        "revenue size_bytes 700 812",
        "+ input /shop/customers",
        "\u2212 input /shop/clients",
        "+ column /shop/revenue score",
        "~ type /shop/revenue revenue float double",
        "+ edge /shop/revenue country customers.country direct identity",
        "+ edge /shop/revenue  customers.id indirect join",
        "+ edge /shop/revenue  customers.country indirect group_by",
        "\u2212 edge /shop/revenue country customers.country direct identity",
        "\u2212 edge /shop/revenue  customers.id indirect join",
        "\u2212 edge /shop/revenue  customers.country indirect group_by",
    ]


def test_a_run_does_not_differ_from_itself_in_another_order(modules: Page) -> None:
    """Only amounts are listed."""
    found = modules.evaluate(DIFFERENCE, [shuffled(documents.simple(), 1), documents.simple()])
    assert found == ["revenue rows 1 1", "revenue size_bytes 812 812"]


ROWS = """async ([document, state]) => {
  const { clean } = await import("/document.js");
  const { rowsOf } = await import("/picture.js");
  const traced = state.traced && new Set(state.traced);
  const rows = rowsOf(clean(document), 1, { ...state, traced });
  return rows.map(({ name, more }) => (more ? `${more} more` : name ?? "all rows"));
}"""


def test_twelve_rows_at_a_time_and_traced_columns_first(modules: Page) -> None:
    """A dataset of 30 columns never fills the screen by itself."""
    shown = documents.wide(30)

    def rows(**state: Any) -> list[str]:
        found: list[str] = modules.evaluate(ROWS, [shown, state])
        return found

    names = [f"column_{number:04}" for number in range(30)]
    assert rows(opened=False) == []
    assert rows(opened=True) == [*names[:12], "18 more"]
    assert rows(opened=True, most=24) == [*names[:24], "6 more"]
    assert rows(opened=True, filter="_002") == names[20:30]
    assert rows(opened=False, traced=["column_0020"]) == ["column_0020", "29 more"]
    assert rows(opened=True, traced=["column_0020"])[:2] == ["column_0020", "column_0000"]


def test_beyond_thirty_alike_one_box_has_the_rest(modules: Page) -> None:
    """3,600 inputs are thirty boxes, one more that says how many, and the output."""
    boxes = geometry(modules, documents.many_inputs(3600))["boxes"]
    assert len(boxes) == 32


CLEAN = """async (value) => {
  const { clean } = await import("/document.js");
  const document = clean(value);
  return document && [document.datasets.length, document.edges.length, document.problems];
}"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, [3, 7, []]),
        ({"edges": "none"}, [3, 0, ["The list of edges could not be read."]]),
        ({"edges": [{"from": 0}, 7, None]}, [3, 0, ["3 of 3 edges could not be read."]]),
        (
            {"edges": [documents.edge(9, "a", 2, "b")]},
            [3, 0, ["1 lines begin or end at a dataset that is not there."]],
        ),
        ({"datasets": None, "flows": []}, [0, 0, ["7 lines begin or end at a dataset that is not there."]]),
        ({"version": 2}, [3, 7, ["A newer version made this lineage; parts of it may be missing."]]),
        (
            {"run": 3, "title": [], "tasks": [1], "gaps": [{"reason": 1}]},
            [3, 7, ["1 of 1 gaps could not be read."]],
        ),
    ],
)
def test_malformed_parts_are_left_out_and_named(
    modules: Page, change: dict[str, Any], expected: list[Any]
) -> None:
    """A sentence where it was, everything else drawn."""
    assert modules.evaluate(CLEAN, {**documents.simple(), **change}) == expected


def test_a_gap_of_a_document_of_an_earlier_release_has_no_kind(modules: Page) -> None:
    """It is shown like the others."""
    gap = {"where": "a", "reason": "b", "dataset": 0, "column": None, "task": None}
    kinds = modules.evaluate(
        """async (value) => {
          const { clean } = await import("/document.js");
          return clean(value).gaps.map(({ kind }) => kind);
        }""",
        {**documents.simple(), "gaps": [gap, {**gap, "kind": "planned"}]},
    )
    assert kinds == [None, "planned"]


@pytest.mark.parametrize("value", [None, 3, "text", [], True])
def test_what_is_not_a_document_is_none(modules: Page, value: object) -> None:
    """The viewer then shows its empty state."""
    assert modules.evaluate(CLEAN, value) is None


def test_numbers_in_words(modules: Page) -> None:
    """The same in every language of a browser."""
    found = modules.evaluate("""async () => {
      const { bytes, change, counted, csv, took, when } = await import("/words.js");
      const [began, soon, late] = ["00:00", "00:41", "59:59"].map((time) => `2026-11-24T10:${time}Z`);
      return [bytes(812), bytes(1298), bytes(88 * 1024 ** 2), counted(1, "row"), counted(336776, "row"),
        change(3, 1), change(100, 100), change(0, 5), change(1204331, 1190020), change(1e6, 1000001),
        took(began, soon), took(began, late), took("", ""), when("2026-11-24T10:00:00+02:00"), when("soon"),
        csv([["a", "=1+1", 'say "b"', "-"]])];
    }""")
    assert found == [
        *("812 B", "1.3 KiB", "88 MiB", "1 row", "336,776 rows", "\u221266.7 %", "unchanged"),
        *(
            "from none",
            "\u22121.2 %",
            "+less than 0.1 %",
            "41 s",
            "59 min 59 s",
            "",
            "2026-11-24 08:00:00",
            "soon",
        ),
        '"a","\'=1+1","say ""b""","\'-"\r\n',
    ]


def test_find_has_equal_names_first(modules: Page) -> None:
    """Then beginnings, then the rest; datasets before columns."""
    found = modules.evaluate("""async () => {
      const { matching } = await import("/find.js");
      const named = (label, ...columns) =>
        ({ label, name: `/lake/${label}`, columns: columns.map((name) => ({ name })) });
      const datasets = [named("old_orders", "orders"), named("orders_2025", "id"),
        named("orders", "order", "orders_id")];
      return matching(datasets, "orders").map(({ dataset, column }) =>
        [datasets[dataset].label, column].filter(Boolean).join("."));
    }""")
    assert found == [
        *("orders", "orders_2025", "old_orders"),
        *("old_orders.orders", "orders_2025.id", "orders.order", "orders.orders_id"),
    ]


def test_labels_that_are_cut_differ_in_what_is_left(modules: Page) -> None:
    """Where two would be equal, what they have in common goes; where one fits, it stays."""
    labels = [
        "orders · postgres://reports.example:5432",
        "orders · postgres://reports.example:5433",
        "orders · postgres://archive.example:5432",
        "a_name_that_is_much_too_long_for_its_box",
        "short",
    ]
    titles = modules.evaluate("""async (labels) => (await import("/drawing.js")).titlesOf(labels)""", labels)
    assert len(set(titles)) == len(labels)
    assert all(len(title) <= 22 for title in titles)
    assert titles[3:] == ["a_name_that_is_much_t…", "short"]
    assert all(title.startswith("orders") for title in titles[:3])


def test_long_names_of_tasks_lose_their_dag(modules: Page) -> None:
    """Unless another task has the same end; the index of a mapped task stays."""
    names = [
        *("shop.load", "warehouse_of_shop.gold_orders", "warehouse_of_shop.gold.total [eu.west]"),
        *("warehouse_of_shop.copy_all", "warehouse_of_firm.copy_all"),
    ]
    titles = modules.evaluate("async (names) => (await import('/drawing.js')).titlesOfTasks(names)", names)
    assert titles[:3] == ["shop.load", "gold_orders", "total [eu.west]"]
    assert len(set(titles)) == 5
    assert all(len(title) <= 20 for title in titles)


def test_all_modules_together_are_small() -> None:
    """A page carries them all, as they are: nothing is minified, and comments are counted."""
    text = b"".join(path.read_bytes() for path in sorted(STATIC.glob("*.js")))
    assert len(text) < LIMIT_BYTES
    assert len(gzip.compress(text)) < LIMIT_COMPRESSED_BYTES
