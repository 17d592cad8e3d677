// The view document as it should be. `clean` is the one place that meets malformed data: it leaves out what has another
// shape, and says so in `problems`. Everything after it may trust its argument.

/** @type {Reader} */
const text = (value) => (typeof value === "string" ? value : undefined);
/** @type {Reader} */
const amount = (value) => (Number.isFinite(value) && value >= 0 ? value : undefined);
/** @type {Reader} */
const place = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : undefined);
/** @type {Reader} */
const flag = (value) => value === true;
/** @type {Reader} */
const web = (value) => (/^https?:\/\//i.test(text(value, []) ?? "") ? text(value, []) : undefined);

/** @param {Reader} reader @param {any} other @returns {Reader} */
const or = (reader, other) => (value, problems) => reader(value, problems) ?? other;

/** @param {Record<string, Reader>} readers @returns {Reader} */
const record = (readers) => (value, problems) => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(value[name], problems)]);
  return read.some(([, found]) => found === undefined) ? undefined : Object.fromEntries(read);
};

/** @param {string} what @param {Reader} reader @returns {Reader} */
const list = (what, reader) => (value, problems) => {
  if (!Array.isArray(value)) {
    if (value != null) problems.push(`The list of ${what} could not be read.`);
    return [];
  }
  const read = value.map((item) => reader(item, problems)).filter((item) => item !== undefined);
  const lost = value.length - read.length;
  if (lost) problems.push(`${lost} of ${value.length} ${what} could not be read.`);
  return read;
};

const words = or(text, "");
/** @type {Reader} */
const statistics = (value) => {
  const read = record({ rows: or(amount, null), size_bytes: or(amount, null), files: or(amount, null) })(value, []) ?? {};
  return Object.fromEntries(Object.entries(read).filter(([, found]) => found !== null));
};
const places = list("datasets of a step", place);
const maybePlace = or(place, null);

const CHECK = record({
  status: text, name: words, column: words, severity: words, expected: words, found: words, problem: words, task: maybePlace,
});
const DATASET = record({
  namespace: words, name: text, label: words, read: flag, written: flag, has_schema: flag, unfinished: flag,
  columns: list("columns", record({ name: text, type: words })),
  change: words, format: words, catalog: words, reads: statistics, writes: statistics,
  previous: or(record({ namespace: words, name: text }), null),
  checks: list("checks", CHECK),
  metrics: list("metrics", text),
  beyond: or(amount, 0),
});
const TASK = record({
  title: text, task_id: words, map_index: maybePlace, state: words, reads: places, writes: places, note: words,
});
const RUN = record({
  state: words, began: words, ended: words, engine: words, task_id: words,
});
const DOCUMENT = record({
  version: or(amount, 1), title: words, planned: flag, reports_gaps: flag, run: or(RUN, RUN({}, [])),
  // Others name these by their places, so none is left out.
  datasets: list("datasets", (value, problems) => DATASET(value, problems) ?? DATASET({ name: "a dataset that could not be read" }, [])),
  tasks: list("tasks", (value, problems) => TASK(value, problems) ?? TASK({ title: "a task that could not be read" }, [])),
  flows: list("flows", record({ from: place, to: place, task: maybePlace })),
  edges: list("edges", record({
    from: place, field: text, to: place, column: or(text, null), type: words, subtype: words, masking: flag,
  })),
  rows: list("pairs of datasets", record({ from: place, to: place })),
  executions: list("executions", record({
    number: or(amount, 0), name: words, began: words, ended: words, state: words, reads: places, writes: places,
    rows: or(amount, null), statement: words,
  })),
  failures: list("failures", record({
    message: words, error_class: words, sql_state: words, execution: words, fragment: words,
  })),
  gaps: list("gaps", record({ where: words, kind: or(text, null), reason: text, dataset: maybePlace, column: or(text, null), task: maybePlace })),
  checks: list("checks", CHECK),
  bottlenecks: list("bottlenecks", record({ kind: words, message: text })),
  facts: list("facts", record({ name: words, text })),
  links: list("links", record({ name: text, href: web })),
});
const PAST = record({
  id: text, label: words, state: words, began: words, rows: or(amount, null), size_bytes: or(amount, null),
  try: maybePlace, schema_changed: flag, edges_changed: flag,
});
const ANSWER = record({
  kind: words,
  reason: or(record({ sentence: text, command: words }), null),
  about: words,
  notes: list("notes", text),
  tries: list("tries", place),
  try: maybePlace,
  previous: list("previous runs", record({ id: text, label: words })),
  history: list("runs", PAST),
});

/** @param {any} value @returns {ViewDocument | null} */
export function clean(value) {
  /** @type {string[]} */
  const problems = [];
  /** @type {ViewDocument | undefined} */
  const document = DOCUMENT(value, problems);
  if (!document) return null;
  if (document.version > 1) problems.unshift("A newer version made this lineage; parts of it may be missing.");
  const { datasets, tasks } = document;
  const known = (/** @type {number} */ dataset) => dataset < datasets.length;
  const between = (/** @type {Line} */ line) => known(line.from) && known(line.to);
  const lines = document.flows.length + document.edges.length;
  document.flows = document.flows.filter(between);
  document.edges = document.edges.filter(between);
  document.rows = document.rows.filter(between);
  const lost = lines - document.flows.length - document.edges.length;
  if (lost) problems.push(`${lost} lines begin or end at a dataset that is not there.`);
  for (const step of [...document.executions, ...tasks]) {
    step.reads = step.reads.filter(known);
    step.writes = step.writes.filter(known);
  }
  for (const gap of document.gaps) if (gap.dataset !== null && !known(gap.dataset)) gap.dataset = null;
  for (const part of [...document.flows, ...document.gaps, ...document.checks]) {
    if (part.task !== null && part.task >= tasks.length) part.task = null;
  }
  addColumnsOfEdges(document);
  for (const dataset of datasets) dataset.label ||= dataset.name;
  return { ...document, problems: [...new Set(problems)] };
}

// Fields of structs, and columns of datasets without a schema, are ends of edges and no columns.
/** @param {ViewDocument} document */
function addColumnsOfEdges({ datasets, edges }) {
  const known = datasets.map(({ columns }) => new Set(columns.map(({ name }) => name)));
  const add = (/** @type {number} */ dataset, /** @type {string | null} */ name) => {
    if (name === null || known[dataset].has(name)) return;
    known[dataset].add(name);
    datasets[dataset].columns.push({ name, type: "" });
  };
  for (const { from, field, to, column } of edges) {
    add(from, field);
    add(to, column);
  }
}

/** @param {any} value @returns {Answer} */
export function cleanAnswer(value) {
  /** @type {string[]} */
  const problems = [];
  const answer = ANSWER(value, problems) ?? ANSWER({}, problems);
  const document = clean(value?.document);
  if (!document && !answer.reason) answer.reason = { sentence: "The lineage of this run could not be read.", command: "" };
  answer.notes = [...answer.notes, ...problems, ...(document?.problems ?? [])];
  return { ...answer, document };
}
