// What pictures are drawn with, in SVG.

import { attributes, svg } from "./dom.js";

// In pixels.
export const BRIEF = 480; // a picture that is narrower says less
export const LETTER = 7; // at most, for a letter of most texts
export const BOLD_LETTER = 8; // the same, in bold

export const label = (x, y, text, given) =>
  svg("text", { x, y, "text-anchor": "middle", ...given }, text);

export const labelBefore = (x, y, text, given) =>
  label(x, y, text, { "text-anchor": "end", ...given });

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

// What a wait is filled with, by the mark that the kernel names: a line of such marks. Its tile is as
// high as the line, so each line has whole ones.
export const TILE = 6; // pixels
const UP = "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2";
const DOWN = "M-1,5 l2,2 M0,0 l6,6 M5,-1 l2,2";

const MARKS = {
  "/": UP,
  "\\": DOWN,
  x: UP + DOWN,
  ".": "M3,3 h0",
  "*": "M3,1 v4 M1,2 l4,2 M5,2 l-4,2",
  o: "M1,3 a2,2 0 1 0 4,0 a2,2 0 1 0 -4,0",
};

const patternId = (id, mark) => `${id}-${mark.charCodeAt(0)}`;

export const filling = (id, mark) => `url(#${patternId(id, mark)})`;

export function hatching(id) {
  return svg(
    "defs",
    {},
    ...Object.entries(MARKS).map(([mark, d]) => {
      const tile = {
        id: patternId(id, mark),
        width: TILE,
        height: TILE,
        patternUnits: "userSpaceOnUse",
      };
      return svg("pattern", tile, svg("path", { d, class: mark === "." && "lk-dots" }));
    }),
  );
}
