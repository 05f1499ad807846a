// What cannot be read in a page as it is laid out now: a text that is cut, lies on another one, or
// sticks out of what it belongs to; and what scrolls sideways.

const ROOT = ".lk";
// Speak to screen readers, and have no place.
const UNSEEN = ".lk-words";
// A phone has room for three boxes of the plumbing.
const LONG = ".lk-plumbing:has(> .lk-part ~ .lk-part ~ .lk-part ~ .lk-part)";
const SCROLLS = `${LONG}, .lk-panel pre`; // code has lines as long as they are
// As far as half a pixel, which a browser may round to one
const NEAR = 1; // px
// The box of a text has room above and below its letters.
const LEADING = 2; // px

const about = (text) => `“${text.trim().replace(/\s+/g, " ").slice(0, 60)}”`;
const named = ({ localName, classList }) => [localName, ...classList].join(".");

const isSeen = (node) => {
  return node.checkVisibility({ visibilityProperty: true }) && !node.closest(UNSEEN);
};

/** @param {Element} root */
function textsOf(root) {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const texts = [];
  while (walk.nextNode()) {
    const node = /** @type {Text} */ (walk.currentNode);
    if (node.data.trim() && isSeen(node.parentElement)) texts.push(node);
  }
  return texts;
}

function placeOf(text) {
  const range = document.createRange();
  range.selectNodeContents(text);
  return range.getBoundingClientRect();
}

function around(node, until) {
  const found = [];
  for (let one = node.parentElement; one && one !== until; one = one.parentElement) found.push(one);
  return found;
}

const sticksOut = (inner, outer) => {
  return inner.left < outer.left - NEAR || inner.right > outer.right + NEAR;
};
const sinks = (inner, outer) => {
  return inner.top < outer.top - LEADING || inner.bottom > outer.bottom + LEADING;
};
const meets = (one, other) => {
  const isBeside = one.right <= other.left || other.right <= one.left;
  return !isBeside && one.bottom > other.top + LEADING && other.bottom > one.top + LEADING;
};

// What has no room may go out of sight whole, for half a number is another number.
function cutBy(text, place, isWhole = true) {
  for (const one of around(text, null)) {
    const { overflowX, overflowY, display } = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    const isBlock = !/inline$|contents/.test(display);
    if (overflowX !== "visible" && !meets(place, box)) return null;
    if (isWhole && /hidden|clip/.test(overflowY) && sinks(place, box)) return one;
    if (/auto|scroll/.test(overflowX + overflowY)) return null; // whoever scrolls there sees it
    if (isBlock && sticksOut(place, box)) return one;
    if (one.matches(ROOT)) return null;
  }
  return null;
}

function* faultsOfTexts(root) {
  for (const text of textsOf(root)) {
    const place = placeOf(text);
    const drawing = text.parentElement.closest("svg");
    if (drawing) {
      const whole = drawing.getBoundingClientRect();
      const isCut = sticksOut(place, whole) || sinks(place, whole);
      if (isCut) yield `${about(text.data)} sticks out of its drawing`;
    } else {
      const cut = cutBy(text, place);
      if (cut) yield `${about(text.data)} sticks out of ${named(cut)}`;
    }
  }
}

// Names, numbers and times of one drawing; a limit is a line that has its name alone beside it.
function* faultsOfDrawing(drawing) {
  const texts = textsOf(drawing).map((text) => ({ text: text.data, place: placeOf(text) }));
  const limit = drawing.querySelector(".lk-grid .lk-limit")?.getBoundingClientRect();
  const name = texts.find(({ text }) => text === "limit")?.place;
  for (const [index, { text, place }] of texts.entries()) {
    for (const other of texts.slice(0, index)) {
      if (meets(place, other.place)) yield `${about(text)} lies on ${about(other.text)}`;
    }
    const isBeside = limit && name && place.top < name.bottom - LEADING && place !== name;
    const isAcross = isBeside && place.left < limit.left - NEAR && place.right > limit.left + NEAR;
    if (isAcross) yield `${about(text)} lies across the limit`;
  }
}

function* faultsOfBoxes(root) {
  for (const node of root.querySelectorAll("*")) {
    if (node.closest("svg") !== node && node.closest("svg")) continue;
    if (!isSeen(node)) continue;
    const { overflowX } = getComputedStyle(node);
    const isWide = node.scrollWidth > node.clientWidth + NEAR;
    const scrolls = isWide && /auto|scroll/.test(overflowX) && !node.matches(SCROLLS);
    if (scrolls) yield `${named(node)} scrolls sideways`;
    const isDrawn = /^(svg|canvas|img|input|select|button)$/.test(node.localName);
    const cut = isDrawn && cutBy(node, node.getBoundingClientRect(), false);
    if (cut) yield `${named(node)} ${about(node.ariaLabel ?? "")} sticks out of ${named(cut)}`;
  }
}

/**
 * How much what *selector* finds stands out from the card it lies on: 1 is not at all.
 * @param {string} selector
 * @param {string} property that has its colour
 */
export function contrastOf(selector, property) {
  const node = document.querySelector(selector);
  const card = node.closest(ROOT);
  const opacity = around(node, card).reduce(
    (product, one) => product * Number(getComputedStyle(one).opacity),
    1,
  );
  const pen = document.createElement("canvas").getContext("2d");
  const paint = (colour, alpha) => {
    Object.assign(pen, { fillStyle: colour, globalAlpha: alpha });
    pen.fillRect(0, 0, 1, 1);
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const linear = (part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92);
    const [red, green, blue] = parts.map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const below = paint(getComputedStyle(card).backgroundColor, 1);
  const above = paint(getComputedStyle(node)[property], opacity);
  return Math.max(above / below, below / above);
}

/** Says each fault in a sentence, with the heading under which it is. */
export function faults() {
  const { scrollWidth } = document.documentElement;
  const found = scrollWidth > innerWidth ? ["the page scrolls sideways"] : [];
  let title = "";
  for (const root of document.querySelectorAll(`h2, ${ROOT}`)) {
    if (root.localName === "h2") {
      title = root.textContent;
      continue;
    }
    const drawings = [...root.querySelectorAll("svg")];
    const each = [
      ...faultsOfTexts(root),
      ...faultsOfBoxes(root),
      ...drawings.flatMap((one) => [...faultsOfDrawing(one)]),
    ];
    found.push(...each.map((one) => `${title}: ${one}`));
  }
  return found;
}
