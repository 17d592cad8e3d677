// The graph: draws what is in view of a picture, pans, zooms, and is walked by keyboard as one tab stop.

import { drawBoxes, drawLines, port, titlesOf, titlesOfTasks } from "./drawing.js";
import { svg } from "./elements.js";
import { open, place } from "./layout.js";
import { HEADER, MOST_OF_A_SIDE, pictureOf, ROW, rowsOf, WIDTH } from "./picture.js";
import { DARK, GRAPH_STYLE, LIGHT } from "./styles.js";
import { counted } from "./words.js";

const NO_TEXT_BELOW = 0.4, TOO_SMALL_BELOW = 0.5, READABLE = 0.8, SMALLEST = 0.05, LARGEST = 2;
const MARGIN = 24, LEAST_DRAG = 4;
const EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
const HELP = "Arrow keys go along lines and rows, Enter opens, t traces a column, Escape leaves.";

/** @param {ViewDocument} document @param {Acts} act */
export function createGraph(document, act) {
  const [lines, boxes] = [svg("g"), svg("g")];
  const picture = svg("g", {}, lines, boxes);
  const label = `Graph of ${counted(document.datasets.length, "dataset")}. ${HELP}`;
  const element = svg("svg", { class: "graph", tabindex: 0, role: "application", "aria-label": label }, picture);

  /** @type {GraphState} */
  const first = { dataset: null, trace: null, lit: null, opened: new Set(), most: new Map(), filters: new Map(),
    sides: MOST_OF_A_SIDE };
  const withGap = new Set(document.gaps.flatMap(({ dataset, column }) =>
    [JSON.stringify(dataset), JSON.stringify([dataset, column])]));
  /** @type {Scene} */
  const scene = { document, withGap, titles: titlesOf(document.datasets.map(({ label }) => label)),
    taskTitles: titlesOfTasks(document.tasks.map(({ title }) => title)), state: first, ...laidOut(new Set(), first.sides), tops: [], heights: [], rows: [] };
  let view = { x: 0, y: 0, scale: 1 };
  let size = { width: 0, height: 0 };
  let cursor = { box: topLeft(), row: -1 };
  let isTouched = false;
  /** @type {Region | null} */
  let drawn = null;

  /** @param {Set<number>} kept @param {number} sides */
  function laidOut(kept, sides) {
    const laid = pictureOf(document, kept, sides);
    return { picture: laid, places: place(laid.boxes, laid.links) };
  }

  function topLeft() {
    return scene.places.layers[0]?.find((point) => point < scene.picture.boxes.length) ?? 0;
  }

  /** @param {GraphState} state @param {number} [anchor] the dataset whose box stays where it is on the screen */
  function update(state, anchor) {
    const before = anchor !== undefined && spot(scene.picture.boxOf[anchor]);
    const kept = new Set([...(state.lit ?? []), ...(state.dataset === null ? [] : [state.dataset])]);
    const isHidden = scene.picture.boxes.some(({ members }) => members.some((dataset) => kept.has(dataset)));
    if (state.sides !== scene.state.sides || isHidden) {
      Object.assign(scene, laidOut(kept, state.sides));
      cursor = { box: topLeft(), row: -1 };
    }
    scene.state = state;
    scene.rows = scene.picture.boxes.map(({ kind, index }) =>
      kind !== "dataset" ? [] : rowsOf(document, index, {
        opened: state.opened.has(index), traced: state.trace?.columns.get(index),
        filter: state.filters.get(index), most: state.most.get(index),
      }));
    scene.heights = scene.picture.boxes.map(({ height }, box) => height + scene.rows[box].length * ROW);
    scene.tops = open(scene.places, scene.heights);
    cursor.row = Math.min(cursor.row, (scene.rows[cursor.box]?.length ?? 0) - 1);
    if (before && anchor !== undefined) {
      const after = spot(scene.picture.boxOf[anchor]);
      view.x += (before.x - after.x) * view.scale;
      view.y += (before.y - after.y) * view.scale;
    }
    draw();
  }

  /** @param {number} box @returns {Point} */
  const spot = (box) => ({ x: scene.places.x[box] ?? 0, y: scene.tops[box] ?? 0 });

  // ---- The view

  const hasText = () => view.scale >= NO_TEXT_BELOW;

  // Draw what is in view, and half a view around it.
  function draw() {
    const { width, height } = size;
    const [left, top] = [(-view.x - width / 2) / view.scale, (-view.y - height / 2) / view.scale];
    drawn = { left, top, right: left + (2 * width) / view.scale, bottom: top + (2 * height) / view.scale };
    lines.replaceChildren(...drawLines(scene, drawn, hasText()));
    boxes.replaceChildren(...drawBoxes(scene, drawn, hasText()));
    picture.setAttribute("transform", transform());
    point();
  }

  const transform = () => `translate(${view.x.toFixed(2)} ${view.y.toFixed(2)}) scale(${view.scale.toFixed(3)})`;

  function moved(hadText = hasText()) {
    const [left, top] = [-view.x / view.scale, -view.y / view.scale];
    const [right, bottom] = [left + size.width / view.scale, top + size.height / view.scale];
    const isIn = drawn && left >= drawn.left && top >= drawn.top && right <= drawn.right && bottom <= drawn.bottom;
    if (isIn && hadText === hasText()) picture.setAttribute("transform", transform());
    else draw();
  }

  /** @param {number} x @param {number} y */
  function pan(x, y) {
    view.x += x;
    view.y += y;
    moved();
  }

  /** @param {number} factor @param {Point} [at] */
  function zoom(factor, at = { x: size.width / 2, y: size.height / 2 }) {
    const hadText = hasText();
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
    view.x = at.x - ((at.x - view.x) * scale) / view.scale;
    view.y = at.y - ((at.y - view.y) * scale) / view.scale;
    view.scale = scale;
    moved(hadText);
  }

  function bounds() {
    const { picture: { boxes: all }, places, tops, heights } = scene;
    const right = all.reduce((most, { width }, box) => Math.max(most, places.x[box] + width), 0);
    const bottom = heights.reduce((most, height, box) => Math.max(most, tops[box] + height), 0);
    return { width: right + 2 * MARGIN, height: bottom + 2 * MARGIN };
  }

  // Show all; where that is too small to read and `isReadable` is asked for, show what was written.
  function fit(isReadable = false) {
    const { width, height } = bounds();
    const scale = Math.min(1, size.width / width, size.height / height);
    if (isReadable && scale < TOO_SMALL_BELOW) {
      view.scale = READABLE;
      const { dataset } = scene.state;
      const isFocus = (/** @type {Box} */ { kind, index }) =>
        kind === "dataset" && (dataset === null ? document.datasets[index].written : dataset === index);
      show(scene.picture.boxes.findIndex(isFocus));
      return;
    }
    view = { scale: Math.max(SMALLEST, scale), x: 0, y: 0 };
    view.x = (size.width - (width - 2 * MARGIN) * view.scale) / 2;
    view.y = (size.height - (height - 2 * MARGIN) * view.scale) / 2;
    draw();
  }

  // Show all; what would have no text then is shown from its top left corner.
  function arrange() {
    fit();
    if (view.scale >= NO_TEXT_BELOW) return;
    const { width, height } = bounds();
    const scale = NO_TEXT_BELOW;
    const start = (/** @type {number} */ has, /** @type {number} */ needs) => Math.max(0, (has - needs * scale) / 2) + MARGIN * scale;
    view = { scale, x: start(size.width, width), y: start(size.height, height) };
    draw();
  }

  /** @param {number} box */
  function show(box) {
    const { x, y } = spot(Math.max(0, box));
    if (view.scale < TOO_SMALL_BELOW) view.scale = READABLE;
    view.x = size.width / 2 - (x + WIDTH / 2) * view.scale;
    view.y = size.height / 3 - (y + HEADER / 2) * view.scale;
    draw();
  }

  // Show all that is lit, if it can be read then; returns whether it can.
  function fitLit() {
    const lit = [...(scene.state.lit ?? [])].map((dataset) => scene.picture.boxOf[dataset]);
    if (lit.length < 2) return false;
    const least = (/** @type {number[]} */ values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const left = least(lit.map((box) => spot(box).x)) - MARGIN;
    const top = least(lit.map((box) => spot(box).y)) - MARGIN;
    const right = -least(lit.map((box) => -spot(box).x - WIDTH)) + MARGIN;
    const bottom = -least(lit.map((box) => -spot(box).y - scene.heights[box])) + MARGIN;
    const scale = Math.min(1, size.width / (right - left), size.height / (bottom - top));
    if (!(scale >= NO_TEXT_BELOW)) return false;
    view = { scale, x: size.width / 2 - ((left + right) / 2) * scale, y: size.height / 2 - ((top + bottom) / 2) * scale };
    draw();
    return true;
  }

  // Pan no farther than needed to have a row in view.
  /** @param {number} box @param {number} [row] */
  function reveal(box, row = -1) {
    const { x, y } = spot(box);
    const [left, top] = [x * view.scale + view.x, (y + (row + 1) * ROW) * view.scale + view.y];
    const inside = (/** @type {number} */ start, /** @type {number} */ length, /** @type {number} */ most) =>
      Math.max(8 - start, Math.min(0, most - 8 - start - length));
    pan(inside(left, WIDTH * view.scale, size.width), inside(top, HEADER * view.scale, size.height));
  }

  // ---- Mouse

  /** @type {{x: number, y: number, isDrag: boolean} | null} */
  let pressed = null;
  element.addEventListener("pointerdown", ({ button, clientX: x, clientY: y }) => {
    pressed = button === 0 ? { x, y, isDrag: false } : null;
  });
  element.addEventListener("pointermove", ({ buttons, clientX: x, clientY: y, pointerId }) => {
    if (!pressed || !(buttons & 1)) return;
    const [right, down] = [x - pressed.x, y - pressed.y];
    if (!pressed.isDrag && Math.abs(right) + Math.abs(down) < LEAST_DRAG) return;
    if (!pressed.isDrag) element.setPointerCapture(pointerId);
    pressed = { x, y, isDrag: true };
    pan(right, down);
  });
  element.addEventListener("click", ({ target }) => {
    const isDrag = pressed?.isDrag;
    pressed = null;
    if (isDrag) return;
    const part = target instanceof Element && target.closest("[data-box]");
    if (!(part instanceof SVGElement)) {
      act.leave();
      return;
    }
    const { box, row, toggle } = part.dataset;
    cursor = { box: Number(box), row: Number(row ?? -1) };
    if (toggle === undefined) choose();
    else act.toggle(scene.picture.boxes[cursor.box].index);
  });
  element.addEventListener("wheel", (event) => {
    const isZoom = event.ctrlKey || event.metaKey;
    const { width, height } = bounds();
    if (!isZoom && width * view.scale <= size.width && height * view.scale <= size.height) return;
    event.preventDefault();
    const { left, top } = element.getBoundingClientRect();
    if (isZoom) zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
    else pan(-event.deltaX, -event.deltaY);
  }, { passive: false });

  // Do what a click at the place of the cursor does.
  function choose() {
    const { kind, index } = scene.picture.boxes[cursor.box];
    const row = scene.rows[cursor.box][cursor.row];
    if (kind === "more") act.moreOfSide();
    else if (row?.more) act.more(index);
    else if (row) act.trace(index, row.name);
    else if (kind === "dataset") act.select(index);
    else act.light([...document.tasks[index].reads, ...document.tasks[index].writes]);
  }

  // ---- Keyboard

  // Mark the place of the cursor.
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
    if (row >= -1 && row < scene.rows[cursor.box].length) return { box: cursor.box, row };
    const layer = scene.places.layers.find((points) => points.includes(cursor.box)) ?? [];
    const inLayer = layer.filter((at) => at < scene.picture.boxes.length);
    const box = inLayer[inLayer.indexOf(cursor.box) + step];
    return box === undefined ? cursor : { box, row: step > 0 ? -1 : scene.rows[box].length - 1 };
  }

  // Go along an edge of the trace, else along a line to the nearest box.
  /** @param {-1 | 1} step */
  function alongLine(step) {
    const { index } = scene.picture.boxes[cursor.box];
    const row = scene.rows[cursor.box][cursor.row];
    for (const number of (row && !row.more && scene.state.trace?.edges) || []) {
      const { from, field, to, column } = document.edges[number];
      if (step > 0 && from === index && field === row.name) return port(scene, to, column);
      if (step < 0 && to === index && column === row.name) return port(scene, from, field);
    }
    const linked = scene.picture.links.flatMap(({ from, to }) =>
      (from === cursor.box ? [to] : to === cursor.box ? [from] : []));
    const there = linked.filter((box) => (spot(box).x - spot(cursor.box).x) * step > 0);
    const far = (/** @type {number} */ box) => Math.abs(spot(box).y - spot(cursor.box).y);
    return there.length ? { box: there.reduce((a, b) => (far(b) < far(a) ? b : a)), row: -1 } : cursor;
  }

  /** @param {{box: number, row: number}} next */
  function go(next) {
    cursor = next;
    reveal(next.box, next.row);
    point();
  }

  function enter() {
    const { kind, index } = scene.picture.boxes[cursor.box];
    if (kind === "dataset" && cursor.row < 0) act.toggle(index);
    else choose();
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => go(upOrDown(1)),
    ArrowUp: () => go(upOrDown(-1)),
    ArrowRight: () => go(alongLine(1)),
    ArrowLeft: () => go(alongLine(-1)),
    Enter: enter,
    " ": choose,
    t: choose,
    Escape: act.leave,
    "+": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fit(),
  };
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    if (!scene.picture.boxes.length) return;
    event.preventDefault();
    keys[event.key]();
  });

  const watch = new ResizeObserver(([{ contentRect: { width, height } }]) => {
    size = { width, height };
    if (width && !isTouched) fit(true);
    else if (width) moved();
    if (width && scene.state.dataset !== null) reveal(scene.picture.boxOf[scene.state.dataset]);
  });
  watch.observe(element);
  // Where somebody has moved the picture, it stays.
  for (const name of ["pointerdown", "wheel", "keydown"]) element.addEventListener(name, () => { isTouched = true; }, { passive: true });

  // Return the whole graph as a file that needs no other.
  /** @param {boolean} isDark */
  function text(isDark) {
    const { width, height } = bounds();
    const box = `${-MARGIN} ${-MARGIN} ${width} ${height}`;
    const whole = svg("svg", { viewBox: box, width, height },
      svg("style", {}, `svg{${isDark ? DARK : LIGHT}background:var(--raised)}${GRAPH_STYLE}`),
      ...drawLines(scene, EVERYWHERE, true), ...drawBoxes(scene, EVERYWHERE, true));
    for (const node of whole.querySelectorAll("[role]")) {
      for (const name of node.getAttributeNames()) if (/^(role|id|aria-|data-)/.test(name)) node.removeAttribute(name);
    }
    return new XMLSerializer().serializeToString(whole);
  }

  return {
    element, update, text, fit: () => fit(), arrange,
    /** @param {number} factor */
    zoom: (factor) => {
      isTouched = true;
      zoom(factor);
    },
    // Bring a dataset into view, and give the keyboard its place, or that of its column.
    /** @param {number} dataset @param {string} [column] */
    show: (dataset, column) => {
      isTouched = true;
      const box = scene.picture.boxOf[dataset];
      cursor = { box, row: column === undefined ? -1 : port(scene, dataset, column).row };
      if (!fitLit()) show(box);
      element.focus({ preventScroll: true });
    },
    stop: () => watch.disconnect(),
  };
}
