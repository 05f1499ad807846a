// The page's styles, once for each tree of nodes that shows a widget: the document, or a shadow in
// which a page draws one.

const NAME = "lk-style";

/** @param {Document | ShadowRoot} root @param {string} style */
function add(root, style) {
  if (root.getElementById(NAME)) return;
  const node = document.createElement("style");
  node.id = NAME;
  node.textContent = style;
  (root instanceof Document ? root.head : root).append(node);
}

// JupyterLab's boxes around an output, with which a head would scroll that stays in sight.
const BOXES = ".jp-Cell-outputArea, .jp-OutputArea-child, .jp-OutputArea-output";

// Marks what is around a view by classes. `:has` in a style would do so, too, but the page would then
// look at all of a lesson again whenever something changes in one of its pictures.
/** @param {HTMLElement} el */
function markAround(el) {
  el.closest(".jp-Notebook")?.classList.add("lk-lesson");
  if (!el.querySelector(".lk-top")) return;
  for (let node = el.parentElement; node; node = node.parentElement) {
    if (node.matches(BOXES)) node.classList.add("lk-around");
  }
}

/**
 * @param {import("./life.js").Life} life
 * @param {HTMLElement} el
 * @param {string} style
 */
export function styled(life, el, style) {
  add(document, style);
  const later = life.timer();
  // A view is made before it has its place in the page.
  const look = () => {
    const root = el.getRootNode();
    if (root instanceof ShadowRoot) add(root, style);
    else if (!el.isConnected) return later.start(look, 50);
    return markAround(el);
  };
  later.start(look, 0); // when all of it is drawn
}
