// A view of a widget, from `render` to its end. Whatever it hears, watches or waits for is asked
// of this, so that nothing goes on after the view is gone.

class Life {
  constructor(model) {
    this.given = model;
    this.ends = [];
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
    let waiting = 0;
    const stop = () => clearTimeout(waiting);
    const start = (act, wait) => {
      stop();
      if (this.ends) waiting = setTimeout(act, wait); // what comes late starts nothing
    };
    this.atEnd(stop);
    return { start, stop };
  }

  // A frame that says how wide it is, and each time that it is another width.
  watched(node, draw) {
    const frame = html("div", { class: "lk-frame" }, node);
    const seen = ([{ contentRect: { width } }]) => width && draw(Math.floor(width));
    const observer = new ResizeObserver(seen);
    observer.observe(frame);
    this.atEnd(() => observer.disconnect());
    return frame;
  }

  // After JupyterLab, or the system, has changed the colours of the page.
  recoloured(draw) {
    const observer = new MutationObserver(draw), dark = matchMedia("(prefers-color-scheme: dark)");
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
