// What has just changed is brought into sight, where the page has moved on to something else.

const HAND = ["wheel", "touchmove", "pointerdown", "keydown"]; // by these a reader moves
// JupyterLab goes on scrolling to the cell that it has chosen, as long as what is above it changes.
const LOOKS = [0, 100, 300, 600, 1000]; // ms

/** @param {Element} node */
export function isInSight(node) {
  const { top, bottom } = node.getBoundingClientRect();
  const panel = node.closest(".jp-WindowedPanel-outer, .jp-NotebookPanel-notebook");
  const frame = panel?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return bottom > top && top >= frame.top && bottom <= frame.bottom;
}

/**
 * Brings into sight what has been drawn for a hand, from *first* to *last*; where they have no room
 * together, *first*.
 * @param {import("../base/life.js").Life} life
 * @param {Element} first
 * @param {Element} last
 */
export function bringAll(life, first, last) {
  life.timer().start(() => {
    for (const node of [last, first]) node.scrollIntoView({ block: "nearest" });
  }, LOOKS[1]);
}

/**
 * Brings *node* into sight, unless one of *others* is there that says the same; a hand that moves
 * the page ends it.
 * @param {import("../base/life.js").Life} life
 * @param {Element} node
 * @param {Element[]} others
 */
export function bringInSight(life, node, others = []) {
  const hand = new AbortController();
  for (const moved of HAND) {
    addEventListener(moved, () => hand.abort(), { capture: true, signal: hand.signal });
  }
  life.atEnd(() => hand.abort());
  for (const [index, wait] of LOOKS.entries()) {
    life.timer().start(() => {
      if (hand.signal.aborted) return;
      if (![node, ...others].some(isInSight)) node.scrollIntoView({ block: "center" });
      if (index === LOOKS.length - 1) hand.abort();
    }, wait);
  }
}
