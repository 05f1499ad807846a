// What the cells of a lesson say of it: those of a file as well as JupyterLab's.

export const codeOf = (cell) => [].concat(cell.source ?? cell.model.sharedModel.getSource()).join("");

const WAY = /([^;:]+): \[([^\]]+)\]\((\w+\.ipynb)\)/g;

// Where a cell leads on to: the words of each way, as *Next with PyTorch: 09 Workers*, and its file.
/** @returns {{ text: string, file: string }[]} */
export function waysOn(cell) {
  const [told = ""] = /^Next\b.*$/m.exec(codeOf(cell)) ?? [];
  const ways = [...told.matchAll(WAY)];
  return ways.map(([, way, title, file]) => ({ text: `${way.trim()}: ${title}`, file }));
}

// What runs as soon as Python is there. The folded sections begin below *Further*, and in the field guide,
// which has no such heading, with the first of them. A lesson has small headings on its main path, too.
/** @param {any[]} cells */
export function mainOf(cells) {
  const firstOf = (heading) => cells.findIndex((cell) => heading.test(codeOf(cell)));
  const end = [firstOf(/^## Further\b/), firstOf(/^### /)].find((place) => place >= 0);
  return cells.slice(0, end);
}
