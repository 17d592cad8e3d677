// What changed between two runs of one job. Datasets are the same by namespace and name, columns by name.

// One text for several, which no other texts give.
/** @param {(string | null)[]} parts */
const key = (...parts) => JSON.stringify(parts);

/** @param {Dataset} dataset */
const nameOf = ({ namespace, name }) => key(namespace, name);

/**
 * Return the amounts of each output in both runs, and what is new, gone or other.
 * @param {ViewDocument} before @param {ViewDocument} now
 * @returns {{amounts: Amount[], changes: Change[]}}
 */
export function difference(before, now) {
  /** @type {Change[]} */
  const changes = [];
  /** @type {Amount[]} */
  const amounts = [];
  for (const role of /** @type {const} */ (["read", "written"])) {
    const what = role === "read" ? "input" : "output";
    const [old, current] = [before, now].map((run) => byKey(run.datasets.filter((dataset) => dataset[role]), nameOf));
    compare(old, current, (sign, dataset) => changes.push({ sign, what, dataset }));
  }
  const old = byKey(before.datasets, nameOf);
  for (const dataset of now.datasets) {
    const previous = old.get(nameOf(dataset));
    if (!previous) continue;
    for (const what of /** @type {const} */ (["rows", "size_bytes"])) {
      const [was, is] = [previous.writes[what], dataset.writes[what]];
      if (dataset.written && was !== undefined && is !== undefined) amounts.push({ dataset, what, before: was, now: is });
    }
    if (previous.has_schema && dataset.has_schema) changes.push(...columns(previous, dataset));
  }
  const [oldEdges, edges] = [before, now].map((run) => byKey(run.edges.map((edge) => ({ edge, run })), edgeKey));
  compare(oldEdges, edges, (sign, { edge, run }) => {
    const from = run.datasets[edge.from];
    changes.push({ sign, what: "edge", dataset: run.datasets[edge.to], column: edge.column,
      from: `${from.label}.${edge.field}`, to: `${edge.type} ${edge.subtype}`.trim().toLowerCase() });
  });
  return { amounts, changes };
}

/** @param {Dataset} before @param {Dataset} now @returns {Change[]} */
function columns(before, now) {
  /** @type {Change[]} */
  const changes = [];
  const [old, current] = [before, now].map((dataset) => byKey(dataset.columns, (column) => column.name));
  compare(old, current, (sign, { name }) => changes.push({ sign, what: "column", dataset: now, column: name }));
  for (const { name, type } of current.values()) {
    const was = old.get(name)?.type;
    if (was && type && was !== type) changes.push({ sign: "~", what: "type", dataset: now, column: name, from: was, to: type });
  }
  return changes;
}

/** @param {{edge: Edge, run: ViewDocument}} end */
function edgeKey({ edge, run }) {
  return key(nameOf(run.datasets[edge.from]), edge.field, nameOf(run.datasets[edge.to]), edge.column, edge.type, edge.subtype);
}

/** @template T @param {T[]} items @param {(item: T) => string} keyOf @returns {Map<string, T>} */
const byKey = (items, keyOf) => new Map(items.map((item) => [keyOf(item), item]));

/** @template T @param {Map<string, T>} before @param {Map<string, T>} now @param {(sign: "+" | "−", item: T) => void} tell */
function compare(before, now, tell) {
  for (const [name, item] of now) if (!before.has(name)) tell("+", item);
  for (const [name, item] of before) if (!now.has(name)) tell("−", item);
}
