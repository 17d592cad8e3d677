// The graph as SVG: draws what is in view of a picture, pans, zooms, and is walked by keyboard as one tab stop.

import { cut, svg } from "./elements.js";
import { open, place } from "./layout.js";
import { HEADER, MOST_OF_A_SIDE, PILL, pictureOf, ROW, rowsOf, WIDTH } from "./picture.js";
import { GRAPH_STYLE, LIGHT, DARK } from "./styles.js";
import { amounts, counted, kind } from "./words.js";

/** @typedef {import("./document.js").ViewDocument} ViewDocument */
/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("./trace.js").Trace} Trace */
/**
 * @typedef {{dataset: number | null, trace: Trace | null, lit: Set<number> | null, opened: Set<number>,
 *   most: Map<number, number>, filters: Map<number, string>, sides: number}} State
 *   `lit`: the datasets that stay lit while the others are dimmed; `most`: rows shown of a dataset
 * @typedef {{select: (dataset: number) => void, toggle: (dataset: number) => void, more: (dataset: number) => void,
 *   trace: (dataset: number, column: string | null) => void, moreOfSide: () => void, leave: () => void}} Acts
 * @typedef {{left: number, right: number, top: number, bottom: number}} Region
 * @typedef {{x: number, y: number}} Point
 */

export const NO_TEXT_BELOW = 0.4;
const READABLE = 0.8, SMALLEST = 0.05, LARGEST = 2, MARGIN = 24, DRAG = 4;
const EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };

/** @param {ViewDocument} document @param {Acts} act */
export function createGraph(document, act) {
  const lines = svg("g");
  const boxes = svg("g");
  const scene = svg("g", {}, lines, boxes);
  const label = `Graph of ${counted(document.datasets.length, "dataset")}. Arrow keys go along lines and rows, Enter opens, t traces a column, Escape leaves.`;
  const element = svg("svg", { class: "graph", tabindex: 0, role: "application", "aria-label": label }, scene);

  /** @type {State} */
  let state = { dataset: null, trace: null, lit: null, opened: new Set(), most: new Map(), filters: new Map(), sides: MOST_OF_A_SIDE };
  let picture = pictureOf(document, new Set());
  let places = place(picture.boxes, picture.links);
  /** @type {import("./picture.js").Row[][]} */
  let rows = [];
  /** @type {number[]} */
  let heights = [];
  let tops = places.y;
  let view = { x: 0, y: 0, scale: 1 };
  let size = { width: 0, height: 0 };
  /** @type {Region | null} */
  let drawn = null;
  let cursor = first();
  const gaps = new Set(document.gaps.map(({ dataset, column }) => JSON.stringify([dataset, column])));
  const withGap = new Set(document.gaps.map(({ dataset }) => dataset));

  /** @param {State} next @param {number} [anchor] the dataset whose box stays where it is on the screen */
  function update(next, anchor) {
    const before = anchor === undefined ? undefined : spot(picture.boxOf[anchor]);
    const kept = new Set([...(next.lit ?? []), ...(next.dataset === null ? [] : [next.dataset])]);
    const isHidden = picture.boxes.some(({ members }) => members.some((dataset) => kept.has(dataset)));
    if (next.sides !== state.sides || isHidden) {
      picture = pictureOf(document, kept, next.sides);
      places = place(picture.boxes, picture.links);
      cursor = first();
    }
    state = next;
    rows = picture.boxes.map(({ kind, index }) =>
      kind !== "dataset" ? [] : rowsOf(document, index, {
        opened: state.opened.has(index), traced: state.trace?.columns.get(index),
        filter: state.filters.get(index), most: state.most.get(index),
      }));
    heights = picture.boxes.map(({ height }, box) => height + rows[box].length * ROW);
    tops = open(places, heights);
    cursor.row = Math.min(cursor.row, (rows[cursor.box]?.length ?? 0) - 1);
    if (before && anchor !== undefined) {
      const after = spot(picture.boxOf[anchor]);
      view.x += (before.x - after.x) * view.scale;
      view.y += (before.y - after.y) * view.scale;
    }
    draw();
  }

  function first() {
    return { box: places.layers[0]?.find((point) => point < picture.boxes.length) ?? 0, row: -1 };
  }

  /** @param {number} box @returns {Point} */
  const spot = (box) => ({ x: places.x[box] ?? 0, y: tops[box] ?? 0 });

  /** Draw what is in view, and half a view around it. */
  function draw() {
    const { width, height } = size;
    const [left, top] = [(-view.x - width / 2) / view.scale, (-view.y - height / 2) / view.scale];
    drawn = { left, top, right: left + (2 * width) / view.scale, bottom: top + (2 * height) / view.scale };
    const hasText = view.scale >= NO_TEXT_BELOW;
    lines.replaceChildren(...drawLines(drawn));
    boxes.replaceChildren(...drawBoxes(drawn, hasText));
    scene.setAttribute("transform", `translate(${round(view.x)} ${round(view.y)}) scale(${view.scale.toFixed(3)})`);
    point();
  }

  /** @param {boolean} hadText */
  function moved(hadText = view.scale >= NO_TEXT_BELOW) {
    const [left, top] = [-view.x / view.scale, -view.y / view.scale];
    const [right, bottom] = [left + size.width / view.scale, top + size.height / view.scale];
    const isInside = drawn && left >= drawn.left && top >= drawn.top && right <= drawn.right && bottom <= drawn.bottom;
    if (!isInside || hadText !== view.scale >= NO_TEXT_BELOW) draw();
    else scene.setAttribute("transform", `translate(${round(view.x)} ${round(view.y)}) scale(${view.scale.toFixed(3)})`);
  }

  /** @param {Region} region @param {boolean} hasText */
  function drawBoxes(region, hasText) {
    return picture.boxes.flatMap((box, number) => {
      const { x, y } = spot(number);
      if (x > region.right || x + box.width < region.left || y > region.bottom || y + heights[number] < region.top) return [];
      const group = svg("g", { transform: `translate(${x} ${y})`, class: classOf(box) });
      const [title, detail, mark] = textsOf(box);
      const header = { class: "header", role: "button", id: `box-${number}`, "data-box": number, "data-row": -1,
        "aria-label": [title, detail, mark, wholeName(box)].filter(Boolean).join(" "),
        "aria-pressed": box.kind === "dataset" && box.index === state.dataset ? "true" : null };
      const radius = box.kind === "task" ? PILL / 2 : 6;
      const frame = svg("rect", { class: "frame", width: box.width, height: heights[number], rx: radius });
      if (!hasText) {
        group.append(svg("g", header, frame));
        return [group];
      }
      const isPill = box.kind === "task";
      group.append(frame, svg("g", header,
        svg("rect", { class: "hit", width: box.width, height: box.height, rx: radius }),
        svg("text", { class: "title", x: isPill ? box.width / 2 : 14, y: isPill || !detail ? 21 : 20 }, title), " ",
        !isPill && svg("text", { class: "detail", x: 14, y: 37 }, detail), " ",
        mark && svg("text", { class: "mark", x: box.width - 24, y: 20 }, mark), " ",
        svg("title", {}, wholeName(box))));
      if (!isPill && box.kind === "dataset") group.append(svg("rect", { class: "side", width: 4, height: heights[number], rx: 2 }));
      const columns = box.kind === "dataset" ? document.datasets[box.index].columns.length : 0;
      if (columns) group.append(toggle(number, box.index, columns));
      rows[number].forEach((row, index) => group.append(drawRow(number, box.index, row, index)));
      return [group];
    });
  }

  /** @param {number} number @param {number} dataset @param {number} columns */
  function toggle(number, dataset, columns) {
    const isOpen = state.opened.has(dataset);
    const text = `${isOpen ? "▾" : "▸"} ${columns}`;
    return svg("g", { class: "toggle", role: "button", "data-box": number, "data-toggle": "", "aria-expanded": String(isOpen),
      "aria-label": `${text} ${columns === 1 ? "column" : "columns"}` },
    svg("rect", { class: "hit", x: WIDTH - 58, y: 22, width: 54, height: 24, rx: 4 }),
    svg("text", { class: "detail", x: WIDTH - 10, y: 37, "text-anchor": "end" }, text));
  }

  /** @param {number} number @param {number} dataset @param {import("./picture.js").Row} row @param {number} index */
  function drawRow(number, dataset, row, index) {
    const column = document.datasets[dataset].columns.find(({ name }) => name === row.name);
    const hasGap = !row.more && gaps.has(JSON.stringify([dataset, row.name]));
    const text = row.more ? `${row.more} more` : row.name ?? "all rows";
    const type = row.more || row.name === null ? "" : column?.type ?? "";
    const [name, shownType] = [fit(text, hasGap ? 15 : 18), fit(type, 9)];
    const whole = name === text && type === shownType ? null : cut(`${text} ${type}`, 500);
    return svg("g", { class: `row${row.traced ? " traced" : ""}${row.more || row.name === null ? " whole" : ""}`, role: "button",
      id: `box-${number}-${index}`, transform: `translate(0 ${HEADER + index * ROW})`, "data-box": number, "data-row": index,
      "aria-label": [name, hasGap && "⚠", shownType, whole].filter(Boolean).join(" ") },
    svg("rect", { class: "hit", x: 4, width: WIDTH - 8, height: ROW, rx: 4 }),
    svg("text", { class: "name", x: 14, y: 18 }, name), " ",
    hasGap && svg("text", { class: "mark", x: 132, y: 18 }, "⚠"), " ",
    type && svg("text", { class: "detail", x: WIDTH - 14, y: 18, "text-anchor": "end" }, shownType), " ",
    whole && svg("title", {}, whole));
  }

  /** @param {Box} box */
  function classOf({ kind, index, members }) {
    const names = ["box", kind];
    if (kind === "dataset") {
      const { read, written, unfinished } = document.datasets[index];
      names.push(unfinished ? "unfinished" : written ? (read ? "both" : "written") : "read");
      if (state.dataset === index) names.push("selected");
    }
    if (kind === "task") names.push(document.tasks[index].state === "fail" ? "failed" : "done");
    if (!isLit(kind, index, members)) names.push("dim");
    return names.join(" ");
  }

  /** @param {string} kind @param {number} index @param {number[]} members */
  function isLit(kind, index, members) {
    const { lit } = state;
    if (!lit) return true;
    if (kind === "dataset") return lit.has(index);
    if (kind === "more") return members.some((dataset) => lit.has(dataset));
    const { reads, writes } = document.tasks[index];
    return writes.some((dataset) => lit.has(dataset)) && (!reads.length || reads.some((dataset) => lit.has(dataset)));
  }

  /** @param {Box} box @returns {string[]} title, detail, mark */
  function textsOf({ kind, index, members }) {
    if (kind === "task") return [fit(document.tasks[index].title, 20), "", ""];
    if (kind === "more") return [`${members.length.toLocaleString("en-US")} more`, "datasets with the same lines", ""];
    const dataset = document.datasets[index];
    return [fit(dataset.label, withGap.has(index) ? 21 : 26), fit(roleOf(dataset), 28), withGap.has(index) ? "⚠" : ""];
  }

  /** @param {Box} box */
  function wholeName({ kind, index }) {
    if (kind === "task") return cut(document.tasks[index].title, 500);
    if (kind === "more") return "Show more of them";
    const { namespace, name } = document.datasets[index];
    return cut(`${namespace} ${name}`, 500);
  }

  // Where lines meet a column: its row, the row for what is not shown, or the header.
  /** @param {number} dataset @param {string | null} column */
  function port(dataset, column) {
    const box = picture.boxOf[dataset];
    const row = rows[box].findIndex(({ name, more }) => (more ? column !== null : name === column));
    return { box, y: tops[box] + (row < 0 ? HEADER / 2 : HEADER + row * ROW + ROW / 2), row };
  }

  /** @param {Region} region */
  function drawLines(region) {
    /** @type {SVGElement[]} */
    const flows = [];
    picture.links.forEach(({ from, to }, link) => {
      const [start, end] = [picture.boxes[from], picture.boxes[to]];
      const points = places.turned.has(link) ? [] : places.bends[link].map((bend) => ({ x: places.x[bend], y: tops[bend] }));
      const path = curve(from, tops[from] + start.height / 2, to, tops[to] + end.height / 2, points, region);
      if (!path) return;
      const lit = !state.lit || (isLit(start.kind, start.index, start.members) && isLit(end.kind, end.index, end.members));
      const isBack = places.turned.has(link);
      flows.push(svg("path", { class: `flow${isBack ? " back" : ""}${lit && !state.trace ? "" : " dim"}`, d: path }));
      if (isBack) flows.push(svg("text", { class: "detail", "text-anchor": "middle", x: (places.x[from] + places.x[to] + WIDTH) / 2, y: under(from, to) + 14 },
        from === to ? "↺ reads itself" : "↺ back"));
    });
    return [...flows, ...drawEdges(region)];
  }

  /** @param {Region} region */
  function drawEdges(region) {
    /** @type {Map<string, SVGElement>} */
    const paths = new Map();
    /** @type {Map<string, {x: number, y: number, kinds: Set<string>}>} */
    const labels = new Map();
    const numbers = state.trace ? [...state.trace.edges] : state.opened.size ? document.edges.keys() : [];
    for (const number of numbers) {
      const edge = document.edges[number];
      if (!state.trace && !state.opened.has(edge.from) && !state.opened.has(edge.to)) continue;
      const [start, end] = [port(edge.from, edge.field), port(edge.to, edge.column)];
      if (start.row < 0 && end.row < 0) continue;
      const path = curve(start.box, start.y, end.box, end.y, [], region);
      if (!path) continue;
      const type = edge.type === "INDIRECT" ? "indirect" : "direct";
      const dim = !state.trace && state.lit && !(state.lit.has(edge.from) && state.lit.has(edge.to)) ? " dim" : "";
      if (!paths.has(type + path)) paths.set(type + path, svg("path", { class: `edge ${type}${dim}`, d: path }));
      if (!state.trace) continue;
      const at = `${start.box} ${start.row}`;
      if (!labels.has(at)) labels.set(at, { x: places.x[start.box] + WIDTH + 8, y: start.y - 5, kinds: new Set() });
      labels.get(at)?.kinds.add(kind(edge) + (edge.masking ? " (masked)" : ""));
    }
    const texts = [...labels.values()].map(({ x, y, kinds }) => svg("text", { class: "kind", x, y }, fit([...kinds].sort().join(", "), 30)));
    return [...paths.values(), ...texts];
  }

  /** @param {number} from @param {number} to */
  const under = (from, to) => Math.max(tops[from] + heights[from], tops[to] + heights[to]) + 14;

  /** @param {number} from @param {number} y1 @param {number} to @param {number} y2 @param {Point[]} bends @param {Region} region */
  function curve(from, y1, to, y2, bends, region) {
    const [x1, x2] = [places.x[from] + picture.boxes[from].width, places.x[to]];
    const low = x2 > x1 ? Math.max(y1, y2) : under(from, to);
    const ys = [y1, y2, low, ...bends.map(({ y }) => y)];
    if (Math.min(x1, x2) - 60 > region.right || Math.max(x1, x2) + 60 < region.left) return "";
    if (Math.min(...ys) > region.bottom || Math.max(...ys) < region.top) return "";
    if (x2 <= x1) {
      return `M${x1} ${y1}C${x1 + 48} ${y1} ${x1 + 48} ${low} ${x1} ${low}L${x2} ${low}C${x2 - 48} ${low} ${x2 - 48} ${y2} ${x2} ${y2}`;
    }
    let [path, x, y] = [`M${x1} ${y1}`, x1, y1];
    for (const next of [...bends, { x: x2, y: y2 }]) {
      const bend = Math.round((next.x - x) / 2);
      path += `C${x + bend} ${y} ${next.x - bend} ${next.y} ${next.x} ${next.y}`;
      ({ x, y } = next);
    }
    return path;
  }

  // ---- The view

  function bounds() {
    const right = picture.boxes.reduce((most, { width }, box) => Math.max(most, places.x[box] + width), 0);
    const bottom = heights.reduce((most, height, box) => Math.max(most, tops[box] + height), 0);
    return { width: right + 2 * MARGIN, height: bottom + 2 * MARGIN };
  }

  // Show all, or at first, where all is too small to read, what was written.
  /** @param {boolean} [readable] */
  function fitAll(readable = false) {
    const { width, height } = bounds();
    const scale = Math.min(1, size.width / width, size.height / height);
    if (readable && scale < NO_TEXT_BELOW) {
      view.scale = READABLE;
      show(picture.boxes.findIndex(({ kind, index }) => kind === "dataset" && document.datasets[index].written));
      return;
    }
    view = { scale: Math.max(SMALLEST, scale), x: 0, y: 0 };
    view.x = (size.width - (width - 2 * MARGIN) * view.scale) / 2;
    view.y = (size.height - (height - 2 * MARGIN) * view.scale) / 2;
    draw();
  }

  /** @param {number} box */
  function show(box) {
    const { x, y } = spot(Math.max(0, box));
    if (view.scale < NO_TEXT_BELOW) view.scale = READABLE;
    view.x = size.width / 2 - (x + WIDTH / 2) * view.scale;
    view.y = size.height / 3 - (y + HEADER / 2) * view.scale;
    draw();
  }

  /** @param {number} factor @param {Point} [at] */
  function zoom(factor, at = { x: size.width / 2, y: size.height / 2 }) {
    const hadText = view.scale >= NO_TEXT_BELOW;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
    view.x = at.x - ((at.x - view.x) * scale) / view.scale;
    view.y = at.y - ((at.y - view.y) * scale) / view.scale;
    view.scale = scale;
    moved(hadText);
  }

  /** @param {number} x @param {number} y */
  function pan(x, y) {
    view.x += x;
    view.y += y;
    moved();
  }

  // ---- Mouse and keyboard

  /** @type {{x: number, y: number, moved: boolean} | null} */
  let drag = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1)) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.abs(x) + Math.abs(y) < DRAG) return;
    if (!drag.moved) element.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, moved: true };
    pan(x, y);
  });
  element.addEventListener("click", (event) => {
    const wasDragged = drag?.moved;
    drag = null;
    const target = /** @type {Element} */ (event.target).closest("[data-box]");
    if (wasDragged) return;
    if (!(target instanceof SVGElement)) {
      act.leave();
      return;
    }
    const { box, row, toggle } = target.dataset;
    cursor = { box: Number(box), row: Number(row ?? -1) };
    if (toggle === undefined) choose();
    else act.toggle(picture.boxes[cursor.box].index);
  });
  element.addEventListener("wheel", (event) => {
    const isZoom = event.ctrlKey || event.metaKey;
    const { width, height } = bounds();
    if (!isZoom && width * view.scale <= size.width && height * view.scale <= size.height) return;
    event.preventDefault();
    const place = element.getBoundingClientRect();
    if (!isZoom) pan(-event.deltaX, -event.deltaY);
    else zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - place.left, y: event.clientY - place.top });
  }, { passive: false });

  /** Do what a click on the place of the cursor does. */
  function choose() {
    const { kind, index } = picture.boxes[cursor.box];
    const row = rows[cursor.box][cursor.row];
    if (kind === "more") act.moreOfSide();
    else if (kind === "dataset" && !row) act.select(index);
    else if (row?.more) act.more(index);
    else if (row) act.trace(index, row.name);
  }

  /** Mark the place of the cursor. */
  function point() {
    const id = cursor.row < 0 ? `box-${cursor.box}` : `box-${cursor.box}-${cursor.row}`;
    const at = boxes.querySelector(`#${id}`);
    boxes.querySelector(".cursor")?.classList.remove("cursor");
    at?.classList.add("cursor");
    if (at) element.setAttribute("aria-activedescendant", id);
    else element.removeAttribute("aria-activedescendant");
  }

  /** @param {-1 | 1} step */
  function upOrDown(step) {
    const row = cursor.row + step;
    if (row >= -1 && row < rows[cursor.box].length) return { box: cursor.box, row };
    const layer = places.layers.map((points) => points.filter((point) => point < picture.boxes.length)).find((points) => points.includes(cursor.box)) ?? [];
    const box = layer[layer.indexOf(cursor.box) + step];
    return box === undefined ? cursor : { box, row: step > 0 ? -1 : rows[box].length - 1 };
  }

  // Go along an edge of the trace, else along a line, to the nearest box.
  /** @param {-1 | 1} step */
  function alongLine(step) {
    const box = picture.boxes[cursor.box];
    const row = rows[cursor.box][cursor.row];
    for (const number of row && !row.more && state.trace ? state.trace.edges : []) {
      const { from, field, to, column } = document.edges[number];
      if (step > 0 && from === box.index && field === row.name) return port(to, column);
      if (step < 0 && to === box.index && column === row.name) return port(from, field);
    }
    const linked = picture.links.flatMap(({ from, to }) => (from === cursor.box ? [to] : to === cursor.box ? [from] : []));
    const there = linked.filter((other) => (places.x[other] - places.x[cursor.box]) * step > 0);
    const far = (/** @type {number} */ other) => Math.abs(tops[other] - tops[cursor.box]);
    return there.length ? { box: there.reduce((a, b) => (far(b) < far(a) ? b : a)), row: -1 } : cursor;
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => go(upOrDown(1)),
    ArrowUp: () => go(upOrDown(-1)),
    ArrowRight: () => go(alongLine(1)),
    ArrowLeft: () => go(alongLine(-1)),
    Enter: () => {
      const { kind, index } = picture.boxes[cursor.box];
      if (kind === "dataset" && cursor.row < 0) act.toggle(index);
      else choose();
    },
    " ": () => choose(),
    t: () => choose(),
    Escape: () => act.leave(),
    "+": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fitAll(),
  };
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key) || !picture.boxes.length) return;
    event.preventDefault();
    keys[event.key]();
  });

  /** @param {{box: number, row: number}} next */
  function go({ box, row }) {
    cursor = { box, row };
    const { x, y } = spot(box);
    const [left, top] = [x * view.scale + view.x, (y + (row + 1) * ROW) * view.scale + view.y];
    if (left < 0 || top < 0 || left + WIDTH * view.scale > size.width || top + HEADER * view.scale > size.height) show(box);
    else point();
  }

  const watch = new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    const isFirst = size.width === 0;
    size = { width, height };
    if (width === 0) return;
    if (isFirst) fitAll(true);
    else moved();
  });
  watch.observe(element);

  // Return the whole graph as a file that needs no other.
  /** @param {boolean} isDark */
  function text(isDark) {
    const { width, height } = bounds();
    const whole = svg("svg", { viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}`, width, height, class: "graph" },
      svg("style", {}, `svg{${isDark ? DARK : LIGHT}background:var(--surface)}${GRAPH_STYLE}`),
      ...drawLines(EVERYWHERE), ...drawBoxes(EVERYWHERE, true));
    for (const node of whole.querySelectorAll("[role]")) {
      for (const name of node.getAttributeNames()) if (/^(role|id|aria-|data-)/.test(name)) node.removeAttribute(name);
    }
    return new XMLSerializer().serializeToString(whole);
  }

  return {
    element, update, text, fit: () => fitAll(), zoom,
    /** @param {number} dataset */
    show: (dataset) => show(picture.boxOf[dataset]),
    stop: () => watch.disconnect(),
  };
}

/** @param {number} value */
const round = (value) => Math.round(value * 100) / 100;

// Cut a text to a number of cells; wide characters take two. No text is measured.
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

/** @param {import("./document.js").Dataset} dataset */
export function roleOf({ unfinished, written, read, change, reads, writes }) {
  if (unfinished) return "not finished";
  const role = written ? [read && "read", change || "written"].filter(Boolean).join(", ") : "read";
  return [role, ...amounts({ ...(written ? writes : reads), files: undefined })].join(" · ");
}
