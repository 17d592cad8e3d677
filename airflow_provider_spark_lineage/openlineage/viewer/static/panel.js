// The side panel: one dataset with what decides its rows, where its columns come from, and where they go.

import { checkLine } from "./checks.js";
import { button, copyable, cut, foreign, h, replace } from "./elements.js";
import { ROWS_AT_A_TIME } from "./picture.js";
import { edgesAt } from "./trace.js";
import { amounts, changeWord, counted, kind } from "./words.js";

const MOST_EDGES = 40;

// A button that traces a column; null stands for all rows.
/** @param {Context} context @param {number} dataset @param {string | null} column */
export function ref({ document, act }, dataset, column) {
  const parts = [foreign(document.datasets[dataset].label, 40), column === null ? " all rows" : [".", foreign(column, 60)]];
  return button("", () => act.trace(dataset, column), { class: "ref" }, parts);
}

/** @param {Context} context @param {number} dataset */
export function datasetButton({ document, act }, dataset) {
  return button("", () => act.select(dataset), { class: "ref" }, foreign(document.datasets[dataset].label, 40));
}

/**
 * A button that lights some datasets, and fades the others; a second click takes it back.
 * @param {Context} context @param {string} name one for each of these buttons @param {string} label
 * @param {number[]} datasets @param {Attributes} [attributes]
 */
export function lightButton({ state, act }, name, label, datasets, attributes) {
  const click = () => act.light(state.lightOf === name ? null : datasets, name);
  return button(label, click, { "data-light": name, "aria-pressed": String(state.lightOf === name), ...attributes });
}

/** @param {Edge} edge */
export const how = (edge) => `${kind(edge)}${edge.type === "INDIRECT" ? ", indirect" : ""}${edge.masking ? ", masked" : ""}`;

/** @param {Context} context */
export function panelOf(context) {
  const { document, state, act } = context;
  if (state.dataset === null) return [];
  const number = state.dataset;
  const dataset = document.datasets[number];
  const { into, out } = edgesAt(document);
  const rows = into[number].get(null) ?? [];
  const gaps = document.gaps.filter((gap) => gap.dataset === number);
  const close = button("✕", act.leave, { "aria-label": "✕ Close the panel", "data-key": "close" });
  return [
    h("div", { class: "top" }, h("h3", {}, foreign(dataset.label, 80)), close),
    h("p", { class: "muted" }, foreign(dataset.namespace, 80)),
    copyable(dataset.name, "Name of the dataset"),
    dataset.previous && h("p", {}, "Its name was ", foreign(dataset.previous.name, 200)),
    h("p", {}, facts(dataset)),
    dataset.beyond > 0 && h("p", { class: "muted" }, `${counted(dataset.beyond, "more job")} ${dataset.beyond === 1 ? "reads or writes" : "read or write"} it, outside of this picture`),
    gaps.map(({ column, reason }) =>
      h("p", { class: "warn" }, "⚠ ", column !== null && [foreign(column), ": "], foreign(reason, 500))),
    state.column !== undefined && traced(context),
    rows.length > 0 && [h("h4", {}, "All rows, decided by"), edgeList(context, rows, true)],
    h("h4", {}, `Columns${dataset.has_schema || !dataset.columns.length ? "" : ", without a schema: those with lineage"}`),
    columns(context, number),
    dataset.checks.length > 0 && [h("h4", {}, "Checks"), h("ul", {}, dataset.checks.map(checkLine))],
    dataset.metrics.length > 0 && h("h4", {}, "Metrics"),
    h("ul", {}, dataset.metrics.map((text) => h("li", {}, foreign(text, 200)))),
    out[number].size + into[number].size === 0 && h("p", { class: "muted" }, "No lineage of its columns was recorded."),
  ];
}

/** @param {Dataset} dataset */
function facts({ read, written, unfinished, reads, writes, change, format, catalog }) {
  return [
    unfinished && "the write was not finished",
    read && ["read", ...amounts(reads)].join(", "),
    written && [changeWord(change), ...amounts(writes)].join(", "),
    format && cut(format, 60),
    catalog && cut(`catalog ${catalog}`, 80),
  ].filter(Boolean).join(" · ");
}

/** @param {Context} context @param {number[]} numbers @param {boolean} upwards */
function edgeList(context, numbers, upwards) {
  const lines = numbers.slice(0, MOST_EDGES).map((number) => {
    const edge = context.document.edges[number];
    const end = upwards ? ref(context, edge.from, edge.field) : ref(context, edge.to, edge.column);
    return h("li", {}, upwards ? "← " : "→ ", end, how(edge));
  });
  const rest = numbers.length - lines.length;
  return h("ul", {}, lines, rest > 0 && h("li", {}, `${rest} more in the table of columns`));
}

// The trace as text, for who does not see the graph.
/** @param {Context} context */
function traced(context) {
  const { document, state, trace } = context;
  const edges = [...(trace?.edges ?? [])].map((number) => document.edges[number]);
  return [
    h("h4", {}, "Trace of ", state.column === null ? "all rows" : foreign(state.column ?? ""), `: ${counted(edges.length, "edge")}`),
    h("ul", { class: "trace" }, edges.slice(0, MOST_EDGES).map((edge) =>
      h("li", {}, ref(context, edge.from, edge.field), "→ ", ref(context, edge.to, edge.column), how(edge)))),
    document.rows.length > 0 && button("Also by rows", context.act.followRows,
      { "aria-pressed": String(state.byRows), "data-key": "by-rows" }),
    button("Leave the trace", () => context.act.select(/** @type {number} */ (state.dataset)), { "data-key": "untrace" }),
  ];
}

/** @param {Context} context @param {number} number */
function columns(context, number) {
  const { document, state, act } = context;
  const { into, out } = edgesAt(document);
  const list = h("ul", {});
  let most = ROWS_AT_A_TIME;
  const draw = () => {
    const filter = (state.filters.get(number) ?? "").toLowerCase();
    const found = document.datasets[number].columns.filter(({ name }) => name.toLowerCase().includes(filter));
    const rest = found.length - most;
    const more = () => {
      most += ROWS_AT_A_TIME;
      draw();
    };
    const lines = found.slice(0, most).map(({ name, type }, index) => {
      const attributes = { class: "ref", "aria-pressed": String(state.column === name), "data-key": `column-${index}` };
      return h("li", { class: "column" },
        button("", () => act.trace(number, name), attributes, foreign(name)),
        h("span", { class: "muted" }, foreign(type, 40)),
        into[number].has(name) && edgeList(context, into[number].get(name) ?? [], true),
        out[number].has(name) && edgeList(context, out[number].get(name) ?? [], false));
    });
    replace(list, lines, rest > 0 && h("li", {}, button(`${rest} more`, more, { "data-key": "more" })));
  };
  const search = (/** @type {any} */ event) => {
    act.filter(number, event.target.value);
    draw();
  };
  const filter = h("input", { type: "search", placeholder: "Filter columns", "aria-label": "Filter columns",
    value: state.filters.get(number), "data-key": "filter", input: search });
  draw();
  return [document.datasets[number].columns.length > ROWS_AT_A_TIME && filter, list];
}
