// The field that finds datasets and columns: a combobox over both.

import { foreign, h, replace } from "./elements.js";
import { number } from "./words.js";

const MOST = 20;

/** @param {ViewDocument} document @param {(dataset: number, column?: string) => void} choose */
export function findField({ datasets }, choose) {
  /** @type {{dataset: number, column?: string}[]} */
  let found = [];
  let [at, rest] = [0, 0];
  const list = h("div", { class: "found", role: "listbox", id: "found", "aria-label": "Found", hidden: true });
  const input = /** @type {HTMLInputElement} */ (h("input", {
    type: "search", role: "combobox", placeholder: "Find column…  /", "aria-label": "Find a dataset or column",
    "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list", autocomplete: "off",
    input: search, blur: () => show(false), keydown: move,
  }));

  /** @param {boolean} isShown */
  function show(isShown) {
    list.hidden = !isShown;
    input.setAttribute("aria-expanded", String(isShown));
    if (isShown && found.length) input.setAttribute("aria-activedescendant", `found-${at}`);
    else input.removeAttribute("aria-activedescendant");
    const options = found.map(({ dataset, column }, index) => {
      const click = (/** @type {Event} */ event) => {
        event.preventDefault();
        take(index);
      };
      const name = [foreign(datasets[dataset].label), column !== undefined && [".", foreign(column)]];
      const option = { role: "option", id: `found-${index}`, "aria-selected": String(index === at), pointerdown: click };
      return h("div", option, name);
    });
    replace(list, options, rest > 0 && h("div", { class: "muted", role: "note" }, `and ${number(rest)} more`),
      !found.length && h("div", { role: "option" }, "Nothing found"));
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  function search() {
    const text = input.value.toLowerCase();
    at = 0;
    const all = text ? matching(datasets, text) : [];
    found = all.slice(0, MOST);
    rest = all.length - found.length;
    show(text !== "");
  }

  /** @param {number} index */
  function take(index) {
    const { dataset, column } = found[index];
    input.value = "";
    show(false);
    choose(dataset, column);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    if (event.key === "Escape") {
      input.value = "";
      search();
    } else if (event.key === "Enter" && found[at]) take(at);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      show(found.length > 0);
    }
  }
  return h("div", { class: "find" }, input, list);
}

/**
 * Return what has a text in its name: datasets before columns; of both, equal names, then beginnings, then the rest.
 * @param {Dataset[]} datasets @param {string} text in lower case
 * @returns {{dataset: number, column?: string}[]}
 */
export function matching(datasets, text) {
  /** @type {{dataset: number, column?: string, rank: number}[]} */
  const found = [];
  const rankOf = (/** @type {string[]} */ names) => {
    const lower = names.map((name) => name.toLowerCase());
    if (lower.includes(text)) return 0;
    if (lower.some((name) => name.startsWith(text))) return 1;
    return lower.some((name) => name.includes(text)) ? 2 : -1;
  };
  const lastOf = (/** @type {string} */ name) => name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf("/")) + 1);
  datasets.forEach(({ label, name, columns }, dataset) => {
    found.push({ dataset, rank: rankOf([label, name, label.slice(label.lastIndexOf("/") + 1)]) });
    for (const { name: column } of columns) {
      const rank = rankOf([column, `${label}.${column}`, `${name}.${column}`, `${lastOf(name)}.${column}`]);
      found.push({ dataset, column, rank: rank < 0 ? -1 : rank + 3 });
    }
  });
  return found.filter(({ rank }) => rank >= 0).sort((a, b) => a.rank - b.rank);
}
