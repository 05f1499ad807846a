// In the place of a kernel that is not there yet: what it said when the site was built. What a learner
// does meanwhile goes into the record that the lesson's own widget reads when it takes the place.

/**
 * A widget, and what its kernel would say.
 * @typedef {object} Stored
 * @property {string} role
 * @property {string} state
 * @property {Record<string, string>} [code] of a picture
 * @property {object} [revealed] the answer, with its run
 * @property {Verdict[]} [choices] a verdict for each choice
 * @property {Numbers} [number] how a typed number is judged
 */

/** @typedef {{ right: boolean, words: string, told: object }} Verdict */

/**
 * @typedef {object} Numbers
 * @property {string} unit
 * @property {number} room the share by which an answer may be off
 * @property {number} right
 * @property {object} told with the right answer
 * @property {[number, string][]} known wrong answers with what is said of them; the first that fits counts
 * @property {string} low
 * @property {string} high
 */

const NOT_YET = "This needs Python, which still loads. It runs as soon as all of the lesson lives.";
const KEPT = "Your answer is kept. It is judged as soon as Python is here.";
const DIGITS = 9; // after the point, as the kernel quotes what was typed

/** @param {number} one @param {number} other @param {number} room */
const isAlike = (one, other, room) => {
  return Math.abs(one - other) <= room * Math.max(Math.abs(one), Math.abs(other));
};

/**
 * Judges a number as the kernel does.
 * @param {Numbers} number
 * @param {number} said
 * @returns {Verdict}
 */
export function judged({ unit, room, right, told, known, low, high }, said) {
  const digits = said.toLocaleString("en-US", { maximumFractionDigits: DIGITS });
  const words = `${digits} ${unit}`.trim();
  if (isAlike(said, right, room)) return { right: true, words, told };
  const [, why] = known.find(([answer]) => isAlike(said, answer, room)) ?? [];
  const text = `Not ${words}. ${why ?? (said > right ? high : low)}`;
  return { right: false, words, told: { text } };
}

/**
 * The model of a widget whose kernel does not run yet.
 * @param {Stored} stored
 * @param {string} path of the lesson
 * @param {() => void} later hears that somebody wants a real run, for which there is no Python yet
 */
export function modelOf({ role, state, code, revealed, choices, number }, path, later) {
  const heard = new Set();
  const tries = [];
  const values = { role, state, kept: "" };
  /** @param {object} message @param {object} [answer] goes as bytes, as from a kernel */
  const tell = (message, answer) => {
    const bytes = answer && [new TextEncoder().encode(JSON.stringify(answer))];
    for (const hear of heard) hear(message, bytes);
  };
  const verdictOf = (said) => (choices ? choices[said] : number && judged(number, said));
  const answers = {
    commit({ said, sure, anew }) {
      const verdict = verdictOf(said);
      if (!verdict) return tell({ about: "later", text: KEPT });
      if (anew) tries.length = 0;
      tries.push([verdict.words, JSON.parse(state).sure[sure], verdict.right]);
      return tell({ about: "verdict", right: verdict.right, tries: [...tries] }, verdict.told);
    },
    reveal: () => tell({ about: "verdict", right: true, tries: [] }, revealed),
    code: () => tell({ about: "code" }, code),
    run: ({ id }) => {
      later();
      tell({ about: "stopped", id, text: NOT_YET });
    },
  };
  return {
    widget_manager: { context: { path } },
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    save_changes() {},
    on: (event, hear) => event === "msg:custom" && heard.add(hear),
    off: (_, hear) => heard.delete(hear),
    send: ({ do: asked, ...more }) => answers[asked]?.(more),
  };
}
