// A bar in words, which are those of its page: a lesson that says GPU and batch has them here, too.

import { time } from "../base/numbers.js";

/** @typedef {import("../scene.js").Scene} Scene */
/** @typedef {Pick<Scene, "rows" | "bars" | "waits" | "unit" | "words">} Told what of a run is put in words */

const begins = (text) => text[0] === text[0].toUpperCase();
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * A text in the words of a page, each of which stands for one of ours: in the plural where that does,
 * and with a capital. `lessonkit/words.py` does the same.
 * @param {string} text
 * @param {Record<string, string>} [words]
 */
export function worded(text, words = {}) {
  const names = Object.keys(words);
  if (!names.length) return text;
  const found = new RegExp(`\\b(${names.join("|")})(e?s)?\\b`, "gi");
  return text.replace(found, (one, name, plural = "") => {
    const word = words[name.toLowerCase()];
    const ending = plural && (/(s|x|ch|sh)$/.test(word) ? "es" : "s");
    return (begins(one) ? capital(word) : word) + ending;
  });
}

/** @param {Told} scene @param {number} bar */
const stageOf = (scene, bar) => scene.rows[scene.bars.row[bar]].stage;

/**
 * What worked or waited, and on what.
 * @param {Told} scene
 * @param {number} bar
 */
export function who(scene, bar) {
  const { bars, unit } = scene;
  const stage = stageOf(scene, bar);
  const label = bars.label[bar];
  if (!label || bars.kind[bar] === "count") return stage;
  if (/^\D+$/.test(label)) return `${stage}, file ${label}`;
  if (Array.isArray(bars.who[bar])) {
    const samples = bars.note[bar] ? ` (${bars.note[bar]})` : "";
    return `${stage}, batch ${label}${samples}`;
  }
  // What a step trains on may be a whole batch, and no batch says how many samples it has.
  return `${stage}, ${unit === "samples" ? "sample" : "element"} ${label}`;
}

/**
 * A text in which a name takes the place of "{}"; of "Map: 2 calls" only "Map".
 * @param {string} text
 * @param {string} name
 */
export const filled = (text, name) => text.replace("{}", () => name.split(":")[0]);

/**
 * What a bar is, and why: a whole sentence each, or a title and a sentence.
 * @param {Told} scene
 * @param {number} bar
 * @returns {{ subject: string, rest: string }}
 */
export function sentence(scene, bar) {
  const { subject, rest } = told(scene, bar);
  return { subject: worded(subject, scene.words), rest: worded(rest, scene.words) };
}

/**
 * The same in our words.
 * @param {Told} scene
 * @param {number} bar
 */
function told(scene, bar) {
  const { bars, waits } = scene;
  const kind = bars.kind[bar];
  const note = bars.note[bar];
  const start = bars.start[bar];
  const length = bars.length[bar];
  const span = `${time(length)}, from ${time(start)} to ${time(start + length)}.`;
  const name = who(scene, bar);
  if (kind === "start") return { subject: `A worker starts: ${span}`, rest: "" };
  if (kind === "") return { subject: `${name}:`, rest: `${span} ${beginning(scene, bar)}` };
  if (kind === "count") return { subject: `${name}:`, rest: `${counted(scene, bar)} for ${span}` };
  const why = filled(waits[kind].sentence, note);
  if (kind !== "idle") return { subject: `${name} waits ${span}`, rest: why };
  return { subject: `The accelerator waits ${span}`, rest: note ? why : "" };
}

/**
 * What a step of a row of counts says.
 * @param {Pick<Scene, "rows" | "bars">} scene
 * @param {number} bar
 */
export function counted({ rows, bars }, bar) {
  const isQueue = rows[bars.row[bar]].stage === "Queue";
  const many = Number(bars.label[bar]);
  const one = isQueue ? "index list" : "batch";
  const several = isQueue ? "index lists" : "batches";
  return `${many} ${many > 1 ? several : one}`;
}

/**
 * What a bar had to wait for.
 * @param {Told} scene
 * @param {number} bar
 */
function beginning(scene, bar) {
  const { start, length, cause } = scene.bars;
  const before = cause[bar];
  if (before < 0) return "It began immediately.";
  const name = who(scene, before);
  const gap = start[bar] - start[before] - length[before];
  return gap > 0 ? `It began ${time(gap)} after ${name} ended.` : `It began when ${name} ended.`;
}

/**
 * The bars of the same sample, or of any sample in the same batch.
 * @param {Pick<Scene, "bars">} scene
 * @param {number} bar
 */
export function journey(scene, bar) {
  const samples = scene.bars.who.map((found) => [found].flat().filter((sample) => sample > 0));
  const isShared = (sample) => samples[bar].includes(sample);
  const isPart = (other) => other === bar || samples[other].some(isShared);
  return new Set([...samples.keys()].filter(isPart));
}
