// Numbers, sizes and times in words, the same in every language of the browser.

import { cut } from "./elements.js";

/** @param {number} value */
export const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 1 });

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${number(count)} ${count === 1 ? noun : `${noun}s`}`;

/** @param {number} size */
export function bytes(size) {
  let unit = 0;
  for (; size >= 1024 && unit < 5; unit += 1) size /= 1024;
  return `${number(size)} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][unit]}`;
}

// The reader's own zone, in which all times are shown.
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";

/** @param {string} time */
export function when(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return cut(time, 40);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const day = [String(date.getFullYear()).padStart(4, "0"), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** @param {string} began @param {string} ended */
export const took = (began, ended) => lasted(Date.parse(ended) - Date.parse(began));

/** @param {number} milliseconds */
export function lasted(milliseconds) {
  if (!(milliseconds >= 0)) return "";
  if (milliseconds < 950) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${number(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const STATES = new Map(Object.entries({ complete: "success", fail: "failed", abort: "stopped", start: "not ended", other: "ended" }));

// The word of a run's state, as Airflow has it.
/** @param {string} state */
export const stateWord = (state) => STATES.get(state) ?? state;

/** @param {number} before @param {number} now */
export function change(before, now) {
  if (before === now) return "unchanged";
  if (before === 0) return "from none";
  const percent = ((now - before) / before) * 100;
  const size = Math.abs(percent) < 0.1 ? "less than 0.1" : number(Math.abs(percent));
  return `${percent > 0 ? "+" : "−"}${size} %`;
}

/** @param {Edge} edge */
export const kind = (edge) => cut((edge.subtype || edge.type).toLowerCase().replaceAll("_", " "), 40);

const CHANGES = new Map(Object.entries({ alter: "altered", append: "appended", create: "created", drop: "dropped", overwrite: "overwritten",
  rename: "renamed", truncate: "truncated" }));

// What a write did to a dataset.
/** @param {string} change */
export const changeWord = (change) => CHANGES.get(change) ?? (cut(change, 20) || "written");

/** @param {{rows?: number, size_bytes?: number, files?: number}} statistics */
export function amounts({ rows, size_bytes, files }) {
  return [
    rows !== undefined && counted(rows, "row"),
    size_bytes !== undefined && bytes(size_bytes),
    files !== undefined && counted(files, "file"),
  ].filter((part) => part !== false);
}

/**
 * Comma-separated values. A cell that a spreadsheet would read as a formula begins with an apostrophe.
 * @param {string[][]} rows
 */
export function csv(rows) {
  const cell = (/** @type {string} */ text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
