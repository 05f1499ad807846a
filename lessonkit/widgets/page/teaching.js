// What a teacher switches in the page for a class: large type, and one section at a time.

class Teaching {
  constructor() {
    this.at = 0;
    this.large = this.toggle("large type", () => document.body.classList.toggle("lk-class-large", this.is(this.large)));
    this.alone = this.toggle("one section at a time", () => this.show(this.is(this.alone) ? this.first() : 0));
    this.before = button("◀", "The section before", () => this.show(this.at - 1));
    this.after = button("▶", "The section after", () => this.show(this.at + 1));
    this.title = html("span", { "aria-live": "polite" });
    const moves = html("span", { hidden: true }, this.before, this.after, this.title);
    this.moves = moves;
    const summary = html("summary", { title: "For a class: large type, one section at a time" }, "Aa");
    this.node = html("details", { class: "lk lk-class" }, summary, this.large, this.alone, moves);
  }

  // Every widget asks for it when it is drawn; a page has one, and a picture by itself needs none.
  static offer(el) {
    if (!el.isConnected) return setTimeout(() => Teaching.offer(el), 100);
    const has = document.querySelector(".lk-class") || !el.closest(".jp-Cell");
    return has ? undefined : document.body.append(new Teaching().node);
  }

  toggle(text, act) {
    const node = button(text, `Switch to ${text}, or back`, () => {
      node.setAttribute("aria-pressed", String(!this.is(node)));
      act();
    });
    return attributes(node, { "aria-pressed": "false" });
  }

  is = (node) => node.getAttribute("aria-pressed") === "true";

  // Several may be open.
  notebook() {
    return [...document.querySelectorAll(".jp-Notebook")].find((node) => node.offsetParent) ?? document.body;
  }

  // A section begins at a heading of the first or the second level.
  sections() {
    const sections = [];
    for (const cell of this.notebook().querySelectorAll(".jp-Cell")) {
      const heading = cell.querySelector(".jp-RenderedMarkdown :is(h1, h2)");
      if (heading || !sections.length) sections.push({ title: heading?.firstChild?.textContent ?? "", cells: [] });
      sections.at(-1).cells.push(cell);
    }
    return sections;
  }

  // The one that is at the top of the screen.
  first() {
    const top = Math.max(0, this.notebook().getBoundingClientRect().top) + 20;
    return Math.max(0, this.sections().findIndex(({ cells }) => cells.at(-1).getBoundingClientRect().bottom > top));
  }

  show(at) {
    const on = this.is(this.alone), sections = this.sections();
    this.at = Math.max(0, Math.min(at, sections.length - 1));
    sections.forEach(({ cells }, place) => {
      for (const cell of cells) cell.classList.toggle("lk-away", on && place !== this.at);
    });
    this.moves.hidden = !on;
    this.before.disabled = this.at === 0;
    this.after.disabled = this.at === sections.length - 1;
    this.title.textContent = `${this.at + 1} of ${sections.length}: ${sections[this.at].title}`;
    if (on) sections[this.at].cells[0].scrollIntoView({ block: "start" });
  }
}
