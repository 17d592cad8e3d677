"""The actions of a person in the viewer."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from viewer import documents
from viewer.mounting import MOUNT, Show, box, row, toggle


def test_the_columns_that_decide_the_rows_are_one_click_away(viewer: Page) -> None:
    """Select the output: the panel has the group "All rows, decided by"."""
    box(viewer, "revenue").click()
    panel = viewer.locator("aside")
    expect(panel.get_by_role("heading", name="All rows, decided by")).to_be_visible()
    expect(panel.locator("h4:has-text('All rows') + ul li")).to_have_text(
        [
            "← customers.idjoin, indirect",
            "← orders.customer_idjoin, indirect",
            "← orders.statusfilter, indirect",
            "← customers.countrygroup by, indirect, masked",
        ]
    )


def test_a_click_on_a_column_leaves_its_trace_alone(viewer: Page) -> None:
    """Direct edges are solid, indirect ones dashed, both are named in words; others are dimmed."""
    toggle(viewer, "revenue")
    row(viewer, "revenue").click()
    expect(viewer.locator(".edge")).to_have_count(2)
    expect(viewer.locator(".edge.direct")).to_have_css("stroke-dasharray", "none")
    expect(viewer.locator(".edge.indirect")).to_have_css("stroke-dasharray", "5px, 4px")
    expect(viewer.locator(".kind")).to_have_text(["aggregation", "conditional"])
    expect(viewer.locator(".box.dim .title")).to_have_text("customers")
    expect(viewer.locator(".trace li")).to_have_count(2)
    viewer.get_by_role("button", name="Leave the trace").click()
    expect(viewer.locator(".box.dim")).to_have_count(0)


def test_opening_keeps_the_box_where_it_is(viewer: Page) -> None:
    """Also when a box above it opens by the same click: a trace."""
    toggle(viewer, "orders")
    amount = row(viewer, "amount")
    before = amount.bounding_box()
    header = box(viewer, "orders").bounding_box()
    amount.click()
    expect(viewer.locator(".row.traced").first).to_be_visible()
    after = box(viewer, "orders").bounding_box()
    assert before
    assert (after["x"], after["y"]) == (header["x"], header["y"])


def test_rows_come_twelve_at_a_time_and_by_filter(show: Show) -> None:
    """The filter of the panel filters the box, too."""
    page = show(documents.answer(documents.wide(30)))
    toggle(page, "out")
    rows = page.locator(".graph .row .name")
    expect(rows).to_have_count(13)
    page.get_by_role("button", name="Fit").click()
    row(page, "18 more").click()
    expect(rows).to_have_count(25)
    page.get_by_label("Filter columns").press_sequentially("_002")
    expect(rows).to_have_count(10)
    expect(page.locator("aside li.column")).to_have_count(10)


def test_find_a_column_and_trace_it(viewer: Page) -> None:
    """A slash goes to the field; Enter takes the first of what was found."""
    viewer.locator("svg.graph").focus()
    viewer.keyboard.press("/")
    viewer.keyboard.type("amou")
    expect(viewer.locator(".found [role=option]")).to_have_text(["orders.amount"])
    viewer.keyboard.press("Enter")
    expect(viewer.locator(".row.traced .name")).to_have_text(["amount", "revenue"])
    expect(viewer.get_by_role("listbox")).to_be_hidden()
    # The keyboard goes on in the graph, from what was found.
    expect(viewer.locator("svg.graph")).to_be_focused()
    expect(viewer.locator(".graph .cursor .name")).to_have_text("amount")
    viewer.keyboard.press("ArrowRight")
    expect(viewer.locator(".graph .cursor .name")).to_have_text("revenue")
    viewer.keyboard.press("Escape")
    expect(viewer.locator(".row.traced")).to_have_count(0)


def test_find_counts_what_it_does_not_list(show: Show) -> None:
    """So that nobody takes the list for all."""
    page = show(documents.answer(documents.wide(125)))
    page.get_by_role("combobox").fill("column")
    expect(page.locator(".found [role=option]")).to_have_count(20)
    expect(page.locator(".found")).to_contain_text("and 230 more")


def test_a_slash_finds_from_anywhere_in_the_page(viewer: Page) -> None:
    """As soon as the viewer is there; in a field of the page it is a letter."""
    viewer.evaluate("document.body.append(Object.assign(document.createElement('input'), { id: 'other' }))")
    viewer.locator("#other").press("/")
    expect(viewer.locator("#other")).to_have_value("/")
    viewer.evaluate("document.activeElement.blur()")
    viewer.keyboard.press("/")
    expect(viewer.get_by_label("Find a dataset or column")).to_be_focused()
    expect(viewer.get_by_label("Find a dataset or column")).to_have_value("")


def test_keys_stay_in_the_viewer(viewer: Page) -> None:
    """In fields and the graph all of them; elsewhere those with Ctrl, Alt or Meta go on to the page."""
    viewer.evaluate("""() => {
      globalThis.left = [];
      for (const name of ["keydown", "keypress", "keyup"])
        document.addEventListener(name, (event) => left.push(event.key));
    }""")
    for place in (
        viewer.get_by_label("Find a dataset or column"),
        viewer.get_by_label("Filter the table"),
        viewer.locator("svg.graph"),
    ):
        for key in ("g", "7", "Control+k", "ArrowDown", "Escape", "t"):
            place.press(key)
    viewer.get_by_role("button", name="Fit").press("g")
    assert viewer.evaluate("left") == []
    viewer.get_by_role("button", name="Fit").press("Control+k")
    assert "k" in viewer.evaluate("left")


def test_the_focus_stays_in_the_panel(show: Show) -> None:
    """Whoever uses the keyboard does not begin anew at the top of the page."""
    page = show(documents.answer(documents.wide(30)))
    box(page, "out").click()
    panel = page.locator("aside")
    column = panel.locator("li.column button.ref").first
    column.press("Enter")
    expect(page.locator(".row.traced").first).to_be_visible()
    expect(panel.locator("li.column button.ref").first).to_be_focused()
    panel.get_by_role("button", name="more").last.press("Enter")
    assert page.evaluate(
        "() => document.querySelector('main > div').shadowRoot.activeElement?.closest('aside') !== null"
    )


def test_the_chosen_option_of_the_find_field_is_in_view(show: Show) -> None:
    """The list is shorter than what it has."""
    page = show(documents.answer(documents.wide(30)))
    field = page.get_by_role("combobox", name="Find a dataset or column")
    field.fill("_00")
    for _ in range(9):
        field.press("ArrowDown")
    expect(page.locator(".found [aria-selected=true]")).to_be_in_viewport()


def test_the_chosen_try_is_in_the_address(viewer: Page) -> None:
    """So that a copied address shows the same."""
    viewer.get_by_label("Try").select_option("1")
    assert viewer.evaluate("new URLSearchParams(location.search).get('try_number')") == "1"


def test_a_picture_that_nobody_has_moved_fits_its_window(viewer: Page) -> None:
    """After the window was made smaller, too."""
    viewer.set_viewport_size({"width": 760, "height": 860})
    for title in ("orders", "customers", "revenue"):
        expect(box(viewer, title)).to_be_in_viewport(ratio=1)


def test_open_all_says_what_it_will_do(viewer: Page) -> None:
    """A box that was opened by hand can be closed by it."""
    toggle(viewer, "orders")
    viewer.get_by_role("button", name="Close all").click()
    expect(viewer.locator(".graph .row")).to_have_count(0)
    expect(viewer.get_by_role("button", name="Open all")).to_be_visible()


def test_a_failure_shows_what_it_read(show: Show) -> None:
    """Class, SQLSTATE and message above the graph; what did not finish is dashed."""
    page = show(documents.answer(documents.failed()))
    failure = page.get_by_role("region", name="Failure")
    expect(failure).to_contain_text("execution 2 (command): SparkArithmeticException 22012")
    expect(failure).to_contain_text("Division by zero")
    expect(page.locator(".unfinished .detail").first).to_have_text("not finished")
    failure.get_by_role("button", name="Show what it read").click()
    expect(page.locator(".box.dim .title")).to_have_text("revenue")


def test_another_try_is_loaded(viewer: Page) -> None:
    """The source is asked for it."""
    viewer.get_by_label("Try").select_option("1")
    expect(viewer.get_by_label("Try")).to_be_visible()
    viewer.wait_for_function("asked.length === 2")
    assert viewer.evaluate("asked") == [{"try": None}, {"try": 1}]


def test_a_permalink_shows_the_same_in_a_new_page(viewer: Page, context: BrowserContext) -> None:
    """Dataset, column and tab; what else is in the address stays."""
    viewer.evaluate("history.replaceState(null, '', '?try_number=2')")
    box(viewer, "revenue").click()
    viewer.locator("aside").get_by_role("button", name="country", exact=True).click()
    viewer.get_by_role("tab", name="Gaps 1").click()
    assert (
        viewer.url.partition("?")[2]
        == "try_number=2&sl_dataset=file+%2Fshop%2Frevenue&sl_column=country&sl_tab=gaps"
    )
    other = context.new_page()
    other.goto(viewer.url)
    other.evaluate(MOUNT, json.dumps([documents.answer(documents.simple()), {}]))
    expect(other.locator(".row.traced .name")).to_have_text(["country", "country"])
    expect(other.get_by_role("tab", name="Gaps 1")).to_have_attribute("aria-selected", "true")


def test_mounted_twice_it_is_there(viewer: Page) -> None:
    """A tab that is left and opened again."""
    viewer.evaluate("unmount()")
    expect(viewer.locator(".viewer")).to_have_count(0)
    viewer.evaluate(MOUNT, json.dumps([documents.answer(documents.simple()), {}]))
    expect(viewer.locator(".graph .title")).to_have_count(3)


def test_keyboard_only(viewer: Page) -> None:
    """The graph is one tab stop: arrows go along lines and rows, Enter opens, t traces, Escape leaves."""
    graph = viewer.locator("svg.graph")
    graph.focus()

    def at() -> str:
        return graph.evaluate("(svg) => svg.querySelector('.cursor').getAttribute('aria-label')")

    assert at() == "customers read · 2 rows · 640 B file /shop/customers"
    viewer.keyboard.press("ArrowDown")
    assert at() == "orders read · 3 rows · 1.3 KiB file /shop/orders"
    viewer.keyboard.press("ArrowRight")
    assert at() == "revenue overwritten · 1 row · 812 B ⚠ file /shop/revenue · 1 check failed with a warning"
    viewer.keyboard.press("Enter")
    viewer.keyboard.press("ArrowDown")
    assert at() == "all rows"
    viewer.keyboard.press("ArrowDown")
    assert at() == "country string"
    viewer.keyboard.press("t")
    expect(viewer.locator(".row.traced .name")).to_have_text(["country", "country"])
    viewer.keyboard.press("ArrowUp")
    viewer.keyboard.press("Escape")
    expect(viewer.locator(".row.traced")).to_have_count(0)
    viewer.keyboard.press("Escape")
    expect(viewer.locator("aside")).to_be_hidden()
    viewer.keyboard.press("Tab")
    assert graph.evaluate("(svg) => svg.getRootNode().activeElement.textContent") == "\u2212"


def test_tabs_by_arrows(viewer: Page) -> None:
    """One tab stop; the focus goes along."""
    viewer.get_by_role("tab", name="Columns 3").focus()
    viewer.keyboard.press("ArrowRight")
    expect(viewer.get_by_role("tab", name="Executions 2")).to_be_focused()
    expect(viewer.get_by_role("tabpanel")).to_contain_text("revenue.orders")


def test_the_focus_stays_where_a_panel_is_drawn_again(viewer: Page) -> None:
    """By a key of the code, never by a name of data."""
    viewer.get_by_role("tab", name="Executions 2").click()
    button = viewer.get_by_role("button", name="1: show its datasets")
    button.focus()
    viewer.keyboard.press("Enter")
    expect(button).to_be_focused()


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_copy(page: Page, context: BrowserContext, server: str, show: Show, has_clipboard: bool) -> None:
    """Without a clipboard the text is selected."""
    if has_clipboard:
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    else:
        page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.reload()
    show(documents.answer(documents.simple()))
    box(page, "revenue").click()
    page.get_by_role("button", name="Copy").click()
    if has_clipboard:
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "/shop/revenue"
    else:
        expect(page.get_by_role("button", name="Selected: press Ctrl+C")).to_be_visible()
        expect(page.get_by_label("Name of the dataset")).to_be_focused()


def test_pan_and_zoom(viewer: Page) -> None:
    """A drag is not a click; with Ctrl the wheel zooms, without it the page scrolls."""
    scene = viewer.locator("svg.graph > g")
    target = box(viewer, "orders").bounding_box()
    x, y = target["x"] + 20, target["y"] + 10
    before = scene.get_attribute("transform")
    viewer.mouse.move(x, y)
    viewer.mouse.down()
    viewer.mouse.move(x + 60, y + 40, steps=3)
    viewer.mouse.up()
    expect(viewer.locator("aside")).to_be_hidden()
    moved = box(viewer, "orders").bounding_box()
    assert (round(moved["x"] - target["x"]), round(moved["y"] - target["y"])) == (60, 40)
    viewer.get_by_role("button", name="Fit").click()
    expect(scene).to_have_attribute("transform", str(before))
    viewer.get_by_role("button", name="+ Zoom in").click()
    viewer.get_by_role("button", name="Fit").click()
    expect(scene).to_have_attribute("transform", str(before))


@pytest.mark.parametrize("width", [420, 700, 1400])
def test_open_all_shows_everything_beside_the_legend(show: Show, width: int) -> None:
    """No box lies outside of the graph, or below the legend and the buttons."""
    page = show(documents.answer(documents.simple()))
    page.set_viewport_size({"width": width, "height": 860})
    page.get_by_role("button", name="Open all").click()
    graph, below = page.locator("svg.graph").bounding_box(), page.locator(".below").bounding_box()
    assert below["y"] >= graph["y"] + graph["height"]
    for frame in page.locator(".graph .frame").all():
        box = frame.bounding_box()
        assert graph["x"] <= box["x"]
        assert box["x"] + box["width"] <= graph["x"] + graph["width"]
        assert graph["y"] <= box["y"]
        assert box["y"] + box["height"] <= graph["y"] + graph["height"]


def test_narrow_screens_have_one_column(viewer: Page) -> None:
    """Nothing is cut off at 420 pixels; the panel stands below the graph."""
    viewer.set_viewport_size({"width": 420, "height": 860})
    viewer.get_by_role("button", name="Fit").click()
    box(viewer, "revenue").click()
    graph, panel = viewer.locator(".canvas").bounding_box(), viewer.locator("aside").bounding_box()
    assert graph
    assert panel
    assert panel["y"] >= graph["y"] + graph["height"]
    assert viewer.locator(".viewer").evaluate("(element) => element.scrollWidth <= element.clientWidth")


def test_the_theme_follows_the_page_and_the_system(viewer: Page) -> None:
    """The class of the page wins, as Airflow sets it."""
    light, dark = "rgb(255, 255, 255)", "rgb(19, 23, 30)"
    shown = viewer.locator(".viewer")
    expect(shown).to_have_css("background-color", light)
    viewer.emulate_media(color_scheme="dark")
    expect(shown).to_have_css("background-color", dark)
    viewer.evaluate("document.documentElement.classList.add('light')")
    expect(shown).to_have_css("background-color", light)
    viewer.evaluate("document.documentElement.className = 'dark'")
    expect(shown).to_have_css("background-color", dark)


def test_print_is_light_and_without_buttons(viewer: Page) -> None:
    """Also from a dark page."""
    viewer.emulate_media(color_scheme="dark", media="print")
    expect(viewer.locator(".viewer")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(viewer.get_by_role("button", name="Fit")).to_be_hidden()


def test_an_empty_state_says_why(show: Show) -> None:
    """With the command that finds out more, which can be copied."""
    reason = {"sentence": "The task did not run Spark.", "command": "spark-lineage doctor"}
    page = show(documents.answer(None, reason=reason, notes=["A note."]))
    expect(page.locator(".empty")).to_contain_text("The task did not run Spark.")
    expect(page.get_by_label("Command that finds out more")).to_have_value("spark-lineage doctor")
    expect(page.get_by_role("note")).to_have_text("A note.")


def test_a_source_that_fails_can_be_asked_again(page: Page) -> None:
    """The sentence of its error is shown."""
    page.evaluate("""async () => {
      const { mount } = await import("/viewer.js");
      let times = 0;
      const load = async () => {
        times += 1;
        if (times === 1) throw new Error("Your session has ended: sign in again.");
        return { document: null };
      };
      const address = { read: () => new URLSearchParams(), write: () => {} };
      mount(document.getElementById("here"), { load, previous: async () => null }, { address });
    }""")
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended: sign in again.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".empty")).to_contain_text("could not be read")
