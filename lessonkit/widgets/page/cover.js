// What tells the answer to a question stays covered until a run has shown it. A notebook marks it
// by tags: `predict` at the cell of a question, `covered` at the heading of a section that tells.
// JupyterLab folds such a section itself, also before anything has run; elsewhere, as in Voilà,
// its cells are hidden here.

const FOLDED = "jp-MarkdownHeadingCollapsed"; // JupyterLab's own class

class Cover {
  constructor(el, manager) {
    this.el = el;
    this.notebook = el.closest(".jp-Notebook") ?? document.body;
    this.models = manager?.context?.model?.cells;
    document.body.classList.add("lk-covers");
  }

  look() {
    const nodes = [...this.notebook.querySelectorAll(".jp-Cell")];
    this.cells = nodes.map((node, index) => this.cell(node, index));
    const covered = this.cells.filter(({ tags }) => tags.includes("covered"));
    this.sections = covered.map((cell) => this.section(cell));
  }

  cell(node, index) {
    // Its node may not be drawn yet.
    const model = this.models?.get(Number(node.dataset.windowedListIndex ?? index));
    if (model) {
      const marks = model.type === "markdown" && /^#+(?= )/.exec(model.sharedModel.getSource());
      return { node, tags: model.getMetadata("tags") ?? [], level: marks ? marks[0].length : 7 };
    }
    const heading = node.querySelector(".jp-RenderedMarkdown :is(h1, h2, h3, h4, h5, h6)");
    const tags = [...node.outerHTML.matchAll(/celltag_(\w+)/g)].map(([, tag]) => tag);
    return { node, tags, level: heading ? Number(heading.tagName[1]) : 7 };
  }

  // A section belongs to the questions before it that are below the same heading.
  section(heading) {
    const { node, level } = heading, at = this.cells.indexOf(heading);
    const above = this.cells.findLastIndex((cell, index) => index < at && cell.level < level);
    const after = this.cells.findIndex((cell, index) => index > at && cell.level <= level);
    const before = this.cells.slice(above + 1, at);
    const asked = before.filter(({ tags }) => tags.includes("predict"));
    return { node, asked, inside: this.cells.slice(at + 1, after < 0 ? undefined : after) };
  }

  close() {
    const isMine = ({ asked }) => !this.models || asked.some(({ node }) => node.contains(this.el));
    this.turnAll(isMine, true);
  }

  open() {
    const isTold = ({ asked }) => asked.every(({ node }) => node.querySelector("[data-answered]"));
    this.turnAll(isTold, false);
  }

  // JupyterLab draws the cells of a page that is loaded again one after another: those that come
  // late have their turn.
  turnAll(wanted, covered, done = new Set()) {
    this.look();
    for (const section of this.sections.filter(wanted)) {
      if (!done.has(section.node)) this.turn(section, covered);
      done.add(section.node);
    }
    const isWanted = this.el.isConnected && covered === (this.el.dataset.answered === undefined);
    const again = () => this.turnAll(wanted, covered, done);
    if (isWanted && this.cells.length < this.models?.length) setTimeout(again, 500);
  }

  turn({ node, inside }, covered) {
    const { classList } = node;
    if (this.models) {
      const isOther = classList.contains(FOLDED) !== covered;
      if (isOther) node.querySelector(".jp-collapseHeadingButton")?.click();
    } else {
      classList.toggle(FOLDED, covered);
      for (const cell of inside) cell.node.classList.toggle("lk-hidden", covered);
    }
    if (!covered || node.querySelector(".lk-note")) return;
    const open = () => this.turn({ node, inside }, false);
    const show = button("show it now", "Show this section without an answer", open);
    node.append(div("lk lk-note", "Hidden until your answer is right, or until you ask. ", show));
  }

  // A cell that was run on its own has chosen the one after it: lead the reader back to its
  // question. After Run All Cells the last one is chosen: lead to the first question.
  lead() {
    const first = this.notebook.querySelector(".lk-predict:not([data-answered])");
    const chosen = this.cells.findIndex(({ node }) => node.matches(".jp-mod-active"));
    const isEdited = document.activeElement?.closest(".cm-editor");
    const justRan = this.cells[chosen - 1]?.node.contains(this.el) && !isEdited;
    const ranAll = chosen === this.cells.length - 1 && first === this.el;
    if (justRan || ranAll) this.el.querySelector("[tabindex], input").focus();
  }
}
