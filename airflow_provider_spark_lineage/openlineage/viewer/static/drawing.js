// A scene as elements of SVG: its boxes with their rows, and the lines between them, as far as they are in a region.
//
// No text is measured: widths are fixed, and what is longer is cut, with a title.

import { checkMark } from "./checks.js";
import { cut, svg } from "./elements.js";
import { HEADER, PILL, ROW, WIDTH } from "./picture.js";
import { amounts, changeWord, counted, kind, number } from "./words.js";

const LEFT = 14;
const MOST_EDGES = 1500;
// Cells of texts in a box: of its title, of the beginning of a title that is cut before its end, and of its details.
const MOST_TITLE = 22, MOST_KEPT = 7, MOST_DETAIL = 40;
const MOST_TASK = 20;

/** @param {Scene} scene @param {Region} region @param {boolean} hasText */
export function drawBoxes(scene, region, hasText) {
  const { picture, places, tops, heights, rows } = scene;
  return picture.boxes.flatMap((box, at) => {
    const [x, y, height] = [places.x[at], tops[at], heights[at]];
    if (x > region.right || x + box.width < region.left || y > region.bottom || y + height < region.top) return [];
    const group = svg("g", { class: classOf(scene, box), transform: `translate(${x} ${y})` });
    const [title, detail, gap, check, whole] = textsOf(scene, box);
    const label = [title, detail, gap, whole].filter(Boolean).join(" ");
    const pressed = box.kind === "dataset" && box.index === scene.state.dataset;
    const header = { class: "header", role: "button", id: `box-${at}`, "data-box": at, "data-row": -1,
      "aria-label": label, "aria-pressed": pressed && "true" };
    const isPill = box.kind === "task";
    const rx = isPill ? PILL / 2 : 6;
    const frame = svg("rect", { class: "frame", width: box.width, height, rx });
    if (!hasText) {
      group.append(svg("g", header, frame));
      return [group];
    }
    group.append(frame, svg("g", header,
      svg("rect", { class: "hit", width: box.width, height: box.height, rx }),
      words("title", isPill ? box.width / 2 : LEFT, 21, title),
      detail && words("detail", LEFT, 38, detail),
      check && words(`check ${check.color}`, box.width - (gap ? 72 : 58), 21, check.sign),
      gap && words("mark", box.width - 58, 21, gap),
      svg("title", {}, box.kind === "dataset" ? whole + rowsNote(scene.document.datasets[box.index]) : whole)));
    if (box.kind !== "dataset") return [group];
    group.append(svg("rect", { class: "side", width: 4, height, rx: 2 }));
    if (scene.document.datasets[box.index].columns.length) group.append(toggle(scene, at, box.index));
    group.append(...rows[at].map((row, index) => drawRow(scene, at, box.index, row, index)));
    return [group];
  });
}

// With a space behind it: text of one name is told apart from the next.
/** @param {string} name @param {number} x @param {number} y @param {string} text @param {boolean} [atEnd] */
const words = (name, x, y, text, atEnd) => [svg("text", { class: name, x, y, "text-anchor": atEnd && "end" }, text), " "];

/** @param {Scene} scene @param {number} box @param {number} dataset */
function toggle({ document, state }, box, dataset) {
  const isOpen = state.opened.has(dataset);
  const columns = document.datasets[dataset].columns.length;
  const text = `${isOpen ? "▾" : "▸"} ${columns}`;
  return svg("g", { class: "toggle", role: "button", "data-box": box, "data-toggle": "",
    "aria-expanded": String(isOpen), "aria-label": `${text} ${columns === 1 ? "column" : "columns"}` },
  svg("rect", { class: "hit", x: WIDTH - 42, y: 3, width: 40, height: 24, rx: 4 }),
  words("detail", WIDTH - 8, 21, text, true));
}

/** @param {Scene} scene @param {number} box @param {number} dataset @param {Row} row @param {number} index */
function drawRow({ document, withGap }, box, dataset, row, index) {
  const isColumn = !row.more && row.name !== null;
  const hasGap = !row.more && withGap.has(JSON.stringify([dataset, row.name]));
  const text = row.more ? `${number(row.more)} more` : row.name ?? "all rows";
  const type = (isColumn && document.datasets[dataset].columns.find(({ name }) => name === row.name)?.type) || "";
  const short = fit(type, 9);
  const name = fit(text, hasGap ? 17 : Math.max(20, 30 - short.length));
  const whole = name === text && short === type ? "" : cut(`${text} ${type}`, 500);
  return svg("g", { class: `row${row.traced ? " traced" : ""}${isColumn ? "" : " whole"}`, role: "button",
    id: `box-${box}-${index}`, "data-box": box, "data-row": index, transform: `translate(0 ${HEADER + index * ROW})`,
    "aria-label": [name, hasGap && "⚠", short, whole].filter(Boolean).join(" ") },
  svg("rect", { class: "hit", x: 4, width: WIDTH - 8, height: ROW, rx: 4 }),
  words("name", LEFT, 18, name),
  hasGap && words("mark", 146, 18, "⚠"),
  short && words("detail", WIDTH - LEFT, 18, short, true),
  whole && svg("title", {}, whole));
}

/** @param {Scene} scene @param {Box} box */
function classOf(scene, box) {
  const { kind: name, index } = box;
  const names = ["box", name];
  if (name === "dataset") {
    const { read, written, unfinished } = scene.document.datasets[index];
    names.push(unfinished ? "unfinished" : written ? (read ? "both" : "written") : "read");
    if (scene.state.dataset === index) names.push("selected");
  }
  if (name === "task" && scene.document.tasks[index].state === "fail") names.push("failed");
  if (!isLit(scene, box)) names.push("dim");
  return names.join(" ");
}

/** @param {Scene} scene @param {Box} box */
function isLit({ document, state: { lit } }, { kind: name, index, members }) {
  if (!lit) return true;
  const isIn = (/** @type {number} */ dataset) => lit.has(dataset);
  if (name === "dataset") return isIn(index);
  if (name === "more") return members.some(isIn);
  const { reads, writes } = document.tasks[index];
  return writes.some(isIn) && (!reads.length || reads.some(isIn));
}

// Return title, detail, the marks of gaps and of checks, and the whole name.
/**
 * @param {Scene} scene @param {Box} box
 * @returns {[string, string, string, {sign: string, color: string, text: string} | null, string]}
 */
function textsOf({ document, withGap, titles, taskTitles }, { kind: name, index, members }) {
  if (name === "more") return [`${number(members.length)} more`, "datasets with the same lines", "", null, "Show more of them"];
  if (name === "task") return [taskTitles[index], "", "", null, cut(document.tasks[index].title, 500)];
  const dataset = document.datasets[index];
  const gap = withGap.has(JSON.stringify(index)) ? "⚠" : "";
  const [check, role] = [checkMark(dataset), roleOf(dataset)];
  const short = fit(role, MOST_DETAIL);
  const whole = [`${dataset.namespace} ${dataset.name}`, short !== role && role, check?.text].filter(Boolean).join(" · ");
  return [titles[index], short, gap, check, cut(whole, 500)];
}

// Rows that a filter in the reader leaves out, as one of Parquet, are not in the number.
/** @param {Dataset} dataset */
const rowsNote = ({ read, written, reads }) =>
  (read && !written && reads.rows !== undefined ? " · its rows: after filters in the reader" : "");

/** @param {Dataset} dataset */
function roleOf({ unfinished, written, read, change, reads, writes, beyond }) {
  if (unfinished) return "not finished";
  const role = written ? [read && "read", changeWord(change)].filter(Boolean).join(", ") : "read";
  const { rows, size_bytes } = written ? writes : reads;
  const more = beyond ? [`${counted(beyond, "more job")}`] : [];
  return [role, ...amounts(read && written ? { rows } : { rows, size_bytes }), ...more].join(" · ");
}

/**
 * Return labels of boxes in so many cells. Those that would be equal when cut lose their equal part instead.
 * @param {string[]} labels
 */
export function titlesOf(labels, cells = MOST_TITLE) {
  const shorten = (/** @type {string[]} */ some, /** @type {number} */ kept) => {
    /** @type {Map<string, string[]>} */
    const alike = new Map();
    for (const label of some) {
      const short = kept ? `${label.slice(0, MOST_KEPT)}…${label.slice(kept)}` : label;
      const title = fit(short, cells);
      if (!alike.get(title)?.push(label)) alike.set(title, [label]);
    }
    for (const [title, group] of alike) {
      const equal = group.length > 1 ? common(group) : 0;
      if (equal > kept) shorten(group, equal);
      else for (const label of group) titles.set(label, title);
    }
  };
  /** @type {Map<string, string>} */
  const titles = new Map();
  shorten([...new Set(labels)], 0);
  return labels.map((label) => titles.get(label) ?? "");
}

/**
 * Return what pills of tasks have as titles. A name that is too long loses its DAG, unless another task has the same end.
 * @param {string[]} names
 */
export function titlesOfTasks(names) {
  const end = (/** @type {string} */ name) => name.replace(/^[^\s[]*\./, "");
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const name of new Set(names)) counts.set(end(name), (counts.get(end(name)) ?? 0) + 1);
  const isLong = (/** @type {string} */ name) => fit(name, MOST_TASK) !== name;
  const isAlone = (/** @type {string} */ name) => counts.get(end(name)) === 1;
  return titlesOf(names.map((name) => (isLong(name) && end(name) && isAlone(name) ? end(name) : name)), MOST_TASK);
}

// Return how many characters all texts begin with.
/** @param {string[]} texts */
function common([first, ...others]) {
  let length = first.length;
  for (const text of others) while (!text.startsWith(first.slice(0, length))) length -= 1;
  return length;
}

// Wide characters take two cells.
/** @param {string} text @param {number} cells */
export function fit(text, cells) {
  let [kept, used] = ["", 0];
  for (const character of cut(text, 2 * cells)) {
    used += /** @type {number} */ (character.codePointAt(0)) >= 0x1100 ? 2 : 1;
    if (used > cells) return `${kept.slice(0, -1)}…`;
    kept += character;
  }
  return kept;
}

// Where there is no text, all lines of a kind are one element.
/** @param {Scene} scene @param {Region} region @param {boolean} hasText */
export function drawLines(scene, region, hasText) {
  const { picture, places, tops, state } = scene;
  /** @type {Map<string, string>} */
  const merged = new Map();
  const flows = picture.links.flatMap(({ from, to }, link) => {
    const [start, end] = [picture.boxes[from], picture.boxes[to]];
    const isBack = places.turned.has(link);
    const bends = isBack ? [] : places.bends[link].map((bend) => ({ x: places.x[bend], y: tops[bend] }));
    const path = curve(scene, from, tops[from] + start.height / 2, to, tops[to] + end.height / 2, bends, region);
    if (!path) return [];
    const dim = state.trace || !isLit(scene, start) || !isLit(scene, end) ? " dim" : "";
    const name = `flow${isBack ? " back" : ""}${dim}`;
    if (!hasText) {
      merged.set(name, (merged.get(name) ?? "") + path);
      return [];
    }
    const line = svg("path", { class: name, d: path });
    if (!isBack) return [line];
    const x = (places.x[from] + places.x[to] + WIDTH) / 2;
    const text = from === to ? "↺ reads itself" : "↺ back";
    return [line, svg("text", { class: "detail", "text-anchor": "middle", x, y: under(scene, from, to) + 14 }, text)];
  });
  const together = [...merged].map(([name, d]) => svg("path", { class: name, d }));
  return [...flows, ...together, ...drawEdges(scene, region)];
}

// Edges of the traced column, else of opened datasets. Their kinds stand where they begin, so no two overlap.
/** @param {Scene} scene @param {Region} region */
function drawEdges(scene, region) {
  const { document, places, state } = scene;
  /** @type {Map<string, SVGElement>} */
  const paths = new Map();
  /** @type {Map<string, {x: number, y: number, kinds: Set<string>}>} */
  const labels = new Map();
  for (const at of state.trace?.edges ?? (state.opened.size ? document.edges.keys() : [])) {
    if (paths.size >= MOST_EDGES) break;
    const edge = document.edges[at];
    if (!state.trace && !state.opened.has(edge.from) && !state.opened.has(edge.to)) continue;
    const [start, end] = [port(scene, edge.from, edge.field), port(scene, edge.to, edge.column)];
    const path = (start.row >= 0 || end.row >= 0) && curve(scene, start.box, start.y, end.box, end.y, [], region);
    if (!path) continue;
    const type = edge.type === "INDIRECT" ? "indirect" : "direct";
    const dim = state.lit && !(state.lit.has(edge.from) && state.lit.has(edge.to)) ? " dim" : "";
    if (!paths.has(type + path)) paths.set(type + path, svg("path", { class: `edge ${type}${dim}`, d: path }));
    if (!state.trace) continue;
    const place = `${start.box} ${start.row}`;
    if (!labels.has(place)) labels.set(place, { x: places.x[start.box] + WIDTH + 8, y: start.y - 5, kinds: new Set() });
    labels.get(place)?.kinds.add(kind(edge) + (edge.masking ? " (masked)" : ""));
  }
  const texts = [...labels.values()].map(({ x, y, kinds }) =>
    svg("text", { class: "kind", x, y }, fit([...kinds].sort().join(", "), 30)));
  return [...paths.values(), ...texts];
}

// Where lines meet a column: its row, the row for what is not shown, or the header (-1).
/** @param {Scene} scene @param {number} dataset @param {string | null} column */
export function port({ picture, rows, tops }, dataset, column) {
  const box = picture.boxOf[dataset];
  const row = rows[box].findIndex(({ name, more }) => (more ? column !== null : name === column));
  return { box, row, y: tops[box] + (row < 0 ? HEADER / 2 : HEADER + row * ROW + ROW / 2) };
}

/** @param {Scene} scene @param {number} from @param {number} to */
const under = ({ tops, heights }, from, to) => Math.max(tops[from] + heights[from], tops[to] + heights[to]) + 14;

// A line that goes left passes below both boxes. Empty outside of the region.
/**
 * @param {Scene} scene @param {number} from @param {number} y1 @param {number} to @param {number} y2
 * @param {Point[]} bends @param {Region} region
 */
function curve(scene, from, y1, to, y2, bends, region) {
  const { picture, places } = scene;
  const [x1, x2] = [places.x[from] + picture.boxes[from].width, places.x[to]];
  const low = x2 > x1 ? Math.max(y1, y2) : under(scene, from, to);
  const ys = [y1, y2, low, ...bends.map(({ y }) => y)];
  if (Math.min(x1, x2) - 60 > region.right || Math.max(x1, x2) + 60 < region.left) return "";
  if (Math.min(...ys) > region.bottom || Math.max(...ys) < region.top) return "";
  if (x2 <= x1) {
    const [right, left] = [x1 + 48, x2 - 48];
    return `M${x1} ${y1}C${right} ${y1} ${right} ${low} ${x1} ${low}L${x2} ${low}C${left} ${low} ${left} ${y2} ${x2} ${y2}`;
  }
  let [path, x, y] = [`M${x1} ${y1}`, x1, y1];
  for (const next of [...bends, { x: x2, y: y2 }]) {
    const half = Math.round((next.x - x) / 2);
    path += `C${x + half} ${y} ${next.x - half} ${next.y} ${next.x} ${next.y}`;
    ({ x, y } = next);
  }
  return path;
}
