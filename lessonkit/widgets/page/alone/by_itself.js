// A picture in a file of its own. All settings were run when it was written; this answers in
// place of a kernel.

import { div, html } from "../base/dom.js";
import { giveBack } from "../base/keyboard.js";
import { Life } from "../base/life.js";
import { nearest } from "../base/numbers.js";
import { Explore } from "../explore/explore.js";
import { moveOn } from "../lesson/cells.js";

/**
 * What a file holds beside the program.
 * @typedef {object} Content
 * @property {import("../scene.js").ExploreState} state
 * @property {Record<string, import("../scene.js").Scene | { error: string }>} answers by the numbers
 *   of the values of all controls
 * @property {Record<string, string[]>} values in words, by the names of controls
 * @property {string} style
 * @property {string} title
 * @property {string} caption
 */

/**
 * @param {string} text the content, packed by gzip and written in base 64
 * @returns {Promise<Content>}
 */
async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

/**
 * A model that has all answers with it.
 * @param {Content} content
 */
function modelOf({ state, answers }) {
  const heard = new Set();
  return {
    get: (name) => (name === "state" ? JSON.stringify(state) : undefined),
    set() {},
    save_changes() {},
    on: (event, hear) => {
      if (event === "msg:custom") heard.add(hear);
    },
    off: (_, hear) => heard.delete(hear),
    send({ id, values: chosen }) {
      const answer = JSON.stringify(answers[Object.values(chosen).join()]);
      const bytes = new TextEncoder().encode(answer);
      for (const hear of heard) hear({ about: "picture", id, took: 0 }, [bytes]);
    },
  };
}

/**
 * Draws the picture in *el*, with its styles, because a page may draw it in a shadow.
 * @param {HTMLElement} el
 * @param {Content} content
 * @returns {() => void} ends it
 */
function drawIn(el, content) {
  const { style, title, caption } = content;
  const node = div("lk");
  const live = node.appendChild(div("lk-live"));
  const above = title ? [html("b", {}, title)] : [];
  const below = caption ? [html("p", {}, caption)] : [];
  const figure = html("div", {}, html("style", {}, style), ...above, node, ...below);
  el.append(figure);
  const life = new Life(modelOf(content));
  life.listen(node, "keydown", giveBack, true);
  life.listen(node, "keydown", moveOn, true);
  new Explore(life, live);
  return () => {
    figure.remove();
    life.end();
  };
}

// The index of a value that an address names, or of the nearest number; -1 if there is none.
function indexNamed(text, values) {
  const index = values.indexOf(text);
  const numbers = values.map(Number);
  const isNumber =
    text.trim() !== "" && [Number(text), ...numbers].every((one) => !Number.isNaN(one));
  if (index >= 0 || !isNumber) return index;
  return nearest(numbers, (number) => Math.abs(number - text));
}

// A setting has an address, such as #workers=4&prefetch_factor=1. What is named wrong stays as it
// was.
function goTo(el, values) {
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    const field = Object.hasOwn(values, name) && el.querySelector(`[data-name="${name}"]`);
    const index = field ? indexNamed(text, values[name]) : -1;
    if (index < 0) continue;
    if (field.type === "checkbox") field.checked = index === 1;
    else field.value = index;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function tellAddress(el, values) {
  const told = [...el.querySelectorAll("[data-name]")].map((field) => {
    const { name } = field.dataset;
    const index = Number(field.type === "checkbox" ? field.checked : field.value);
    return [name, values[name][index]];
  });
  try {
    history.replaceState(null, "", `#${new URLSearchParams(told)}`);
  } catch {
    // A frame without an origin has no address.
  }
}

// A page around a frame cannot see how high the picture in it is.
function tellHeight() {
  const { height, y } = document.body.getBoundingClientRect();
  parent.postMessage({ lessonkitHeight: Math.ceil(height + 2 * (y + scrollY)) }, "*");
}

/**
 * Draws the picture as the page that it is written in.
 * @param {HTMLElement} el
 * @param {string} text
 */
export async function openPage(el, text) {
  const content = await opened(text);
  const { values } = content;
  drawIn(el, { ...content, title: "", caption: "" }); // the page has them itself
  goTo(el, values);
  addEventListener("hashchange", () => goTo(el, values));
  el.addEventListener("change", () => tellAddress(el, values));
  if (parent !== window) new ResizeObserver(tellHeight).observe(document.body);
}

/**
 * Makes of a file what any page can show that shows an anywidget, without a kernel.
 * @param {string} text
 */
export const widgetOf = (text) => ({
  render({ el }) {
    let isOver = false;
    let end = () => {
      isOver = true;
    };
    opened(text).then((content) => {
      if (!isOver) end = drawIn(el, content);
    });
    return () => end();
  },
});
