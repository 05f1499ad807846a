// The install check: what the kernel found, and whether the page and the kernel hear each other.

class Installation {
  constructor(model, el) {
    this.list = html("ul", { class: "lk-goals" });
    el.append(html("div", { class: "lk-card-of" }, html("p", { class: "lk-question" }, html("b", {}, "Installation ")), this.list));
    const { findings } = JSON.parse(model.get("state"));
    findings.forEach(({ what, found, good, advice }) => this.add(what, found, good, advice));
    const talk = this.add("page and kernel", "no answer yet", false, "Run this cell again. If this stays, the page has lost its kernel: choose Restart Kernel in the menu Kernel.");
    const began = performance.now();
    model.on("msg:custom", ({ about }) => {
      if (about !== "greeting" || !talk.isConnected) return;
      talk.remove();
      this.add("page and kernel", `hear each other within ${number(performance.now() - began)} ms`, true);
    });
    send(model, { do: "greet" });
  }

  add(what, found, good, advice) {
    const item = html("li", { class: good ? "lk-right" : "lk-wrong" }, `${good ? "✓" : "✗"} ${what}: ${found}`, good ? "" : `. ${advice}`);
    return this.list.appendChild(item);
  }
}
