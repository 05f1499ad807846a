// *check* runs the cell with the attempt, for who has no Shift+Enter, as on a phone, and leaves the
// reader where they are. A widget has no command of JupyterLab's, so it presses the keys of one:
// Ctrl+Enter runs the chosen cell and stays there.

import { attributes, button } from "../base/dom.js";
import { cellsAround } from "../lesson/cells.js";

const CHECKS = /\.check\(/; // a cell that does this has an attempt

/**
 * The cell in which a challenge is tried: the first one after its own, or its own.
 * @param {HTMLElement} el
 * @param {any} cells the models of the cells; pages without an editor have none
 * @returns {HTMLElement | undefined}
 */
export function cellOfAttempt(el, cells) {
  const all = cells ? cellsAround(el) : [];
  const own = all.findIndex((cell) => cell.contains(el));
  return all.find((cell, index) => {
    const model = cells.get(Number(cell.dataset.windowedListIndex ?? index));
    return own >= 0 && index >= own && CHECKS.test(model?.sharedModel.getSource() ?? "");
  });
}

/** @param {HTMLElement} cell */
export function runCell(cell) {
  attributes(cell, { tabindex: -1 }).focus({ preventScroll: true }); // JupyterLab chooses it then
  const key = { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: true };
  cell.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
}

/**
 * The button, out of sight where there is nothing to run.
 * @param {import("../base/life.js").Life} life
 * @param {() => HTMLElement} where the card is
 */
export function checkButton(life, where) {
  const later = life.timer();
  const cells = () => life.widget_manager?.context?.model?.cells;
  const check = button(
    "check",
    "Check your attempt: run its cell",
    () => {
      const cell = cellOfAttempt(where(), cells());
      if (cell) runCell(cell);
    },
    { class: "lk-primary" },
  );
  // A view is made before it has its place in the page.
  const look = () => {
    const el = where();
    check.hidden = !el.isConnected || !cellOfAttempt(el, cells());
    if (!el.isConnected) later.start(look, 100);
  };
  look();
  return check;
}
