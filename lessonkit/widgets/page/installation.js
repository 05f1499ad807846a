// The install check: what the kernel found, and whether the page and the kernel hear each other.

const LOST = "Run this cell again. "
  + "If this stays, the page has lost its kernel: restart it in the menu Kernel.";

class Installation {
  constructor(model, el) {
    this.list = html("ul", { class: "lk-goals" });
    el.append(div("lk-card-of", question("Installation "), this.list));
    const { findings } = JSON.parse(model.get("state"));
    for (const { what, found, good, advice } of findings) this.add(what, found, good, advice);
    const talk = this.add("page and kernel", "no answer yet", false, LOST);
    const began = performance.now();
    model.on("msg:custom", ({ about }) => {
      if (about !== "greeting" || !talk.isConnected) return;
      talk.remove();
      const took = number(performance.now() - began);
      this.add("page and kernel", `hear each other within ${took} ms`, true);
    });
    send(model, { do: "greet" });
  }

  add(what, found, good, advice) {
    const text = good ? `${what}: ${found}` : `${what}: ${found}. ${advice}`;
    return this.list.appendChild(marked("li", good, text));
  }
}
