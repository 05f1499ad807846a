// A view of a widget, from `render` to its end. Whatever it hears, watches or waits for is asked
// of this, so that nothing goes on after the view is gone.

import { html } from "./dom.js";

/**
 * What a host of widgets gives, as anywidget describes it.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(question: any) => void} send
 * @property {(event: string, hear: (...given: any[]) => void) => void} on
 * @property {(event: string, hear: (...given: any[]) => void) => void} [off]
 * @property {any} [widget_manager] of Jupyter's hosts
 */

export class Life {
  /** @param {Model} model */
  constructor(model) {
    this.given = model;
    /** @type {(() => void)[] | null} */
    this.ends = []; // null once it has ended
  }

  get = (name) => this.given.get(name);
  set = (name, value) => this.given.set(name, value);
  save_changes = () => this.given.save_changes();
  send = (content) => this.given.send(content);
  off = (event, hear) => this.given.off?.(event, hear);

  get widget_manager() {
    return this.given.widget_manager;
  }

  on(event, hear) {
    this.given.on(event, hear);
    this.atEnd(() => this.off(event, hear));
  }

  listen(node, event, hear, options) {
    node.addEventListener(event, hear, options);
    this.atEnd(() => node.removeEventListener(event, hear, options));
  }

  // One that ends with this one, or before it.
  part() {
    const part = new Life(this);
    this.atEnd(() => part.end());
    return part;
  }

  // Waits for one thing at a time: what comes next takes the place of what was to come.
  timer() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let waiting;
    const stop = () => clearTimeout(waiting);
    const start = (act, wait) => {
      stop();
      if (this.ends) waiting = setTimeout(act, wait); // what comes late starts nothing
    };
    this.atEnd(stop);
    return { start, stop };
  }

  // A frame that says how wide it is, and each time that it is another width.
  /** @param {Element} node @param {(width: number) => void} draw */
  watched(node, draw) {
    const frame = html("div", { class: "lk-frame" }, node);
    const observer = new ResizeObserver((seen) => {
      const width = Math.floor(seen[0].contentRect.width);
      if (width) draw(width);
    });
    observer.observe(frame);
    this.atEnd(() => observer.disconnect());
    return frame;
  }

  // After JupyterLab, or the system, has changed the colours of the page.
  recoloured(draw) {
    const observer = new MutationObserver(draw);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    observer.observe(document.body, { attributeFilter: ["data-jp-theme-name"] });
    this.atEnd(() => observer.disconnect());
    this.listen(dark, "change", draw);
  }

  atEnd(act) {
    if (this.ends) this.ends.push(act);
    else act();
  }

  end() {
    const { ends } = this;
    this.ends = null;
    for (const end of ends ?? []) end();
  }
}
