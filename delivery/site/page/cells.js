// What the cells of a lesson say of it: those of a file as well as JupyterLab's.

export const codeOf = (cell) => [].concat(cell.source ?? cell.model.sharedModel.getSource()).join("");

// The link to the lesson that follows: its words, and the name of its file.
export const NEXT = /\[(Next: [^\]]+)\]\((\w+\.ipynb)\)/;

// What runs as soon as Python is there. The folded sections begin below *Further*, and in the field guide,
// which has no such heading, with the first of them. A lesson has small headings on its main path, too.
/** @param {any[]} cells */
export function mainOf(cells) {
  const firstOf = (heading) => cells.findIndex((cell) => heading.test(codeOf(cell)));
  const end = [firstOf(/^## Further\b/), firstOf(/^### /)].find((place) => place >= 0);
  return cells.slice(0, end);
}
