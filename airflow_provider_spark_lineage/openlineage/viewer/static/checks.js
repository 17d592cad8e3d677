// Results of checks: which failed, in a panel above the graph, and all of them as a table.

import { button, foreign, h } from "./elements.js";
import { counted } from "./words.js";

const MOST_IN_PANEL = 5;
const STATES = { failed: ["✕ failed", "bad"], warning: ["! warning", "warn"], skipped: ["○ not evaluated", "warn"], absent: ["○ skipped", "muted"], other: ["? unknown", "warn"], passed: ["✓ passed", "good"] };
const ORDER = Object.keys(STATES);

// A check that failed with the severity `warn` does not fail its task.
/** @param {Check} check @returns {keyof typeof STATES} */
export function stateOf({ status, severity }) {
  if (status === "failed") return severity === "warn" ? "warning" : "failed";
  return status === "skipped" || status === "absent" || status === "passed" ? status : "other";
}

/** @param {Check} check */
export const rank = (check) => ORDER.indexOf(stateOf(check));

/** @param {ViewDocument} document @returns {{check: Check, dataset: number | null}[]} the worst first */
export function checksOf({ checks, datasets }) {
  const all = [
    ...datasets.flatMap((dataset, number) => dataset.checks.map((check) => ({ check, dataset: number }))),
    ...checks.map((check) => ({ check, dataset: null })),
  ];
  return all.sort((a, b) => rank(a.check) - rank(b.check));
}

/** @param {ViewDocument} document */
export const failedChecks = (document) =>
  checksOf(document).filter(({ check }) => stateOf(check) === "failed" || (check.status === "skipped" && check.severity !== "warn"));

/** @param {Check} check */
const problemOf = ({ status, problem }) => problem && `${status === "absent" ? "" : "not evaluated: "}${problem}`;

/** @param {Check} check */
const foundOf = (check) =>
  problemOf(check) || [check.expected && `expected ${check.expected}`, check.found && `found ${check.found}`].filter(Boolean).join(", ");

// The name of a check often has its column: `amount.max`, or `all.amount.max` of one of several frames.
/** @param {Check} check */
const nameOf = ({ name, column }) => (column && !`.${name}.`.includes(`.${column}.`) ? `${column}: ${name}` : name);

/** @param {Check} check */
export function checkLine(check) {
  const [word, color] = STATES[stateOf(check)];
  return h("li", {}, h("span", { class: color }, word), " ", foreign(nameOf(check), 100), " ", foreign(foundOf(check), 300));
}

// The mark on the box of a dataset: of its worst check.
/** @param {Dataset} dataset */
export function checkMark({ checks }) {
  if (!checks.length) return null;
  const worst = checks.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  const [[sign], color] = STATES[stateOf(worst)];
  const count = checks.filter((check) => stateOf(check) === stateOf(worst)).length;
  return { sign, color, text: `${counted(count, "check")} ${stateOf(worst) === "warning" ? "failed with a warning" : STATES[stateOf(worst)][0].slice(2)}` };
}

/** @param {ViewDocument} document @param {() => void} showAll */
export function checksPanel(document, showAll) {
  const [all, failed] = [checksOf(document), failedChecks(document)];
  const lines = failed.slice(0, MOST_IN_PANEL).map(({ check }) =>
    h("li", {}, h("strong", {}, foreign(nameOf(check), 100)), " ", foreign(foundOf(check), 300)));
  const rest = failed.length - lines.length;
  return h("section", { class: "failure", "aria-label": "Failed checks" },
    h("strong", { class: "bad" }, `✕ ${failed.length} of ${counted(all.length, "check")} failed`),
    h("ul", {}, lines, rest > 0 && h("li", {}, button(`and ${rest} more`, showAll))));
}

/** @param {Context} context @param {(dataset: number) => Node} linkTo */
export function checksTable({ document }, linkTo) {
  const heads = ["State", "Column", "Check", "Severity", "Expected", "Found", "Of"];
  const rows = checksOf(document).map(({ check, dataset }) => {
    const [word, color] = STATES[stateOf(check)];
    const task = check.task === null ? null : document.tasks[check.task];
    const found = problemOf(check) || check.found;
    const of = dataset !== null ? linkTo(dataset) : task ? foreign(task.title) : "no single dataset";
    const cells = [h("span", { class: color }, word), foreign(check.column), foreign(check.name, 100), foreign(check.severity),
      foreign(check.expected, 300), foreign(found, 300), of];
    return h("tr", {}, cells.map((cell) => h("td", {}, cell)));
  });
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows));
}
