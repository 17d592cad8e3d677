// Places of boxes in layers: what is read stands left of what is written. Pure, and the same for any order of its input.
//
// Cycles are turned around, layers are longest paths, long links get bends, barycenters order each layer. Places are those
// of closed boxes: `open` only pushes down what stands below an opened box, so nothing moves upwards or to another layer.

const BETWEEN_LAYERS = 150, BESIDE_NARROW = 80, NARROW = 200;
const BETWEEN_BOXES = 20;
const HEIGHT_OF_BEND = 8;
const LONGEST_WITH_BENDS = 12;
const SWEEPS = 8;

/** @param {Box[]} boxes @param {Link[]} links @returns {Places} */
export function place(boxes, links) {
  const sorted = boxes.map((_, box) => box).sort((a, b) => compare(boxes[a].key, boxes[b].key) || a - b);
  const rank = sorted.map(() => 0);
  sorted.forEach((box, position) => (rank[box] = position));
  const ends = links.map(({ from, to }) => [rank[from], rank[to]]);
  const order = ends.map((_, link) => link).sort((a, b) => ends[a][0] - ends[b][0] || ends[a][1] - ends[b][1]);

  const turned = cycles(boxes.length, ends, order);
  const forward = ends.map(([from, to], link) => (turned.has(link) ? [to, from] : [from, to]));
  const straight = order.filter((link) => ends[link][0] !== ends[link][1]);
  const layerOf = layersOf(boxes.length, straight.map((link) => forward[link]));
  const linked = new Set(ends.flat());
  const right = largest(layerOf, 1);
  sorted.forEach((box, point) => {
    if (!linked.has(point) && boxes[box].last) layerOf[point] = right;
  });

  /** @type {number[][]} */
  const bends = links.map(() => []);
  /** @type {number[][][]} neighbours of each point in the layer before, and in the layer after */
  const [before, after] = [boxes.map(() => []), boxes.map(() => [])];
  for (const link of straight) {
    const [from, to] = forward[link];
    let last = from;
    const join = (/** @type {number} */ point) => {
      after[last].push(point);
      before[point].push(last);
      last = point;
    };
    const bent = layerOf[to] - layerOf[from] <= LONGEST_WITH_BENDS;
    for (let layer = layerOf[from] + 1; bent && layer < layerOf[to]; layer += 1) {
      const bend = layerOf.push(layer) - 1;
      before.push([]);
      after.push([]);
      bends[link].push(bend);
      join(bend);
    }
    join(to);
  }

  /** @type {number[][]} */
  const layers = Array.from({ length: largest(layerOf, -1) + 1 }, () => []);
  layerOf.forEach((layer, point) => layers[layer].push(point));
  sweep(layers, before, after);
  const heights = layerOf.map((_, point) => (point < boxes.length ? boxes[sorted[point]].height : HEIGHT_OF_BEND));
  const y = heightsOf(layers, heights, before, after);
  const x = layerOf.map(() => 0);
  const widths = layerOf.map((_, point) => (point < boxes.length ? boxes[sorted[point]].width : 0));
  const widest = layers.map((layer) => largest(layer.map((point) => widths[point]), 0));
  let left = 0;
  layers.forEach((layer, at) => {
    for (const point of layer) x[point] = left + Math.round((widest[at] - widths[point]) / 2);
    left += widest[at] + (Math.min(widest[at], widest[at + 1]) < NARROW ? BESIDE_NARROW : BETWEEN_LAYERS);
  });
  const back = (/** @type {number} */ point) => (point < boxes.length ? sorted[point] : point);
  const byBox = (/** @type {number[]} */ values) =>
    values.map((_, point) => values[point < boxes.length ? rank[point] : point]);
  return { x: byBox(x), y: byBox(y), layers: layers.map((layer) => layer.map(back)), turned, bends };
}

// Return the tops of all points where boxes have these heights.
/** @param {Places} places @param {number[]} heights */
export function open({ y, layers }, heights) {
  const tops = [...y];
  for (const layer of layers) {
    let free = -Infinity;
    for (const point of layer) {
      tops[point] = Math.max(y[point], free);
      free = tops[point] + (heights[point] ?? HEIGHT_OF_BEND) + BETWEEN_BOXES;
    }
  }
  return tops;
}

/** @param {string[]} a @param {string[]} b */
function compare(a, b) {
  for (let part = 0; part < Math.min(a.length, b.length); part += 1) {
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  }
  return a.length - b.length;
}

// Return the links that close a cycle.
/** @param {number} size @param {number[][]} ends @param {number[]} order */
function cycles(size, ends, order) {
  /** @type {number[][]} */
  const out = Array.from({ length: size }, () => []);
  const isTarget = new Set();
  for (const link of order) {
    out[ends[link][0]].push(link);
    if (ends[link][0] !== ends[link][1]) isTarget.add(ends[link][1]);
  }
  const turned = new Set();
  const [NEW, ENTERED, LEFT] = [0, 1, 2];
  const state = new Uint8Array(size);
  const next = new Uint32Array(size);
  const points = out.map((_, point) => point);
  for (const start of [...points.filter((point) => !isTarget.has(point)), ...points]) {
    if (state[start] !== NEW) continue;
    const path = [start];
    state[start] = ENTERED;
    while (path.length) {
      const point = path[path.length - 1];
      const link = out[point][next[point]++];
      if (link === undefined) {
        state[point] = LEFT;
        path.pop();
        continue;
      }
      const to = ends[link][1];
      if (state[to] === ENTERED) turned.add(link);
      else if (state[to] === NEW) {
        state[to] = ENTERED;
        path.push(to);
      }
    }
  }
  return turned;
}

// Longest path from the left; what nothing leads to stands just before what it leads to.
/** @param {number} size @param {number[][]} links */
function layersOf(size, links) {
  /** @type {number[][]} */
  const out = Array.from({ length: size }, () => []);
  const waits = new Uint32Array(size);
  for (const [from, to] of links) {
    out[from].push(to);
    waits[to] += 1;
  }
  const sources = out.map((_, point) => point).filter((point) => waits[point] === 0);
  const layer = out.map(() => 0);
  const ready = [...sources];
  for (let point = ready.pop(); point !== undefined; point = ready.pop()) {
    for (const to of out[point]) {
      layer[to] = Math.max(layer[to], layer[point] + 1);
      waits[to] -= 1;
      if (waits[to] === 0) ready.push(to);
    }
  }
  for (const point of sources) {
    if (out[point].length) layer[point] = out[point].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
  }
  return layer;
}

// Order each layer by the mean place of its neighbours.
/** @param {number[][]} layers @param {number[][]} before @param {number[][]} after */
function sweep(layers, before, after) {
  /** @type {number[]} */
  const position = [];
  const number = (/** @type {number[]} */ layer) => layer.forEach((point, index) => (position[point] = index));
  layers.forEach(number);
  for (let turn = 0; turn < SWEEPS; turn += 1) {
    const rightwards = turn % 2 === 0;
    for (const layer of rightwards ? layers : [...layers].reverse()) {
      const neighbours = rightwards ? before : after;
      const wished = new Map(layer.map((point) => [point, mean(neighbours[point], position, position[point])]));
      layer.sort((a, b) => (wished.get(a) ?? 0) - (wished.get(b) ?? 0) || position[a] - position[b]);
      number(layer);
    }
  }
}

// Return tops: each point near the middle of its neighbours.
/** @param {number[][]} layers @param {number[]} heights @param {number[][]} before @param {number[][]} after */
function heightsOf(layers, heights, before, after) {
  const top = heights.map(() => 0);
  for (const layer of layers) stack(layer, heights, top, () => 0);
  for (let turn = 0; turn < SWEEPS; turn += 1) {
    const rightwards = turn % 2 === 0;
    const middles = top.map((y, point) => y + heights[point] / 2);
    for (const layer of rightwards ? layers : [...layers].reverse()) {
      const neighbours = rightwards ? before : after;
      stack(layer, heights, top, (point) => mean(neighbours[point], middles, middles[point]) - heights[point] / 2);
      for (const point of layer) middles[point] = top[point] + heights[point] / 2;
    }
  }
  const highest = -largest(top.map((y) => -y), -Infinity);
  return top.map((y) => Math.round(y - highest));
}

// Place a layer near its wishes: halfway between pushing all down and pushing all up.
/** @param {number[]} layer @param {number[]} heights @param {number[]} top @param {(point: number) => number} wish */
function stack(layer, heights, top, wish) {
  const wishes = layer.map(wish);
  const down = [...wishes];
  const up = [...wishes];
  for (let index = 1; index < layer.length; index += 1) {
    down[index] = Math.max(wishes[index], down[index - 1] + heights[layer[index - 1]] + BETWEEN_BOXES);
  }
  for (let index = layer.length - 2; index >= 0; index -= 1) {
    up[index] = Math.min(wishes[index], up[index + 1] - heights[layer[index]] - BETWEEN_BOXES);
  }
  layer.forEach((point, index) => (top[point] = (down[index] + up[index]) / 2));
}

// Not Math.max, which takes a limited number of arguments.
/** @param {number[]} values @param {number} least */
const largest = (values, least) => values.reduce((most, value) => Math.max(most, value), least);

/** @param {number[]} points @param {number[]} values @param {number} otherwise */
const mean = (points, values, otherwise) =>
  points.length ? points.reduce((sum, point) => sum + values[point], 0) / points.length : otherwise;
