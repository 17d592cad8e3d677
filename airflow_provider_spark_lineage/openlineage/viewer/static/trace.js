// What a column is made of, and what is made of it. Iterative, and each column is visited once: cycles end.

/** @type {WeakMap<ViewDocument, {into: Ends, out: Ends}>} */
const indexes = new WeakMap();

// Return the edges at each column; null stands for all rows of a dataset.
/** @param {ViewDocument} document */
export function edgesAt(document) {
  const known = indexes.get(document);
  if (known) return known;
  /** @type {Ends} */
  const into = document.datasets.map(() => new Map());
  /** @type {Ends} */
  const out = document.datasets.map(() => new Map());
  document.edges.forEach((edge, number) => {
    add(into[edge.to], edge.column, number);
    add(out[edge.from], edge.field, number);
  });
  const index = { into, out };
  indexes.set(document, index);
  return index;
}

/** @type {WeakMap<ViewDocument, {into: number[][], out: number[][]}>} */
const indexesOfRows = new WeakMap();

// Return for each dataset those whose rows its rows come from, and those whose rows come from them.
/** @param {ViewDocument} document */
function rowsAt(document) {
  const index = indexesOfRows.get(document)
    ?? { into: document.datasets.map(() => []), out: document.datasets.map(() => []) };
  if (!indexesOfRows.has(document)) {
    for (const { from, to } of document.rows) {
      index.into[to].push(from);
      index.out[from].push(to);
    }
    indexesOfRows.set(document, index);
  }
  return index;
}

// Return what follows from a column, or from all rows, without an edge: all rows lead to each column, and to the rows made from them.
/**
 * @param {ViewDocument} document @param {number} dataset @param {string | null} column @param {boolean} upwards
 * @returns {[number, string | null][]}
 */
function besides(document, dataset, column, upwards) {
  if (column !== null) return upwards ? [[dataset, null]] : [];
  const rows = rowsAt(document)[upwards ? "into" : "out"][dataset];
  const columns = upwards ? [] : document.datasets[dataset].columns;
  /** @type {[number, string | null][]} */
  const next = columns.map(({ name }) => [dataset, name]);
  for (const other of rows) next.push([other, null]);
  return next;
}

/** @param {Map<string | null, number[]>} ends @param {string | null} column @param {number} number */
function add(ends, column, number) {
  const numbers = ends.get(column);
  if (numbers) numbers.push(number);
  else ends.set(column, [number]);
}

/**
 * Return the trace of a column in both directions. It goes on through columns, and ends at "all rows", unless `byRows`.
 * @param {ViewDocument} document @param {number} dataset @param {string | null} column @param {boolean} byRows
 * @returns {Trace}
 */
export function trace(document, dataset, column, byRows = false) {
  const { into, out } = edgesAt(document);
  /** @type {Trace} */
  const found = { datasets: new Set([dataset]), columns: new Map([[dataset, new Set([column])]]), edges: new Set() };
  for (const upwards of [true, false]) {
    const seen = document.datasets.map(() => new Set());
    /** @type {[number, string | null][]} */
    const waiting = [[dataset, column]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [at, name] = next;
      if (seen[at].has(name)) continue;
      seen[at].add(name);
      found.datasets.add(at);
      if (!found.columns.has(at)) found.columns.set(at, new Set());
      found.columns.get(at)?.add(name);
      for (const number of (upwards ? into : out)[at].get(name) ?? []) {
        const edge = document.edges[number];
        found.edges.add(number);
        waiting.push(upwards ? [edge.from, edge.field] : [edge.to, edge.column]);
      }
      if (byRows) for (const place of besides(document, at, name, upwards)) waiting.push(place);
    }
  }
  return found;
}
