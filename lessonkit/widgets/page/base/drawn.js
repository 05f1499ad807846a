// What pictures are drawn with, in SVG.

import { attributes, svg } from "./dom.js";

// In pixels.
export const BRIEF = 480; // a picture that is narrower says less
export const LETTER = 7; // at most, for a letter of most texts
export const BOLD_LETTER = 8; // the same, in bold

export const label = (x, y, text, given) =>
  svg("text", { x, y, "text-anchor": "middle", ...given }, text);

export const line = (x1, y1, x2, y2, given) => svg("line", { x1, y1, x2, y2, ...given });

export function sized(node, width, height) {
  return attributes(node, { width, height, viewBox: `0 0 ${width} ${height}` });
}

/**
 * Where in a picture the pointer is; the page may be zoomed.
 * @param {SVGSVGElement} node
 * @param {{ clientX: number, clientY: number }} event
 */
export function inside(node, { clientX, clientY }) {
  const { left, top, width } = node.getBoundingClientRect();
  const scale = node.width.baseVal.value / width;
  return { x: (clientX - left) * scale, y: (clientY - top) * scale };
}

// What waits are filled with, by the mark that the kernel names, on a tile of 8 pixels.
const UP = "M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4";
const DOWN = "M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4";

const MARKS = {
  "/": UP,
  "\\": DOWN,
  x: UP + DOWN,
  ".": "M2,2 h0 M6,2 h0 M2,6 h0 M6,6 h0",
  "-": "M0,2 h8 M0,6 h8",
  "+": "M0,4 h8 M4,0 v8",
  "*": "M4,1 v6 M1,2.5 l6,3 M7,2.5 l-6,3",
  o: "M1.5,4 a2.5,2.5 0 1 0 5,0 a2.5,2.5 0 1 0 -5,0",
};

const patternId = (id, mark) => `${id}-${mark.charCodeAt(0)}`;

export const filling = (id, mark) => `url(#${patternId(id, mark)})`;

export function hatching(id) {
  return svg(
    "defs",
    {},
    ...Object.entries(MARKS).map(([mark, d]) => {
      const tile = { id: patternId(id, mark), width: 8, height: 8, patternUnits: "userSpaceOnUse" };
      return svg("pattern", tile, svg("path", { d, class: mark === "." && "lk-dots" }));
    }),
  );
}
