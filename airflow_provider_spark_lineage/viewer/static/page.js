// The standalone page: a list of jobs and runs, and the viewer of the chosen one. Its data stands in the page itself.

import { button, foreign, h, replace } from "./elements.js";
import { dress, followTheme } from "./styles.js";
import { mount } from "./viewer.js";
import { stateWord, when } from "./words.js";

/** @returns {{notes: string[], runs: PageRun[]}} */
function dataOfPage() {
  const isText = (/** @type {any} */ value) => typeof value === "string";
  try {
    const { notes, runs } = JSON.parse(document.getElementById("spark-lineage")?.textContent ?? "");
    return { notes: Array.isArray(notes) ? notes.filter(isText) : [],
      runs: runs.filter((/** @type {any} */ run) => isText(run?.key)) };
  } catch {
    return { notes: ["The data of this page could not be read."], runs: [] };
  }
}

const { notes, runs } = dataOfPage();
let parameters = new URLSearchParams(location.hash.slice(1));
const address = { read: () => new URLSearchParams(parameters), write };

/** @param {URLSearchParams} next @param {"replaceState" | "pushState"} [how] */
function write(next, how = "replaceState") {
  parameters = next;
  try {
    history[how](null, "", `#${next}`);
  } catch {
    // A sandboxed frame, as in a notebook, has no address of its own.
  }
}

const place = h("div", { class: "here" });
const list = h("nav", { "aria-label": "Jobs and runs", hidden: runs.length < 2 });
const sentences = notes.map((note) => h("p", { class: "note" }, foreign(note, 500)));
const page = h("div", { class: "viewer page" }, list, h("main", { class: "here" }, sentences, place));
const root = h("div", { style: "height:100%" });
dress(root.attachShadow({ mode: "open" }));
root.shadowRoot?.append(page);
document.body.append(root);
followTheme(page);

let unmount = () => {};
let shown = "";

/** @param {string} key */
function show(key) {
  const run = runs.find((each) => each.key === key) ?? runs[0];
  if (!run || shown === run.key) return;
  unmount();
  shown = run.key;
  // A link to the newest run stays a link to this one.
  if (runs.length > 1 && parameters.get("run") !== shown) {
    parameters.set("run", shown);
    write(parameters);
  }
  const answerOf = (/** @type {string} */ other) => runs.find((each) => each.key === other)?.answer;
  const previous = async (/** @type {string} */ id) => answerOf(id)?.document ?? null;
  unmount = mount(place, { load: async () => run.answer, previous, open }, { address });
  let group = "";
  replace(list, runs.map((each, index) => {
    const head = each.group !== group && h("h4", {}, foreign(String(each.group ?? ""), 80));
    group = each.group;
    const state = h("div", { class: each.state === "fail" ? "bad" : "muted" }, `${when(String(each.time ?? ""))} ${stateWord(String(each.state ?? ""))}`);
    const which = { "data-key": `run-${index}`, "aria-current": each === run && "true" };
    return [head, button("", () => open(each.key), which, foreign(String(each.label ?? each.key), 80), state)];
  }));
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/** @param {string} key */
function open(key) {
  if (key === shown) return;
  write(new URLSearchParams({ run: key }), "pushState");
  show(key);
}

addEventListener("popstate", () => {
  parameters = new URLSearchParams(location.hash.slice(1));
  shown = "";
  show(parameters.get("run") ?? "");
});
show(parameters.get("run") ?? "");
