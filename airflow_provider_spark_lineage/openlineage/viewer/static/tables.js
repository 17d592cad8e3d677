// The other tables below the graph: executions, what changed, gaps, checks, tasks, history, and what is known of the run.

import { columnsTable, outputColumns } from "./columns.js";
import { difference } from "./difference.js";
import { button, copyable, foreign, h, replace, svg } from "./elements.js";
import { checksOf, checksTable, failedChecks } from "./checks.js";
import { datasetButton, lightButton, ref } from "./panel.js";
import { bytes, change, counted, number, stateWord, took, when, zone } from "./words.js";

const MOST_NAMES = 5;
const MOST_CHANGES = 500;

/** @param {Context} context @returns {Tab[]} those that have something to show */
export function tabsOf({ document, answer }) {
  const { tasks, executions, facts, links, bottlenecks } = document;
  const checks = checksOf(document).length;
  /** @type {[string, string, boolean, number | null, (context: Context) => Node]} */
  const ofChecks = ["checks", "Checks", checks > 0, checks, (context) =>
    checksTable(context, (dataset) => datasetButton(context, dataset))];
  const columns = outputColumns(document).length;
  // What failed comes first, and checks are all that there is of a task that only checks.
  const isFirst = failedChecks(document).length > 0 || (checks > 0 && !columns);
  /** @type {[string, string, boolean, number | null, (context: Context) => Node][]} */
  const tabs = [
    ...(isFirst ? [ofChecks] : []),
    ["history", "History", answer.history.length > 0, answer.history.length, historyTable],
    ["columns", "Columns", true, columns, columnsTable],
    ["tasks", "Tasks", tasks.length > 0, tasks.length, tasksTable],
    ["executions", "Executions", executions.length > 0, executions.length, executionsTable],
    ["previous", "Since the previous run", answer.previous.length > 0, null, sincePrevious],
    ["gaps", "Gaps", true, document.gaps.length, gapsTable],
    ...(isFirst ? [] : [ofChecks]),
    ["run", "Run", facts.length + links.length + bottlenecks.length > 0, null, aboutRun],
  ];
  return tabs.filter(([, , isThere]) => isThere).map(([id, title, , count, draw]) =>
    ({ id, draw, title: count === null ? title : `${title} ${number(count)}` }));
}

/** @param {string[]} heads @param {Node[]} rows */
const table = (heads, rows) => h("table", {},
  h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows));

/** @param {...Child} cells */
const row = (...cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)));

/** @param {Context} context */
function executionsTable(context) {
  const { document } = context;
  const names = (/** @type {number[]} */ datasets) => [
    datasets.slice(0, MOST_NAMES).map((dataset) => datasetButton(context, dataset)),
    datasets.length > MOST_NAMES && ` and ${datasets.length - MOST_NAMES} more`,
  ];
  const rows = document.executions.map(({ number: order, name, statement, reads, writes, began, ended, state, rows: count }, index) => {
    const choose = lightButton(context, `execution-${index}`, String(order), [...reads, ...writes], { "aria-label": `${order}: show its datasets` });
    const what = statement ? h("code", {}, foreign(statement, 120)) : foreign(nameOf(name, reads.length, writes.length));
    const lineage = [reads.length > 0 && ["read ", names(reads)], writes.length > 0 && [" wrote ", names(writes)]];
    const line = row(choose, what, when(began), took(began, ended), lineage,
      count === null ? "" : number(count), h("span", { class: state === "fail" ? "bad" : "" }, foreign(stateWord(state))));
    line.addEventListener("click", ({ target }) => {
      if (target instanceof Element && !target.closest("button")) choose.click();
    });
    return line;
  });
  return table(["#", "What ran", `Began (${zone()})`, "Took", "Read and wrote", "Rows written", "State"], rows);
}

// Spark calls each write `command`; the job of a read has the name of its dataset, as the job of a write has.
/** @param {string} name @param {number} reads @param {number} writes */
function nameOf(name, reads, writes) {
  if (name === "command") return writes ? "write" : reads ? "command that reads" : "command";
  if (name === "collectToPython") return "collect";
  return name.includes(".") && reads && !writes ? `read: ${name}` : name;
}

/** @param {Context} context */
function sincePrevious({ answer, document, state, act, source }) {
  const body = h("div", { role: "status" });
  let asked = "";
  const compare = async (/** @type {string} */ id) => {
    asked = id;
    body.textContent = "Loading…";
    /** @type {Child} */
    let shown;
    try {
      const before = await source.previous(id);
      shown = before ? changesOf(before, document) : h("p", {}, "That run has no lineage that can be read.");
    } catch (error) {
      shown = error instanceof Error ? error.message : "That run could not be read.";
    }
    if (asked === id) replace(body, shown);
  };
  const chosen = (answer.previous.find(({ id }) => id === state.vs) ?? answer.previous[0]).id;
  const choices = answer.previous.map(({ id, label }) =>
    h("option", { value: id, selected: id === chosen }, foreign(labelOf(label || id), 80).textContent));
  const choose = (/** @type {any} */ event) => {
    act.compare(event.target.value);
    compare(event.target.value);
  };
  compare(chosen);
  return h("div", {}, h("label", { class: "bar" }, "Compared with ", h("select", { change: choose }, choices)), body);
}

// The label of an earlier run is often the time when it began.
/** @param {string} label */
const labelOf = (label) => (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(label) ? when(label) : label);

const SIGNS = { "+": ["new", "good"], "−": ["gone", "bad"], "~": ["changed", "warn"] };

/** @param {ViewDocument} before @param {ViewDocument} now */
function changesOf(before, now) {
  const { amounts, changes } = difference(before, now);
  const sizes = amounts.map(({ dataset, what, before: was, now: is }) => {
    const [noun, text] = what === "rows" ? ["rows", number] : ["bytes", bytes];
    return row(foreign(dataset.label), noun, `${text(was)} → ${text(is)}`, change(was, is));
  });
  const lines = changes.slice(0, MOST_CHANGES).map(({ sign, what, dataset, column, from, to }) => {
    const name = what.endsWith("put") ? `${dataset.namespace} ${dataset.name}` : dataset.label;
    const end = column === null ? " all rows" : column !== undefined && [".", foreign(column)];
    const [word, color] = SIGNS[sign];
    return row(h("span", { class: color }, `${sign} ${word}`), what, [foreign(name, 100), end],
      from !== undefined && (what === "type" ? [foreign(from), " → ", foreign(to ?? "")] : ["← ", foreign(from), " ", to]));
  });
  return [
    sizes.length > 0 && table(["Output", "Amount", "Then → now", "Change"], sizes),
    changes.length ? table(["Change", "What", "Where", ""], lines) : h("p", {}, "✓ The same datasets, columns and edges."),
    changes.length > MOST_CHANGES && h("p", {}, `${number(changes.length - MOST_CHANGES)} more changes`),
  ];
}

/** @param {Context} context */
function gapsTable(context) {
  const { gaps, planned, reports_gaps, run, tasks } = context.document;
  const why = run.state !== "complete" ? "the run has not ended with success"
    : tasks.some(({ note }) => note) ? "not every task has lineage" : "its events do not say so";
  const rows = gaps.map(({ dataset, column, reason, where, task }) => {
    const of = task === null ? tasks.length ? "the run" : "the task" : foreign(tasks[task].title);
    const place = dataset === null ? of : column === null ? datasetButton(context, dataset) : ref(context, dataset, column);
    return row(place, foreign(reason, 1000), foreign(where, 200));
  });
  return h("div", {}, planned && h("p", {}, "Read from the text of the job, not from what ran."),
    gaps.length
      ? table(["Output", "What is not known", "Where"], rows)
      : reports_gaps
        ? h("p", { class: "good" }, "✓ Complete: every output column has its sources, or comes from no column.")
        : h("p", {}, `It is unknown whether this is complete: ${why}.`));
}

/** @param {Context} context */
function tasksTable(context) {
  const rows = context.document.tasks.map(({ title, state, reads, writes, note }, index) => row(
    foreign(title), foreign(stateWord(state)), counted(reads.length, "dataset"),
    counted(writes.length, "dataset"), foreign(note, 200), reads.length + writes.length > 0
      && lightButton(context, `task-${index}`, "Show", [...reads, ...writes], { "aria-label": `Show its datasets: ${title}` })));
  return table(["Task", "State", "Read", "Wrote", "Note", ""], rows);
}

const FACTS = new Map(Object.entries({ app: "application", used: "resources", started: "launched" }));

/** @param {Context} context */
function aboutRun({ document: { bottlenecks, facts, links } }) {
  const open = { class: "link", target: "_blank", rel: "noopener noreferrer" };
  return h("div", {},
    bottlenecks.map(({ kind, message }) => h("p", { class: "warn" }, "⚠ ", foreign(kind), ": ", foreign(message, 1000))),
    h("table", {}, h("tbody", {}, facts.map(({ name, text }) =>
      h("tr", {}, h("th", { scope: "row" }, foreign(FACTS.get(name) ?? name)), h("td", {}, foreign(text, 1000)))))),
    h("p", { class: "bar" }, links.map(({ name, href }) => h("a", { ...open, href }, foreign(name)))));
}

/** @param {Context} context */
function historyTable({ answer: { history }, source }) {
  const rows = history.map(({ id, label, state, began, rows: count, size_bytes, schema_changed, edges_changed }) => {
    const name = foreign(label || id, 80);
    return row(source.open ? button("", () => source.open?.(id), { class: "ref" }, name) : name,
      h("span", { class: state === "fail" ? "bad" : "" }, foreign(stateWord(state))), when(began),
      count === null ? "" : number(count), size_bytes === null ? "" : bytes(size_bytes),
      [schema_changed && "columns changed", edges_changed && "edges changed"].filter(Boolean).join(", "));
  });
  return h("div", {}, h("p", { class: "bar" },
    sparkline("Rows", history.map((past) => past.rows)), sparkline("Bytes", history.map((past) => past.size_bytes))),
  table(["Run", "State", `Began (${zone()})`, "Rows", "Bytes", "Marks"], rows));
}

// Oldest left.
/** @param {string} what @param {(number | null)[]} values */
function sparkline(what, values) {
  const known = values.flatMap((value) => (value === null ? [] : [value])).reverse();
  if (known.length < 2) return null;
  const most = known.reduce((highest, value) => Math.max(highest, value), 1);
  const points = known.map((value, at) => `${(at * 120) / (known.length - 1)},${26 - (24 * value) / most}`).join(" ");
  const picture = { class: "spark", width: 120, height: 28, role: "img", "aria-label": `${what} of ${known.length} runs` };
  return h("span", {}, `${what} `, svg("svg", picture, svg("polyline", { points })));
}

/** @param {Answer} answer */
export function emptyState({ reason }) {
  return h("div", { class: "empty" }, h("h2", {}, "No lineage to show"), h("p", {}, foreign(reason?.sentence ?? "", 1000)),
    reason?.command && copyable(reason.command, "Command that finds out more"));
}
