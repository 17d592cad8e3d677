// The viewer: one answer of a source in a shadow root, its state, and the parts that show it.

import { button, copyable, cut, download, foreign, h, replace } from "./elements.js";
import { checksPanel, failedChecks } from "./checks.js";
import { clean, cleanAnswer } from "./document.js";
import { findField } from "./find.js";
import { createGraph } from "./graph.js";
import { lightButton, panelOf } from "./panel.js";
import { MOST_OF_A_SIDE, ROWS_AT_A_TIME } from "./picture.js";
import { dress, followTheme } from "./styles.js";
import { emptyState, tabsOf } from "./tables.js";
import { trace } from "./trace.js";
import { amounts, counted, lasted, stateWord, took } from "./words.js";

const MOST_OPEN_ALL = 40, MOST_LINES = 6;
const UNLIT = { lit: null, lightOf: null };

/**
 * Show the answer of a source in an element. Returns what removes it.
 * @param {Element} element @param {Source} source @param {{address: Address}} options
 */
export function mount(element, source, { address }) {
  const host = h("div", { style: "height:100%" });
  for (const name of ["keydown", "keypress", "keyup"]) host.addEventListener(name, keepKey);
  const root = host.attachShadow({ mode: "open" });
  const viewer = /** @type {HTMLElement} */ (h("div", { class: "viewer" }));
  dress(root);
  root.append(viewer);
  element.append(host);
  const unfollow = followTheme(viewer);
  let stop = () => {};
  let turn = 0;

  /** @param {number | null} number */
  async function load(number) {
    turn += 1;
    const mine = turn;
    stop();
    stop = () => {};
    viewer.replaceChildren(h("p", { class: "empty", role: "status" }, "Loading the lineage…"));
    try {
      const answer = cleanAnswer(await source.load({ try: number }));
      if (mine === turn) stop = show(viewer, answer, source, address, load);
    } catch (error) {
      if (mine !== turn) return;
      const sentence = error instanceof Error ? error.message : "The lineage could not be loaded.";
      const again = button("Try again", () => load(number));
      viewer.replaceChildren(h("div", { class: "empty", role: "alert" }, h("p", {}, foreign(sentence, 500)), again));
    }
  }
  load(null);
  return () => {
    turn += 1;
    stop();
    unfollow();
    host.remove();
  };
}

/**
 * @param {HTMLElement} viewer @param {Answer} answer @param {Source} source @param {Address} address
 * @param {(number: number | null) => void} load
 */
function show(viewer, answer, source, address, load) {
  const notes = answer.notes.map((note) => h("p", { class: "note", role: "note" }, foreign(note, 500)));
  const other = (/** @type {any} */ event) => {
    const parameters = address.read();
    parameters.set("try_number", event.target.value);
    address.write(parameters);
    load(Number(event.target.value));
  };
  const tries = answer.tries.length > 1 && h("select", { "aria-label": "Try", change: other }, answer.tries.map((number) => h("option", { value: number, selected: number === answer.try }, `try ${number}`)));
  if (!answer.document) {
    viewer.replaceChildren(...(tries ? [h("header", {}, tries)] : []), ...notes, emptyState(answer));
    return () => {};
  }
  const document = answer.document;
  const state = stateOf(document, address.read());
  const panel = h("aside", { "aria-label": "Selected dataset", tabindex: 0 });
  const pane = h("div", { class: "pane", role: "tabpanel", tabindex: 0, id: "pane", "aria-labelledby": "tab" });
  const tabList = h("div", { class: "tabs", role: "tablist", "aria-label": "Tables" });

  /** @param {Partial<State>} change @param {{anchor?: number, quiet?: boolean}} how */
  function set(change, { anchor, quiet } = {}) {
    Object.assign(state, change);
    const parameters = address.read();
    for (const [key, value] of Object.entries(parametersOf(document, state))) {
      if (value === null) parameters.delete(key);
      else parameters.set(key, value);
    }
    if (String(parameters) !== String(address.read())) address.write(parameters);
    const { dataset, column } = state;
    context.trace = dataset !== null && column !== undefined ? trace(document, dataset, column, state.byRows && document.rows.length > 0) : null;
    const lit = context.trace?.datasets ?? (state.lit && new Set(state.lit));
    graph.update({ ...state, trace: context.trace, lit }, anchor);
    openAll.textContent = state.opened.size ? "Close all" : "Open all";
    for (const each of viewer.querySelectorAll("[data-light]")) {
      each.setAttribute("aria-pressed", String(each.getAttribute("data-light") === state.lightOf));
    }
    if (quiet) return;
    replace(panel, panelOf(context));
    panel.hidden = state.dataset === null;
  }

  /** @type {Acts} */
  const act = {
    select: (dataset) => set({ dataset, column: undefined, ...UNLIT }, { anchor: dataset }),
    toggle: (dataset) => {
      if (!state.opened.delete(dataset)) state.opened.add(dataset);
      set(state.column === undefined ? { dataset } : {}, { anchor: dataset });
    },
    more: (dataset) => {
      state.most.set(dataset, (state.most.get(dataset) ?? ROWS_AT_A_TIME) + ROWS_AT_A_TIME);
      state.opened.add(dataset);
      set({}, { anchor: dataset });
    },
    moreOfSide: () => set({ sides: state.sides + MOST_OF_A_SIDE }),
    trace: (dataset, column) => set({ dataset, column, ...UNLIT }, { anchor: dataset }),
    followRows: () => set({ byRows: !state.byRows }),
    leave: () => set(state.column !== undefined || state.lit ? { column: undefined, ...UNLIT } : { dataset: null }),
    light: (lit, name) => set({ lit, lightOf: lit && (name ?? null), column: undefined }),
    filter: (dataset, text) => {
      state.filters.set(dataset, text);
      set({}, { anchor: dataset, quiet: true });
    },
    compare: (vs) => set({ vs }, { quiet: true }),
  };
  const graph = createGraph(document, act);
  /** @type {Context} */
  const context = { document, answer, state, act, trace: null,
    source: { open: source.open?.bind(source), previous: async (id) => clean(await source.previous(id)) } };

  const tabs = tabsOf(context);
  /** @param {string} id */
  function openTab(id) {
    state.tab = id;
    const at = Math.max(0, tabs.findIndex((tab) => tab.id === id));
    const move = (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) go(tabs[(at + step + tabs.length) % tabs.length].id);
    };
    replace(tabList, tabs.map(({ id: each, title }, index) => h("button", {
      type: "button", role: "tab", id: index === at ? "tab" : null, "aria-selected": String(index === at),
      "aria-controls": index === at ? "pane" : null, tabindex: index === at ? 0 : -1, keydown: move,
      click: () => go(each),
    }, title)));
    replace(pane, tabs[at].draw(context));
  }

  /** @param {string} id */
  function go(id) {
    openTab(id);
    set({}, { quiet: true });
    /** @type {HTMLElement | null} */ (tabList.querySelector("#tab"))?.focus();
  }

  const find = findField(document, (dataset, column) => {
    if (column === undefined) act.select(dataset);
    else act.trace(dataset, column);
    graph.show(dataset, column);
  });
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.defaultPrevented || isModified(event) || isEditable(event.composedPath()[0])) return;
    if (event.key === "Escape") act.leave();
    if (event.key !== "/") return;
    event.preventDefault();
    event.stopPropagation();
    find.querySelector("input")?.focus();
  };
  // The page around the viewer: its own keys go on, while somebody writes there or answers a dialog.
  const outside = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {Element | null} */ (event.target);
    if (!event.composedPath().includes(viewer) && !target?.closest?.("[role=dialog], [role=menu], [role=listbox]")) keys(event);
  };
  viewer.addEventListener("keydown", keys);
  addEventListener("keydown", outside, true);
  const openAll = button("Open all", () => {
    set({ opened: new Set(state.opened.size ? [] : document.datasets.keys()) });
    graph.arrange();
  });
  const picture = () => download("lineage.svg", graph.text(viewer.classList.contains("dark")), "image/svg+xml");
  viewer.replaceChildren(
    h("header", {}, h("h2", {}, foreign(document.title, 80)), tries, summary(document, answer.kind), find),
    ...(answer.about ? [h("p", { class: "about muted" }, foreign(answer.about, 500))] : []),
    ...notes, ...(failedChecks(document).length ? [checksPanel(document, () => go("checks"))] : []), ...document.failures.map((failure, index) => failurePanel(context, failure, index)),
    h("div", { class: "middle" },
      h("div", { class: "canvas" }, graph.element,
        !document.datasets.length && h("p", { class: "empty" }, "No dataset was read or written."),
        h("div", { class: "below" },
          h("div", { class: "legend" }, h("i", {}), "direct: value", h("i", { class: "indirect" }), "indirect: decides"),
          h("div", { class: "tools" },
            button("−", () => graph.zoom(0.8), { "aria-label": "− Zoom out" }),
            button("+", () => graph.zoom(1.25), { "aria-label": "+ Zoom in" }),
            button("Fit", graph.fit), document.datasets.length <= MOST_OPEN_ALL && openAll, button("SVG", picture)))),
      panel),
    tabList, pane);
  openTab(state.tab);
  set({});
  return () => {
    graph.stop();
    viewer.removeEventListener("keydown", keys);
    removeEventListener("keydown", outside, true);
  };
}

/** @param {KeyboardEvent} event */
const isModified = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/** @param {EventTarget} target */
const isEditable = (target) => target instanceof HTMLElement
  && (target.isContentEditable || target.matches("input, select, textarea"));

// Keep keys from the page around: there each letter may be a shortcut, as `g` of Airflow, which draws another page.
/** @param {Event} event */
function keepKey(event) {
  const target = event.composedPath()[0];
  const isOwn = isEditable(target) || (target instanceof Element && target.matches("svg.graph"));
  if (isOwn || !isModified(/** @type {KeyboardEvent} */ (event))) event.stopPropagation();
}

/** @param {ViewDocument} document @param {URLSearchParams} parameters @returns {State} */
function stateOf({ datasets }, parameters) {
  const name = parameters.get("sl_dataset");
  const found = name === null ? -1 : datasets.findIndex((dataset) => nameOf(dataset) === name);
  const column = parameters.get("sl_column");
  return {
    dataset: found < 0 ? null : found, column: found < 0 || column === null ? undefined : column || null,
    tab: parameters.get("sl_tab") ?? "", vs: parameters.get("sl_vs") ?? "",
    byRows: parameters.has("sl_rows"), ...UNLIT,
    opened: new Set(), most: new Map(), filters: new Map(), sides: MOST_OF_A_SIDE,
  };
}

// The permalink; an empty column stands for all rows.
/** @param {ViewDocument} document @param {State} state */
function parametersOf({ datasets }, { dataset, column, tab, vs, byRows }) {
  return {
    sl_dataset: dataset === null ? null : nameOf(datasets[dataset]),
    sl_column: dataset === null || column === undefined ? null : column ?? "",
    sl_rows: dataset !== null && column !== undefined && byRows ? "1" : null,
    sl_tab: tab || null,
    sl_vs: vs || null,
  };
}

// Return the permalink of a dataset, or of the trace of its column.
/** @param {{namespace: string, name: string, column?: string | null}} chosen */
export function parametersFor(chosen) {
  const parameters = new URLSearchParams({ sl_dataset: nameOf(chosen) });
  if (typeof chosen.column === "string") parameters.set("sl_column", chosen.column);
  return parameters;
}

// Compared as a whole, never taken apart.
/** @param {{namespace: string, name: string}} dataset */
const nameOf = ({ namespace, name }) => `${namespace} ${name}`;

// Return for how long at least one execution ran; executions may run beside each other.
/** @param {Execution[]} executions */
function timeOf(executions) {
  const spans = executions.map(({ began, ended }) => [Date.parse(began), Date.parse(ended)]).sort(([a], [b]) => a - b);
  if (!spans.every(([began, ended]) => ended >= began)) return "";
  let [sum, until] = [0, -Infinity];
  for (const [began, ended] of spans) {
    sum += Math.max(0, ended - Math.max(began, until));
    until = Math.max(until, ended);
  }
  return lasted(sum);
}

/** @param {number} count */
const ofDatasets = (count) => (count ? counted(count, "dataset") : "nothing");

/** @param {ViewDocument} document @param {string} kind */
function summary({ run, datasets, executions, planned, gaps, tasks }, kind) {
  const state = stateWord(run.state);
  const time = took(run.began, run.ended);
  const ofAll = timeOf(executions);
  const whole = tasks.length && kind !== "task" ? "run" : run.task_id ? "task" : "run";
  const [reads, writes] = [datasets.filter(({ read }) => read), datasets.filter(({ written }) => written)];
  const facts = [
    planned && "planned, not run",
    executions.length > 0 && counted(executions.length, "execution") + (ofAll && `: ${ofAll}`),
    time && `${whole}: ${time}`,
    cut(run.engine, 40),
    `read ${ofDatasets(reads.length)}`,
    writes.length === 1
      ? ["wrote " + cut(writes[0].label, 40), ...amounts(writes[0].writes)].join(", ")
      : `wrote ${ofDatasets(writes.length)}`,
    gaps.length > 0 && `⚠ ${counted(gaps.length, "gap")}`,
  ].filter(Boolean).join(" · ");
  return [
    state && h("span", { class: `state ${run.state === "fail" ? "bad" : ""}` }, cut(state, 20)),
    h("span", { class: "facts muted" }, h("bdi", {}, facts)),
  ];
}

/** @param {Context} context @param {Failure} failure @param {number} index */
function failurePanel(context, { message, error_class, sql_state, execution, fragment }, index) {
  const { document } = context;
  // Of several tasks together, the one that is named has failed: their run may have gone on.
  const what = document.run.task_id ? "The task failed" : document.tasks.length ? "failed" : "The run failed";
  const order = Number(/^execution (\d+)/.exec(execution)?.[1]);
  // Each process of a deferred task counts its executions from 1.
  const failed = document.executions.filter(({ state }) => state === "fail");
  const of = failed.find(({ name, number }) => number === order || (execution && name === execution)) ?? failed[0];
  const reads = of ? of.reads : [...document.datasets.keys()].filter((dataset) => document.datasets[dataset].read);
  return h("section", { class: "failure", "aria-label": "Failure" },
    h("strong", { class: "bad" }, "✕ ", execution && [foreign(execution, 80), ": "],
      foreign(error_class || what, 120), sql_state && ` ${cut(sql_state, 12)}`), " ",
    reads.length > 0 && reads.length < document.datasets.length
      && lightButton(context, `failure-${index}`, "Show what it read", reads),
    message && messageOf(message, failedChecks(document).length > 0),
    fragment && copyable(fragment, "Fragment of the statement"));
}

// The beginning of a long message, and a button for the rest; where checks have failed, they say the same better.
/** @param {string} message @param {boolean} isShort */
function messageOf(message, isShort) {
  const lines = message.trim().split("\n");
  const most = isShort ? 1 : MOST_LINES;
  const text = h("pre", { tabindex: 0 }, foreign(lines.slice(0, most).join("\n"), 20000));
  const more = button(`Show all ${counted(lines.length, "line")}`, () => {
    text.replaceChildren(foreign(message, 20000));
    text.focus();
    more.remove();
  });
  return [text, lines.length > most && more];
}
