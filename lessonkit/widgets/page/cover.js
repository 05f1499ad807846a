// What tells the answer to a question stays covered until a run has shown it. A notebook marks
// it by tags: `predict` at the cell of a question, `covered` at the heading of a section that tells. JupyterLab
// folds such a section itself, also before anything has run; elsewhere, as in Voilà, its cells are hidden here.

const FOLDED = "jp-MarkdownHeadingCollapsed"; // JupyterLab's own class

class Cover {
  constructor(el, manager) {
    this.el = el;
    this.notebook = el.closest(".jp-Notebook") ?? document.body;
    this.models = manager?.context?.model?.cells;
    document.body.classList.add("lk-covers");
  }

  look() {
    this.cells = [...this.notebook.querySelectorAll(".jp-Cell")].map((node, place) => this.cell(node, place));
    const covered = ({ tags }) => tags.includes("covered");
    this.sections = this.cells.flatMap((cell, place) => (covered(cell) ? [this.section(cell, place)] : []));
  }

  cell(node, place) {
    // Its node may not be drawn yet.
    const model = this.models?.get(Number(node.dataset.windowedListIndex ?? place));
    if (model) {
      const marks = model.type === "markdown" && /^#+(?= )/.exec(model.sharedModel.getSource());
      return { node, tags: model.getMetadata("tags") ?? [], level: marks ? marks[0].length : 7 };
    }
    const heading = node.querySelector(".jp-RenderedMarkdown :is(h1, h2, h3, h4, h5, h6)");
    const tags = [...node.outerHTML.matchAll(/celltag_(\w+)/g)].map(([, tag]) => tag);
    return { node, tags, level: heading ? Number(heading.tagName[1]) : 7 };
  }

  // A section belongs to the questions before it that are below the same heading.
  section({ node, level }, place) {
    const above = this.cells.findLastIndex((cell, other) => other < place && cell.level < level);
    const after = this.cells.findIndex((cell, other) => other > place && cell.level <= level);
    const asked = this.cells.slice(above + 1, place).filter((cell) => cell.tags.includes("predict"));
    return { node, asked, inside: this.cells.slice(place + 1, after < 0 ? undefined : after) };
  }

  close() {
    const isMine = ({ asked }) => !this.models || asked.some(({ node }) => node.contains(this.el));
    this.turnAll(isMine, true);
  }

  open() {
    const isTold = ({ asked }) => asked.every(({ node }) => node.querySelector("[data-answered]"));
    this.turnAll(isTold, false);
  }

  // JupyterLab draws the cells of a page that is loaded again one after another: those that come late have their turn.
  turnAll(wanted, covered, done = new Set()) {
    this.look();
    for (const section of this.sections.filter(wanted)) {
      if (!done.has(section.node)) this.turn(section, covered);
      done.add(section.node);
    }
    const isWanted = this.el.isConnected && covered === (this.el.dataset.answered === undefined);
    if (isWanted && this.cells.length < this.models?.length) setTimeout(() => this.turnAll(wanted, covered, done), 500);
  }

  turn({ node, inside }, covered) {
    const { classList } = node;
    if (this.models && classList.contains(FOLDED) !== covered) node.querySelector(".jp-collapseHeadingButton")?.click();
    if (!this.models) {
      classList.toggle(FOLDED, covered);
      for (const cell of inside) cell.node.classList.toggle("lk-hidden", covered);
    }
    if (!covered || node.querySelector(".lk-note")) return;
    const show = button("show it now", "Show this section without an answer", () => this.turn({ node, inside }, false));
    node.append(div("lk lk-note", "Covered until you are right or ask. ", show));
  }

  // A cell that was run on its own has chosen the one after it: lead the reader back to its question. After Run All
  // Cells the last one is chosen: lead to the first question.
  lead() {
    const first = this.notebook.querySelector(".lk-predict:not([data-answered])");
    const chosen = this.cells.findIndex(({ node }) => node.matches(".jp-mod-active"));
    const justRan = this.cells[chosen - 1]?.node.contains(this.el) && !document.activeElement?.closest(".cm-editor");
    const ranAll = chosen === this.cells.length - 1 && first === this.el;
    if (justRan || ranAll) this.el.querySelector("[tabindex], input").focus();
  }
}
