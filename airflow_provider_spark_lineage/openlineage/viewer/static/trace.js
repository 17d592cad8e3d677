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

/** @param {Map<string | null, number[]>} ends @param {string | null} column @param {number} number */
function add(ends, column, number) {
  const numbers = ends.get(column);
  if (numbers) numbers.push(number);
  else ends.set(column, [number]);
}

/**
 * Return the trace of a column in both directions. It goes on through columns, and ends at "all rows".
 * @param {ViewDocument} document @param {number} dataset @param {string | null} column @returns {Trace}
 */
export function trace(document, dataset, column) {
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
    }
  }
  return found;
}
