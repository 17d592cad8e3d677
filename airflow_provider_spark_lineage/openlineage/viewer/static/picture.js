// The boxes of a document and the lines between them. Pure: which datasets stand alone, which rows an open one shows.

import { edgesAt } from "./trace.js";

export const WIDTH = 260, HEADER = 48, ROW = 28, PILL = 32;
export const ROWS_AT_A_TIME = 12;
export const MOST_OF_A_SIDE = 30;

/**
 * Return boxes and links. Datasets with the same neighbours on one side only are alike: beyond `most`, one box has the rest.
 * @param {ViewDocument} document @param {Set<number>} kept datasets that get a box in any case
 * @returns {Picture}
 */
export function pictureOf(document, kept, most = MOST_OF_A_SIDE) {
  const { datasets, tasks } = document;
  const lines = linesOf(document);
  /** @type {Set<number>[][]} of each dataset: where lines come from, and where they go */
  const sides = datasets.map(() => [new Set(), new Set()]);
  for (const [from, to] of lines) {
    if (from < datasets.length) sides[from][1].add(to);
    if (to < datasets.length) sides[to][0].add(from);
  }
  /** @type {Map<string, number[]>} */
  const alike = new Map();
  sides.forEach(([before, after], dataset) => {
    if (before.size && after.size) return;
    const { written } = datasets[dataset];
    const side = JSON.stringify([before.size + after.size ? "" : written, [...before].sort(), [...after].sort()]);
    if (!alike.get(side)?.push(dataset)) alike.set(side, [dataset]);
  });
  const { into, out } = edgesAt(document);
  const weight = (/** @type {number} */ dataset) => into[dataset].size + out[dataset].size;
  const hidden = [...alike.values()].filter((side) => side.length > most + 1).map((side) => {
    const ranked = side.map((dataset) => ({ dataset, weight: weight(dataset), key: keyOf(document, dataset) }));
    ranked.sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
    return ranked.slice(most).map(({ dataset }) => dataset).filter((dataset) => !kept.has(dataset));
  });

  /** @type {Box[]} */
  const boxes = [];
  const boxOf = [...datasets, ...tasks].map(() => -1);
  for (const members of hidden) for (const dataset of members) boxOf[dataset] = -2;
  datasets.forEach(({ namespace, name, written, unfinished, read }, index) => {
    if (boxOf[index] === -2) return;
    boxOf[index] = boxes.length;
    const last = (written || unfinished) && !read;
    boxes.push({ kind: "dataset", index, members: [], key: ["0", namespace, name], width: WIDTH, height: HEADER, last });
  });
  for (const members of hidden.filter((side) => side.length)) {
    for (const dataset of members) boxOf[dataset] = boxes.length;
    const [{ namespace, name, read }] = members.map((dataset) => datasets[dataset]);
    const key = ["1", namespace, name];
    boxes.push({ kind: "more", index: members[0], members, key, width: WIDTH, height: HEADER, last: !read });
  }
  const linked = new Set(lines.flat());
  tasks.forEach(({ title, task_id, map_index }, index) => {
    if (!linked.has(datasets.length + index)) return;
    boxOf[datasets.length + index] = boxes.length;
    const key = ["2", title, task_id, String(map_index ?? "")];
    boxes.push({ kind: "task", index, members: [], key, width: 160, height: PILL, last: false });
  });
  const links = new Map(lines.map(([from, to]) => [`${boxOf[from]} ${boxOf[to]}`, { from: boxOf[from], to: boxOf[to] }]));
  return { boxes, links: [...links.values()], boxOf };
}

// Return pairs of ends: a number of a dataset, or behind them of a task.
/** @param {ViewDocument} document @returns {number[][]} */
function linesOf({ datasets, tasks, flows }) {
  const pill = (/** @type {number} */ task) => datasets.length + task;
  return [
    ...flows.flatMap(({ from, to, task }) => (task === null ? [[from, to]] : [[from, pill(task)], [pill(task), to]])),
    ...tasks.flatMap(({ reads, writes }, task) => [
      ...reads.map((from) => [from, pill(task)]),
      ...writes.map((to) => [pill(task), to]),
    ]),
  ];
}

/** @param {ViewDocument} document @param {number} dataset */
const keyOf = ({ datasets }, dataset) => JSON.stringify([datasets[dataset].namespace, datasets[dataset].name]);

/**
 * Return what an open box shows: all rows if they have edges, traced columns, then the others up to a limit.
 * @param {ViewDocument} document @param {number} dataset
 * @param {{opened: boolean, traced?: Set<string | null>, filter?: string, most?: number}} state
 * @returns {Row[]}
 */
export function rowsOf(document, dataset, { opened, traced, filter = "", most = ROWS_AT_A_TIME }) {
  if (!opened && !traced) return [];
  const names = document.datasets[dataset].columns.map(({ name }) => name);
  const isTraced = (/** @type {string | null} */ name) => traced?.has(name) ?? false;
  const found = names.filter((name) => isTraced(name) || name.toLowerCase().includes(filter.toLowerCase()));
  const ordered = [...found.filter(isTraced), ...found.filter((name) => opened && !isTraced(name))];
  /** @type {Row[]} */
  const rows = ordered.slice(0, most).map((name) => ({ name, more: 0, traced: isTraced(name) }));
  if (isTraced(null) || (opened && edgesAt(document).into[dataset].has(null))) {
    rows.unshift({ name: null, more: 0, traced: isTraced(null) });
  }
  const more = (opened ? found.length : names.length) - Math.min(ordered.length, most);
  return more ? [...rows, { name: null, more, traced: false }] : rows;
}
