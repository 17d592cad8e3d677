// The tables below the graph: all that the graph shows, and more, without the graph.

import { button, copyable, download, foreign, h, replace, svg } from "./elements.js";
import { difference } from "./difference.js";
import { checkLine, datasetButton, how, ref } from "./panel.js";
import { bytes, change, counted, csv, number, took, when } from "./words.js";

const ROWS_AT_A_TIME = 100;

// Return the tabs that have something to show.
/** @param {Context} context @returns {Tab[]} */
export function tabsOf({ document, answer }) {
  const checks = document.datasets.reduce((sum, dataset) => sum + dataset.checks.length, 0);
  const about = document.facts.length + document.links.length + document.bottlenecks.length;
  /** @type {[string, string, number | boolean, (context: Context) => Node][]} */
  const tabs = [
    ["history", "History", answer.history.length, history],
    ["columns", "Columns", true, columns],
    ["tasks", "Tasks", document.tasks.length, tasks],
    ["executions", "Executions", document.executions.length, executions],
    ["previous", "Since the previous run", answer.previous.length > 0, previous],
    ["gaps", "Gaps", true, gaps],
    ["checks", "Checks", checks, checksOf],
    ["run", "Run", about > 0, run],
  ];
  return tabs.filter(([, , size]) => size).map(([id, title, size, draw]) => {
    const count = id === "columns" ? outputColumns(document).length : id === "gaps" ? document.gaps.length : size;
    return { id, title: typeof count === "number" ? `${title} ${number(count)}` : title, draw };
  });
}

/** @param {string[]} heads @param {Node[]} rows */
const table = (heads, rows) =>
  h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows));

/** @param {...Child} cells */
const row = (...cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)));

/** @param {ViewDocument} document */
const outputColumns = ({ datasets }) =>
  datasets.flatMap(({ written, columns }, dataset) => (written ? columns.map(({ name }) => ({ dataset, name })) : []));

/** @param {Context} context */
function columns(context) {
  const { document } = context;
  const { datasets, edges } = document;
  const labels = datasets.map(({ label }) => label);
  const perColumn = edges.filter(({ column }) => column !== null);
  const perRow = edges.filter(({ column }) => column === null);
  const withEdge = datasets.map(() => new Set());
  for (const { to, column } of edges) withEdge[to].add(column);
  const without = outputColumns(document).filter(({ dataset, name }) => !withEdge[dataset].has(name));
  const body = h("div", {});
  let [filter, most] = ["", ROWS_AT_A_TIME];
  /** @param {Edge} edge */
  const isFound = (edge) => [labels[edge.from], edge.field, labels[edge.to], edge.column ?? "all rows", how(edge)].join(" ").toLowerCase().includes(filter);
  const shown = () => [...perColumn, ...perRow].filter(isFound);
  /** @param {Edge[]} found */
  const group = (found) => found.slice(0, most).map((edge, index, shown) => {
    const isSame = (/** @type {number} */ other) => shown[other]?.to === edge.to && shown[other].column === edge.column;
    let size = 1;
    while (isSame(index + size)) size += 1;
    return h("tr", {}, !isSame(index - 1) && h("td", { rowspan: size }, ref(context, edge.to, edge.column)),
      [ref(context, edge.from, edge.field), how(edge), edge.masking ? "yes" : "no"].map((cell) => h("td", {}, cell)));
  });
  const draw = () => {
    const [found, rows] = [perColumn.filter(isFound), perRow.filter(isFound)];
    const bare = without.filter(({ dataset, name }) => `${labels[dataset]} ${name}`.toLowerCase().includes(filter));
    const gapOf = (/** @type {number} */ dataset, /** @type {string} */ name) =>
      document.gaps.find((gap) => gap.dataset === dataset && (gap.column === name || gap.column === null));
    const lines = [
      ...group(found),
      ...(rows.length ? [h("tr", {}, h("th", { colspan: 4, scope: "rowgroup" }, "All rows: what decides which rows there are"))] : []),
      ...group(rows),
      ...bare.slice(0, most).map(({ dataset, name }) => {
        const gap = gapOf(dataset, name);
        return row(ref(context, dataset, name), gap ? "⚠ unknown" : "no column", gap ? foreign(gap.reason, 300) : "", "");
      }),
    ];
    const rest = [found, rows, bare].reduce((sum, part) => sum + Math.max(0, part.length - most), 0);
    replace(body, table(["Output column", "← from", "How", "Masked"], lines),
      rest > 0 && button(`${number(rest)} more`, () => { most += ROWS_AT_A_TIME; draw(); }, { "data-key": "more" }),
      lines.length === 0 && h("p", { class: "muted" }, filter ? "Nothing has this text." : "No lineage of columns was recorded."));
  };
  const input = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the table",
    input: (/** @type {any} */ event) => { filter = event.target.value.toLowerCase(); most = ROWS_AT_A_TIME; draw(); } });
  const exported = () => shown().map((edge) => {
    const [to, from] = [datasets[edge.to], datasets[edge.from]];
    return { output_namespace: to.namespace, output: to.name, column: edge.column, input_namespace: from.namespace,
      input: from.name, field: edge.field, type: edge.type, subtype: edge.subtype, masking: edge.masking };
  });
  draw();
  return h("div", {}, h("div", { class: "bar" }, input,
    button("CSV", () => {
      const rows = exported();
      download("columns.csv", csv([Object.keys(rows[0] ?? {}), ...rows.map((each) => Object.values(each).map((value) => String(value ?? "")))]), "text/csv");
    }),
    button("JSON", () => download("columns.json", JSON.stringify(exported(), null, 2), "application/json"))), body);
}

/** @param {Context} context */
function executions(context) {
  const { document, act } = context;
  /** @type {HTMLElement[]} */
  const buttons = [];
  const names = (/** @type {number[]} */ datasets) => datasets.slice(0, 5).map((dataset) => datasetButton(context, dataset))
    .concat(datasets.length > 5 ? [h("span", {}, `and ${datasets.length - 5} more`)] : []);
  const rows = document.executions.map((execution, index) => {
    const { reads, writes, began, ended, failed } = execution;
    const choose = button(String(execution.number), () => {
      const isOn = choose.getAttribute("aria-pressed") === "true";
      for (const other of buttons) other.setAttribute("aria-pressed", "false");
      choose.setAttribute("aria-pressed", String(!isOn));
      act.light(isOn ? null : [...reads, ...writes]);
    }, { "aria-pressed": "false", "aria-label": `${execution.number}: show its datasets`, "data-key": `execution-${index}` });
    buttons.push(choose);
    const line = row(choose, foreign(execution.name), when(began), took(began, ended), [names(reads), " → ", names(writes)],
      execution.rows === null ? "" : number(execution.rows), failed ? h("span", { class: "bad" }, "✕ failed") : "done");
    line.addEventListener("click", ({ target }) => target instanceof Element && !target.closest("button") && choose.click());
    return line;
  });
  return table(["#", "Job", "Began (UTC)", "Took", "Read → wrote", "Rows", "State"], rows);
}

/** @param {Context} context */
function previous(context) {
  const { answer, document, state, act, source } = context;
  const body = h("div", { role: "status" });
  const known = answer.previous.some(({ id }) => id === state.vs);
  const chosen = known ? state.vs : answer.previous[0].id;
  const compare = async (/** @type {string} */ id) => {
    body.textContent = "Loading…";
    try {
      const before = await source.previous(id);
      replace(body, before ? changesOf(context, before, document) : h("p", {}, "That run has no lineage that can be read."));
    } catch (error) {
      body.textContent = error instanceof Error ? error.message : "That run could not be read.";
    }
  };
  const choices = answer.previous.map(({ id, label }) => h("option", { value: id, selected: id === chosen }, label || id));
  const select = h("select", { change: (/** @type {any} */ event) => { act.compare(event.target.value); compare(event.target.value); } }, choices);
  compare(chosen);
  return h("div", {}, h("label", { class: "bar" }, "Compared with ", select), body);
}

/** @param {Context} context @param {ViewDocument} before @param {ViewDocument} now */
function changesOf(context, before, now) {
  const { amounts, changes } = difference(before, now);
  const signs = { "+": ["new", "good"], "−": ["gone", "bad"], "~": ["changed", "warn"] };
  const sizes = amounts.map(({ dataset, what, before: was, now: is }) => {
    const text = what === "rows" ? number : bytes;
    return row(foreign(dataset.label), what === "rows" ? "rows" : "bytes", `${text(was)} → ${text(is)}`, change(was, is));
  });
  const lines = changes.slice(0, 500).map(({ sign, what, dataset, column, from, to }) => row(
    h("span", { class: signs[sign][1] }, `${sign} ${signs[sign][0]}`), what,
    [foreign(what.endsWith("put") ? `${dataset.namespace} ${dataset.name}` : dataset.label, 100), column === null ? " all rows" : column !== undefined && [".", foreign(column)]],
    what === "type" ? [foreign(from ?? ""), " → ", foreign(to ?? "")] : from !== undefined && ["← ", foreign(from), " ", to ?? ""]));
  return [
    sizes.length > 0 && table(["Output", "Amount", "Then → now", "Change"], sizes),
    changes.length ? table(["Change", "What", "Where", ""], lines) : h("p", {}, "✓ The same datasets, columns and edges."),
    changes.length > 500 && h("p", {}, `${changes.length - 500} more changes`),
  ];
}

/** @param {Context} context */
function gaps(context) {
  const { gaps, planned } = context.document;
  if (!gaps.length) return h("p", { class: "good" }, "✓ Complete: every output column has its sources, or comes from no column.");
  const rows = gaps.map(({ dataset, column, reason, where }) =>
    row(dataset === null ? "the task" : column === null ? datasetButton(context, dataset) : ref(context, dataset, column), foreign(reason, 1000), foreign(where, 200)));
  return h("div", {}, planned && h("p", {}, "Read from the text of the job, not from what ran."), table(["Output", "What is not known", "Where"], rows));
}

/** @param {Context} context */
function checksOf(context) {
  const rows = context.document.datasets.flatMap(({ checks }, dataset) =>
    checks.length ? [row(datasetButton(context, dataset), h("ul", {}, checks.map(checkLine)))] : []);
  return table(["Dataset", "Checks"], rows);
}

/** @param {Context} context */
function tasks(context) {
  const rows = context.document.tasks.map(({ title, map_index, state, reads, writes, note }) => row(
    [foreign(title), map_index !== null && ` [${map_index}]`], state, counted(reads.length, "dataset"), counted(writes.length, "dataset"), foreign(note, 200),
    reads.length + writes.length > 0 && button("Show", () => context.act.light([...reads, ...writes]), { "aria-label": `Show its datasets: ${title}` })));
  return table(["Task", "State", "Read", "Wrote", "Note", ""], rows);
}

/** @param {Context} context */
function run({ document }) {
  return h("div", {},
    document.bottlenecks.map(({ kind, message }) => h("p", { class: "warn" }, "⚠ ", foreign(kind), ": ", foreign(message, 1000))),
    table(["", ""], document.facts.map(({ name, text }) => row(foreign(name), foreign(text, 1000)))),
    h("p", { class: "bar" }, document.links.map(({ name, href }) => h("a", { class: "link", href, target: "_blank", rel: "noopener noreferrer" }, foreign(name)))));
}

/** @param {Context} context */
function history({ answer, source }) {
  const past = answer.history;
  const rows = past.map(({ id, label, state, began, rows: count, size_bytes, schema_changed, edges_changed }) => row(
    source.open ? button("", () => source.open?.(id), { class: "ref" }, foreign(label || id, 80)) : foreign(label || id, 80),
    h("span", { class: state === "fail" ? "bad" : "" }, state), when(began), count === null ? "" : number(count),
    size_bytes === null ? "" : bytes(size_bytes), [schema_changed && "columns changed", edges_changed && "edges changed"].filter(Boolean).join(", ")));
  return h("div", {}, h("p", { class: "bar" }, sparkline("Rows", past.map((each) => each.rows)), sparkline("Bytes", past.map((each) => each.size_bytes))),
    table(["Run", "State", "Began (UTC)", "Rows", "Bytes", "Marks"], rows));
}

// Oldest left.
/** @param {string} what @param {(number | null)[]} values */
function sparkline(what, values) {
  const known = values.flatMap((value) => (value === null ? [] : [value])).reverse();
  if (known.length < 2) return null;
  const most = Math.max(...known, 1);
  const points = known.map((value, index) => `${(index * 120) / (known.length - 1)},${26 - (24 * value) / most}`).join(" ");
  return h("span", {}, `${what} `, svg("svg", { class: "spark", width: 120, height: 28, role: "img", "aria-label": `${what} of ${known.length} runs` }, svg("polyline", { points })));
}

/** @param {Answer} answer */
export function emptyState({ reason }) {
  return h("div", { class: "empty" }, h("h2", {}, "No lineage to show"), h("p", {}, foreign(reason?.sentence ?? "", 1000)),
    reason?.command && copyable(reason.command, "Command that finds out more"));
}
