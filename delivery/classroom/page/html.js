// @ts-check
// Elements of a page. All that comes from learners is put into it as text.

/** @typedef {Record<string, string | number>} About */

/** @param {string} space */
const maker =
  (space) =>
  /**
   * @param {string} tag
   * @param {About} about
   * @param {(Node | string)[]} inside
   */
  (tag, about = {}, ...inside) => {
    const made = document.createElementNS(`http://www.w3.org/${space}`, tag);
    for (const [name, value] of Object.entries(about)) made.setAttribute(name, String(value));
    made.append(...inside);
    return made;
  };

export const html = maker("1999/xhtml");
export const svg = maker("2000/svg");

/**
 * A part of the board's own page.
 * @template {HTMLElement} Part
 * @param {string} name
 * @returns {Part}
 */
export const byId = (name) => /** @type {Part} */ (document.getElementById(name));

/**
 * @param {string} text
 * @param {() => void} onclick
 */
export const button = (text, onclick) => Object.assign(html("button", {}, text), { onclick });

/**
 * Style that the page's own policy lets a script set.
 * @template {Element} Styled
 * @param {Styled} node
 * @param {Record<string, string | number>} style
 */
export function styled(node, style) {
  for (const [name, value] of Object.entries(style)) {
    /** @type {any} */ (node).style.setProperty(name, String(value));
  }
  return node;
}
