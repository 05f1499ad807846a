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
    else if (!el.isConnected) later.start(look, 50);
  };
  look();
}
