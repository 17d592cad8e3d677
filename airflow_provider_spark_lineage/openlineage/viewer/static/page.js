// The standalone page: a list of jobs and runs, and the viewer of the chosen one. Its data stands in the page itself.

import { button, foreign, h, replace } from "./elements.js";
import { dress, followTheme } from "./styles.js";
import { mount, parametersFor } from "./viewer.js";
import { stateWord, when, zone } from "./words.js";

/** @returns {{notes: string[], runs: PageRun[], start: string, chosen: any}} */
function dataOfPage() {
  const isText = (/** @type {any} */ value) => typeof value === "string";
  try {
    const { notes, runs, start, chosen } = JSON.parse(document.getElementById("spark-lineage")?.textContent ?? "");
    return { start: isText(start) ? start : "", chosen, notes: Array.isArray(notes) ? notes.filter(isText) : [],
      runs: runs.filter((/** @type {any} */ run) => isText(run?.key)) };
  } catch {
    return { notes: ["The data of this page could not be read."], runs: [], start: "", chosen: null };
  }
}

const { notes, runs, start, chosen } = dataOfPage();
// A page that was made for a dataset begins with it; a link says itself what it shows.
let parameters = location.hash || !chosen ? new URLSearchParams(location.hash.slice(1)) : parametersFor(chosen);
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
const list = h("div", { class: "list", tabindex: 0 });
const filter = h("input", { type: "search", placeholder: "Filter jobs and runs", "aria-label": "Filter jobs and runs", input: draw });
const navigation = h("nav", { "aria-label": "Jobs and runs", hidden: runs.length < 2 },
  h("div", { class: "head" }, filter, h("p", { class: "muted" }, `Times: ${zone()}`)), list);
const sentences = notes.map((note) => h("p", { class: "note" }, foreign(note, 500)));
const page = h("div", { class: "viewer page" }, navigation, h("main", { class: "here" }, sentences, place));
const root = h("div", { style: "height:100%" });
dress(root.attachShadow({ mode: "open" }));
root.shadowRoot?.append(page);
document.body.append(root);
followTheme(page);

let unmount = () => {};
let shown = "";

/** @param {string} key */
function show(key) {
  const byKey = (/** @type {string} */ one) => runs.find((each) => each.key === one);
  const run = byKey(key) ?? byKey(start) ?? runs[0];
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
  draw();
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
}

// Draw the list: the runs whose job, group or state has the text of the filter.
function draw() {
  const text = /** @type {HTMLInputElement} */ (filter).value.toLowerCase();
  let group = "";
  const lines = runs.map((each, index) => {
    const [name, label] = [String(each.group ?? ""), String(each.label ?? each.key)];
    const state = `${when(String(each.time ?? ""))} ${stateWord(String(each.state ?? ""))}`;
    if (!`${name} ${label} ${state}`.toLowerCase().includes(text)) return null;
    const head = name !== group && h("h4", {}, foreign(name, 80));
    group = name;
    const which = { "data-key": `run-${index}`, "aria-current": each.key === shown && "true" };
    return [head, button("", () => open(each.key), which, foreign(label, 80), h("div", { class: each.state === "fail" ? "bad" : "muted" }, state))];
  });
  replace(list, lines, !lines.some(Boolean) && h("p", { class: "muted" }, "Nothing has this text."));
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
