export const SCHEMA = 1;

// Several servers and sites may have one origin, as the learners of a Hub have. No folder ends with
// two slashes, so what begins with the name of one is of no folder within it.
const recordsOf = (folder) => `lessonkit record ${folder}//`;

export function folderHere() {
  return location.pathname.split(/\/(?:lab|notebooks|tree|doc|voila)(?:\/|$)/)[0];
}

const isTry = (one) => typeof one?.when === "string" && one.said !== undefined;
const areTries = (tries) => tries === undefined || (Array.isArray(tries) && tries.every(isTry));

// A record of another schema is not read, and neither is what is none or was damaged.
function readRecord(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return found?.schema === SCHEMA && areTries(found.tries) ? found : null;
  } catch {
    return null; // the browser keeps nothing
  }
}

// Of all lessons in a folder, in the order in which they were begun.
export function allRecords(folder) {
  const begun = ({ tries: [first] = [], when }) => first?.when ?? when;
  const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(recordsOf(folder)));
    return keys
      .map(readRecord)
      .filter(Boolean)
      .sort((one, other) => {
        return compare(one.lesson, other.lesson) || compare(begun(one), begun(other));
      });
  } catch {
    return [];
  }
}

// How the goals of a challenge stood before anything was done is nobody's attempt; but one that
// changes no goal is.
export const isTried = ({ reached, given, tried = false }) => {
  return tried || JSON.stringify(reached) !== JSON.stringify(given);
};

// Before its kernel is there, a page may show a widget that keeps the same record; when the one with
// the kernel takes its place, it reads that again.
export const RECALL = "lessonkit-recall";

/** @param {import("../base/life.js").Life} life @param {() => void} recall */
export const followed = (life, recall) => life.listen(window, RECALL, recall);

export class Record {
  constructor(model, kind, question) {
    const { path = decodeURI(location.pathname) } = model.widget_manager?.context ?? {};
    const lesson = path
      .split("/")
      .at(-1)
      .replace(/\.ipynb$/, "");
    this.about = { schema: SCHEMA, lesson, kind, question };
    this.key = `${recordsOf(folderHere())}${path} ${kind}: ${question}`;
  }

  read() {
    return readRecord(this.key);
  }

  // What was said before, for a widget that has nothing of its own: one that was made anew.
  saidBefore(model) {
    return (!model.get("kept") && this.read()?.said) || [];
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
