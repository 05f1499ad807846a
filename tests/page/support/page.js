// A page without a browser: elements, storage and an address, and clocks that go on when a test
// says so. What is drawn has no size, so nothing here tests how something looks.

import { parseHTML } from "linkedom";

/**
 * Makes a page the one of this process.
 * @param {object} given
 * @param {string} [given.body]
 * @param {string} [given.path] of its address
 */
export function openPage({ body = "", path = "/lab/tree/lesson.ipynb" } = {}) {
  const page = parseHTML(`<!doctype html><html><head></head><body>${body}</body></html>`);
  const stored = new Map();
  const localStorage = {
    getItem: (name) => stored.get(name) ?? null,
    setItem(name, text) {
      this[name] = text;
      stored.set(name, text);
    },
    removeItem(name) {
      delete this[name];
      stored.delete(name);
    },
  };
  for (const name of ["getItem", "setItem", "removeItem"]) {
    Object.defineProperty(localStorage, name, { enumerable: false });
  }
  /** @type {any[]} */
  const told = []; // the events of the window
  const watchers = [];
  const sized = [];
  Object.assign(globalThis, {
    document: page.document,
    Element: page.Element,
    Document: page.Document,
    ShadowRoot: page.ShadowRoot ?? class {},
    CustomEvent: page.CustomEvent,
    MutationObserver: class {
      constructor(act) {
        this.act = act;
        watchers.push(this);
      }
      observe() {
        this.isOn = true;
      }
      disconnect() {
        this.isOn = false;
      }
    },
    ResizeObserver: class {
      constructor(act) {
        this.act = act;
      }
      observe() {
        sized.push(this);
      }
      disconnect() {}
    },
    localStorage,
    location: { pathname: path, href: `http://here${path}`, hostname: "here" },
    requestAnimationFrame: (act) => act(0),
    matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
    window: {
      dispatchEvent: (event) => told.push(event),
      addEventListener() {},
      removeEventListener() {},
    },
  });
  const change = () => {
    for (const one of watchers) if (one.isOn) one.act();
  };
  const resize = (width = 600) => {
    for (const one of sized) one.act([{ contentRect: { width } }]);
  };
  return { document: page.document, localStorage, told, change, resize };
}

/** A clock in place of the timers of the page. */
export class Clock {
  constructor() {
    /** @type {({ act: () => void, wait: number } | undefined)[]} */
    this.due = [];
    globalThis.setTimeout = /** @type {any} */ (
      (act, wait) => this.due.push({ act, wait }) // which is its number
    );
    globalThis.clearTimeout = /** @type {any} */ (
      (number) => {
        if (number) this.due[number - 1] = undefined;
      }
    );
  }

  // Does the next thing that is due; false if there is nothing.
  goOn() {
    const next = this.due.findIndex((one) => one !== undefined);
    if (next < 0) return false;
    const { act } = this.due[next];
    this.due[next] = undefined;
    act();
    return true;
  }
}

/** A widget's model, whose kernel says what a test lets it say. */
export class Model {
  constructor(about = {}) {
    this.about = about;
    /** @type {any[]} */
    this.asked = [];
    /** @type {Map<string, Set<(...given: any[]) => void>>} */
    this.heard = new Map();
  }

  get = (name) => this.about[name];
  set = (name, value) => {
    this.about[name] = value;
  };
  save_changes() {}
  send = (question) => {
    this.asked.push(question);
  };
  on = (event, hear) => {
    this.heard.set(event, (this.heard.get(event) ?? new Set()).add(hear));
  };
  off = (event, hear) => {
    this.heard.get(event)?.delete(hear);
  };

  say(message, answer) {
    const buffers = answer === undefined ? [] : [new TextEncoder().encode(JSON.stringify(answer))];
    for (const hear of [...(this.heard.get("msg:custom") ?? [])]) hear(message, buffers);
  }
}

/**
 * A scene with nothing in it but what is given.
 * @param {Record<string, any>} given
 */
export function sceneOf(given) {
  const bars = { row: [], lane: [], start: [], length: [], kind: [], label: [], note: [] };
  const events = { buffer: [], time: [], change: [], label: [], element: [], bytes: [] };
  return /** @type {any} */ ({
    end: 0,
    unit: "samples",
    rows: [],
    waits: {},
    parts: [],
    buffers: [],
    epochs: [0],
    path: [],
    ...given,
    bars: { ...bars, level: [], cause: [], who: [], ...given.bars },
    events: { ...events, ...given.events },
  });
}
