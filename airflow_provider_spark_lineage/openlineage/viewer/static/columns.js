// The table of columns, of equal rank with the graph: per output column, then what decides all rows, then what has no edge.

import { button, download, foreign, h, replace } from "./elements.js";
import { how, ref } from "./panel.js";
import { csv, number } from "./words.js";

const ROWS_AT_A_TIME = 100;
const MASKED = "Masked: the values of the source cannot be read from the result: a hash or a count, for example.";
const EXPORTED = ["output_namespace", "output", "column", "input_namespace", "input", "field", "type", "subtype", "masking", "note"];

/** @param {ViewDocument} document */
export const outputColumns = ({ datasets }) =>
  datasets.flatMap(({ written, columns }, dataset) => (written ? columns.map(({ name }) => ({ dataset, name })) : []));

/** @param {Context} context */
export function columnsTable(context) {
  const { document } = context;
  const { datasets, edges } = document;
  const withEdge = datasets.map(() => new Set());
  for (const { to, column } of edges) withEdge[to].add(column);
  const bare = outputColumns(document).filter(({ dataset, name }) => !withEdge[dataset].has(name));
  let [filter, most] = ["", ROWS_AT_A_TIME];

  const isFound = (/** @type {string[]} */ ...texts) => texts.join(" ").toLowerCase().includes(filter);
  /** @param {boolean} perColumn */
  const found = (perColumn) => edges.filter((edge) => (edge.column !== null) === perColumn
    && isFound(datasets[edge.from].label, edge.field, datasets[edge.to].label, edge.column ?? "all rows", how(edge)));

  const body = h("div", {});
  const draw = () => {
    const parts = [found(true), found(false), foundBare()];
    const rest = parts.reduce((sum, part) => sum + Math.max(0, part.length - most), 0);
    const [columns, rows, others] = parts.map((part) => part.slice(0, most));
    const heads = ["Output column", "← from", "How", "Masked"].map((head) => h("th", { scope: "col" }, head));
    const group = (/** @type {string} */ head) => h("tr", {}, h("th", { colspan: 4, scope: "rowgroup" }, head));
    const lines = [
      edgeRows(context, /** @type {Edge[]} */ (columns)),
      rows.length > 0 && group("All rows: what decides which rows there are"),
      edgeRows(context, /** @type {Edge[]} */ (rows)),
      others.length > 0 && group("Columns without a source"),
      /** @type {typeof bare} */ (others).map(({ dataset, name }) => bareRow(context, dataset, name)),
    ];
    const isEmpty = parts.every((part) => !part.length);
    const more = () => {
      most += ROWS_AT_A_TIME;
      draw();
    };
    replace(body, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines)),
      edges.some(({ masking }) => masking) && h("p", { class: "muted" }, MASKED),
      rest > 0 && button(`${number(rest)} more`, more, { "data-key": "more" }),
      isEmpty && h("p", { class: "muted" }, filter ? "Nothing has this text." : datasets.some(({ written }) => written) ? "No lineage of columns was recorded." : "Nothing was written."));
  };

  const search = (/** @type {any} */ event) => {
    filter = event.target.value.toLowerCase();
    most = ROWS_AT_A_TIME;
    draw();
  };
  const foundBare = () => bare.filter(({ dataset, name }) => isFound(datasets[dataset].label, name));
  const shown = () => [...[...found(true), ...found(false)].map((edge) => exported(document, edge)),
    ...foundBare().map(({ dataset, name }) => exportedBare(document, dataset, name))];
  const asCsv = () => {
    const cells = shown().map((/** @type {Record<string, any>} */ row) => EXPORTED.map((head) => String(row[head] ?? "")));
    download("columns.csv", csv([EXPORTED, ...cells]), "text/csv");
  };
  const asJson = () => download("columns.json", JSON.stringify(shown(), null, 2), "application/json");
  draw();
  return h("div", {}, h("div", { class: "bar" },
    h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the table", input: search }),
    button("CSV", asCsv), button("JSON", asJson)), body);
}

// An output column stands once beside all of its edges, which follow each other.
/** @param {Context} context @param {Edge[]} edges */
function edgeRows(context, edges) {
  return edges.map((edge, index) => {
    const isSame = (/** @type {number} */ at) => edges[at]?.to === edge.to && edges[at].column === edge.column;
    let size = 1;
    while (isSame(index + size)) size += 1;
    const cells = [ref(context, edge.from, edge.field), how(edge), edge.masking ? "yes" : "no"];
    return h("tr", {}, !isSame(index - 1) && h("td", { rowspan: size }, ref(context, edge.to, edge.column)),
      cells.map((cell) => h("td", {}, cell)));
  });
}

/** @param {Context} context @param {number} dataset @param {string} name */
function bareRow(context, dataset, name) {
  const gap = gapOf(context.document, dataset, name);
  return h("tr", {}, h("td", {}, ref(context, dataset, name)), h("td", {}, gap ? "⚠ unknown" : "no column"),
    h("td", { colspan: 2 }, gap && foreign(gap.reason, 300)));
}

/** @param {ViewDocument} document @param {number} dataset @param {string} name */
const gapOf = ({ gaps }, dataset, name) =>
  gaps.find((each) => each.dataset === dataset && (each.column === name || each.column === null));

/** @param {ViewDocument} document @param {number} dataset @param {string} name */
function exportedBare(document, dataset, name) {
  const { namespace, name: output } = document.datasets[dataset];
  return { output_namespace: namespace, output, column: name, note: gapOf(document, dataset, name)?.reason ?? "no column" };
}

/** @param {ViewDocument} document @param {Edge} edge */
function exported({ datasets }, { from, field, to, column, type, subtype, masking }) {
  return {
    output_namespace: datasets[to].namespace, output: datasets[to].name, column,
    input_namespace: datasets[from].namespace, input: datasets[from].name, field,
    type, subtype, masking,
  };
}
