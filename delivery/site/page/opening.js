// The first picture and the first question of a lesson, drawn before any Python is there.

import { modelOf } from "./stored.js";
import { program } from "./widgets.js";

/** @typedef {import("./stored.js").Stored} Stored */

/**
 * What an opening holds beside its text.
 * @param {string} text packed by gzip and written in base 64
 * @returns {Promise<Record<string, Stored>>} by the name of the cell
 */
export async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

/**
 * Draws the widgets of an opening, each in the part that has the name of its cell.
 * @param {HTMLElement} opening
 * @param {Record<string, Stored>} widgets
 * @param {string} path of the lesson
 * @param {(cell: string) => void} later hears of which cell somebody wants a real run
 * @returns {() => void} ends them
 */
export function draw(opening, widgets, path, later) {
  const ends = Object.entries(widgets).map(([cell, stored]) => {
    const el = document.createElement("div");
    el.className = "lessons-live";
    opening.querySelector(`[data-cell="${cell}"]`).append(el);
    const model = modelOf(stored, path, () => later(cell));
    return program.render({ model: /** @type {any} */ (model), el });
  });
  return () => {
    for (const end of ends) end();
  };
}
