// What tells the answer to a question stays covered until the learner commits, or asks to see it. A notebook marks it
// by tags: `predict` at the cell of a question, `covered` at the heading of a section that tells. JupyterLab folds
// such a section itself, also before anything has run; elsewhere, as in Voilà, its cells are hidden here.

const FOLDED = "jp-MarkdownHeadingCollapsed"; // JupyterLab's own class

class Cover {
  constructor(el, manager) {
    this.el = el;
    this.notebook = el.closest(".jp-Notebook") ?? document.body;
    this.models = manager?.context?.model?.cells;
    this.cells = [...this.notebook.querySelectorAll(".jp-Cell")].map((node, place) => this.cell(node, place));
    this.sections = this.cells.flatMap((cell, place) => (cell.tags.includes("covered") ? [this.section(cell, place)] : []));
    document.body.classList.add("lk-covers");
  }

  cell(node, place) {
    const model = this.models?.get(Number(node.dataset.windowedListIndex ?? place)); // its node may not be drawn yet
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
    for (const section of this.sections) if (!this.models || section.asked.some(({ node }) => node.contains(this.el))) this.turn(section, true);
  }

  open() {
    for (const section of this.sections) if (section.asked.every(({ node }) => node.querySelector("[data-answered]"))) this.turn(section, false);
  }

  turn({ node, inside, asked }, covered) {
    if (this.models && node.classList.contains(FOLDED) !== covered) node.querySelector(".jp-collapseHeadingButton")?.click();
    if (!this.models) for (const cell of inside) cell.node.classList.toggle("lk-hidden", node.classList.toggle(FOLDED, covered));
    if (!covered || node.querySelector(".lk-note")) return;
    const show = button("show it now", "Show this section without an answer", () => this.turn({ node, inside }, false));
    node.append(html("div", { class: "lk lk-note" }, `Covered until you commit to your answer${asked.length > 1 ? "s" : ""}. `, show));
  }

  // After Run All Cells the last cell is chosen: lead the reader back to the first question.
  lead() {
    const first = this.notebook.querySelector(".lk-predict:not([data-answered])");
    if (this.cells.at(-1)?.node.matches(".jp-mod-active") && first === this.el) first.querySelector("[tabindex], input").focus();
  }
}
