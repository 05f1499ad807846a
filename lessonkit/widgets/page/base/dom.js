// Making elements. Text is only ever set as text, never as markup.

import { KEYS } from "./keyboard.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Gives a node attributes, and listeners by names such as `onclick`; false and undefined give none.
 * @template {Element} N
 * @param {N} node
 * @param {Record<string, any>} given
 */
export function attributes(node, given) {
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  return node;
}

/**
 * All nodes below another one that are as *wanted*.
 * @param {ParentNode} root
 * @param {string} wanted
 * @returns {HTMLElement[]}
 */
export const findAll = (root, wanted) => [...root.querySelectorAll(wanted)].map(asHtml);

/** @param {Element} node */
const asHtml = (node) => /** @type {HTMLElement} */ (node);

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} given
 * @param {(Node | string)[]} children
 */
export function html(tag, given = {}, ...children) {
  const node = attributes(document.createElement(tag), given);
  node.append(...children);
  return node;
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} given
 * @param {(Node | string | number)[]} children
 */
export function svg(tag, given = {}, ...children) {
  const node = attributes(document.createElementNS(SVG, tag), given);
  node.append(...children.map((one) => (typeof one === "number" ? String(one) : one)));
  return node;
}

export const div = (name, ...children) => html("div", { class: name }, ...children);

// What changes in it is read aloud.
export const spoken = (name, text = "") =>
  html("div", { class: name, "aria-live": "polite" }, text);

export function question(title, ...text) {
  return html("p", { class: "lk-question" }, html("b", {}, title), ...text);
}

export function folded(title, open, ...children) {
  return html("details", { open }, html("summary", {}, title), ...children);
}

export function labelled(text, ...nodes) {
  return html("label", { class: "lk-control" }, html("span", {}, text), ...nodes);
}

export const tableCell = (...content) => html("td", {}, ...content);

export const tableHead = (scope, text) => html("th", { scope }, text);

export const program = (text) => html("pre", { tabindex: 0, ...KEYS }, text);

export function button(text, title, act, given = {}) {
  return named(html("button", { type: "button", onclick: act, ...KEYS, ...given }, text), title);
}

// Who speaks to the page says what is written on a button: its name begins with that.
export function named(node, title, text = node.textContent) {
  node.textContent = text;
  const isSaid = /[a-z]/i.test(text);
  const isPart = title.toLowerCase().includes(text.toLowerCase());
  return attributes(node, { title, "aria-label": isSaid && !isPart ? `${text}: ${title}` : title });
}

/** @param {Node} node */
export const saying = (node) => (text) => {
  node.textContent = text;
};

export const verdict = (well, ...text) => html("span", {}, marked("b", well), ...text);

export function marked(tag, well, ...text) {
  return html(tag, { class: well ? "lk-right" : "lk-wrong" }, well ? "✓ " : "✗ ", ...text);
}

// A number that nothing else has: views in several pages share a kernel, and copies of this program a
// page.
export const uniqueNumber = () => crypto.getRandomValues(new Uint32Array(1))[0];

export const unique = (name) => `lk-${name}-${uniqueNumber()}`;
