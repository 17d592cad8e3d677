// Elements of HTML and SVG. What comes from data becomes a text node or a plain attribute: no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";
const LONGEST_TITLE = 1000;

/** @param {string} tag @param {Attributes} [attributes] @param {...Child} children */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** @param {string} tag @param {Attributes} [attributes] @param {...Child} children */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/**
 * @template {Element} E
 * @param {E} element @param {Attributes | undefined} attributes @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value != null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return nodes(child);
    if (child == null || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/**
 * Replace what a container shows. The element with the focus is found again by its `data-key`, which code makes;
 * where it is gone, the nearest part of the page that can have the focus gets it.
 * @param {Element} container @param {...Child} children
 */
export function replace(container, ...children) {
  const root = /** @type {ShadowRoot | Document} */ (container.getRootNode());
  const focused = /** @type {HTMLElement | null} */ (root.activeElement);
  const isInside = focused !== null && container.contains(focused);
  const key = focused?.dataset.key;
  container.replaceChildren(...nodes(children));
  if (!isInside) return;
  const again = (key && container.querySelector(`[data-key="${key}"]`)) || container.closest('[tabindex="0"]');
  /** @type {HTMLElement | null} */ (again)?.focus();
}

// Controls, marks of direction (which would reorder what stands beside them) and halves of characters.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

// Return a text as it is shown: not too long, and with a mark for each character that nobody would see.
/** @param {string} text @param {number} length */
export function cut(text, length) {
  return (text.length <= length ? text : `${text.slice(0, length - 1)}…`).replace(UNSEEN, "\uFFFD");
}

/**
 * A text of somebody else, isolated: its direction of writing does not reorder what stands beside it.
 * @param {string} text
 */
export function foreign(text, length = 60) {
  return h("bdi", { title: text.length > length && cut(text, LONGEST_TITLE) }, cut(text, length));
}

/** @param {string} label @param {() => void} click @param {Attributes} [attributes] @param {...Child} children */
export function button(label, click, attributes, ...children) {
  return h("button", { type: "button", click, ...attributes }, label, ...children);
}

/**
 * A text that can be copied. Without a clipboard, as on plain http, the field is selected for the keyboard instead.
 * @param {string} text @param {string} what
 */
export function copyable(text, what) {
  const field = /** @type {HTMLInputElement} */ (
    h("input", { class: "copyable", readonly: true, "aria-label": what, value: text, dir: "auto", focus: () => field.select() })
  );
  const copy = button("Copy", async () => {
    let told = "Copied";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      field.focus();
      told = "Selected: press Ctrl+C";
    }
    copy.textContent = told;
  });
  return h("span", { class: "copy" }, field, copy);
}

/** @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
