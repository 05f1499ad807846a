// What a learner did with one question, placing, curve, challenge or view is one *record*: a small
// object, which docs/design.md describes. The page keeps it, and not the kernel: so it is there
// after a reload, a restart of the kernel, and when all cells run again.

const SCHEMA = 1;

class Record {
  constructor(model, kind, question) {
    const { path = decodeURI(location.pathname) } = model.widget_manager?.context ?? {};
    // Several servers and sites may have one origin, as the learners of a Hub have.
    const [folder] = location.pathname.split(/\/(?:lab|notebooks|tree|doc|voila)(?:\/|$)/);
    const lesson = path.split("/").at(-1).replace(/\.ipynb$/, "");
    this.about = { schema: SCHEMA, lesson, kind, question };
    this.key = `lessonkit record ${folder}/${path} ${kind}: ${question}`;
  }

  // A record of another schema is not read.
  read() {
    try {
      const found = JSON.parse(localStorage.getItem(this.key));
      return found?.schema === SCHEMA ? found : null;
    } catch {
      return null; // the browser keeps nothing
    }
  }

  // Whoever listens on the page hears of it: the board of a class, for example.
  write(did) {
    const record = { ...this.about, ...did, when: new Date().toISOString() };
    try {
      localStorage.setItem(this.key, JSON.stringify(record));
    } catch {
      // As above; or there is no room, and then the work of this page is still in its widgets.
    }
    const detail = { key: this.key, record };
    window.dispatchEvent(new CustomEvent("lessonkit-record", { detail }));
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // As above.
    }
  }
}
