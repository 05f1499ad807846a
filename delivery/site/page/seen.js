// What a reader has seen of a lesson, kept as it looked: who comes back finds that, and no white page,
// until the lesson itself has come alive at the same place.

const here = new URL(".", import.meta.url);
const path = new URLSearchParams(location.search).get("path") ?? "";
const NAME = `lessons-seen ${here.pathname}`; // not among the files that a worker drops
const ADDRESS = new URL(`seen/${encodeURIComponent(path)}`, here).href; // nothing is fetched from there
const ABOVE = 1; // screens that are kept before what is in sight,
const BELOW = 2; // and after it
const MOST = 2e6; // letters: a heat map, and a timeline of thousands of bars, have about so many

let last = "";

/**
 * Keeps the cells around what is in sight.
 * @param {any[]} cells of JupyterLab
 * @param {HTMLElement} outer in which they scroll
 */
export async function keepSeen(cells, outer) {
  const { top, height } = outer.getBoundingClientRect();
  const isNear = ({ node }) => {
    const box = node.getBoundingClientRect();
    const isShown = box.height > 0;
    return isShown && box.bottom > top - ABOVE * height && box.top < top + (1 + BELOW) * height;
  };
  const parts = cells.filter(isNear).map((cell) => stillOf(cell).outerHTML);
  const styles = [document.getElementById("lk-style")?.textContent ?? "", styleOfFormulas()];
  const text = `<style>${styles.join("\n")}</style>${parts.join("")}`;
  if (text === last || text.length > MOST) return;
  last = text;
  try {
    const kept = await caches.open(NAME);
    await kept.put(ADDRESS, new Response(text, { headers: { "content-type": "text/html" } }));
  } catch {
    // There is no room, or the browser keeps nothing.
  }
}

// The rules and not the text: MathJax adds one for each sign that it draws. Its style comes late, and
// formulas would become higher then.
function styleOfFormulas() {
  const node = /** @type {HTMLStyleElement | null} */ (document.getElementById("MJX-CHTML-styles"));
  return [...(node?.sheet?.cssRules ?? [])].map(({ cssText }) => cssText).join("\n");
}

/** @returns {Promise<string>} what was seen last, or "" */
export async function seen() {
  try {
    const kept = await (await caches.open(NAME)).match(ADDRESS);
    return (await kept?.text()) ?? "";
  } catch {
    return "";
  }
}

// A cell as the opening of a lesson has it, so that one style does for both.
function stillOf({ model, node }) {
  const part = made("section", "");
  part.dataset.cell = model.id;
  part.inert = true;
  part.style.minHeight = `${node.offsetHeight}px`; // with what JupyterLab itself puts below a heading
  const text = node.querySelector(".jp-RenderedMarkdown");
  if (model.type === "markdown") {
    part.append(made("div", "lessons-text", ...copied(text).childNodes));
    const note = node.querySelector(".lk-note"); // it stands for what is covered
    if (note) part.append(copied(note));
    return part;
  }
  const isFolded = node.querySelector(".jp-InputPlaceholder");
  const source = model.sharedModel.getSource();
  part.append(isFolded ? made("p", "lessons-folded", "code") : made("pre", "", source));
  for (const output of node.querySelectorAll(".jp-OutputArea-output")) {
    part.append(made("div", "lessons-live", copied(output)));
  }
  return part;
}

/** @param {string} tag @param {string} name @param {(Node | string)[]} inside */
function made(tag, name, ...inside) {
  const node = document.createElement(tag);
  node.className = name;
  node.append(...inside);
  return node;
}

// What was set in it comes along, too.
function copied(node) {
  if (!node) return document.createElement("div");
  const copy = node.cloneNode(true);
  const fields = [...node.querySelectorAll("input, option")];
  for (const [index, field] of copy.querySelectorAll("input, option").entries()) {
    const { checked, selected, value } = fields[index];
    field.toggleAttribute("checked", Boolean(checked));
    field.toggleAttribute("selected", Boolean(selected));
    field.setAttribute("value", value);
  }
  return copy;
}
