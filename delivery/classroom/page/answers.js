// @ts-check
// What was answered: who answers alike, in both rounds, and what is worth saying of it.

/**
 * A question, as `for_board` of its class describes it.
 * @typedef {any} Question
 */

/**
 * An answer, as the server judged and worded it.
 * @typedef {object} Answer
 * @property {string} learner
 * @property {string} address
 * @property {number} round
 * @property {string} said as JSON
 * @property {string} words
 * @property {string} sure
 * @property {number} right
 * @property {string} mistake what a known one is told, or ""
 * @property {string} reached of a challenge, as JSON
 */

/**
 * Those who answer alike: how many, by rounds and by how sure they are.
 * @typedef {object} Line
 * @property {string} name
 * @property {number} order
 * @property {boolean} right
 * @property {string} mistake
 * @property {number[][]} counts by rounds, and then by SURE
 */

export const SURE = ["a guess", "fairly sure", "certain"];
const MOST = 8; // lines: more nobody reads from the last row

/** @param {number[]} counts */
export const sum = (counts) => counts.reduce((one, other) => one + other, 0);
/** @param {Line} line @param {number} place */
export const countOf = ({ counts }, place) => sum(counts[place]);
/** @param {Line} line */
const allOf = ({ counts }) => sum(counts.map(sum));
/** @param {number} count */
export const people = (count) => (count === 1 ? "1 learner" : `${count} learners`);
/** @param {string} name */
const brief = (name) => (name.length > 24 ? `${name.slice(0, 22)}…` : name);

// Bars and curves have no words: a letter that tells nothing stands for each way to answer.
/** @param {Question} question @param {Answer} answer */
export function nameOf({ worded, wrong, why }, { words, right, mistake }) {
  if (worded) return words;
  const ways = ["", why, ...wrong.map(([, text]) => text)].sort();
  return `answer ${String.fromCharCode(65 + ways.indexOf(right ? why : mistake))}`;
}

/**
 * Those who answer alike, in the order of the question: one list for all *rounds*.
 * @param {Question} question
 * @param {Answer[]} answers
 * @param {number[]} rounds
 * @returns {Line[]}
 */
export function linesOf(question, answers, rounds) {
  /** @type {Map<string, Line>} */
  const lines = new Map();
  const begin = (name, about) => {
    const counts = rounds.map(() => SURE.map(() => 0));
    if (!lines.has(name)) lines.set(name, { name, counts, ...about });
    return lines.get(name);
  };
  for (const [order, name] of (question.choices ?? []).entries()) {
    const [, mistake = ""] = question.wrong.find(([wrong]) => wrong === order) ?? [];
    begin(name, { order, right: order === question.right, mistake });
  }
  for (const answer of answers) {
    const place = rounds.indexOf(answer.round);
    if (place < 0) continue;
    const name = nameOf(question, answer);
    const order = question.kind === "number" ? JSON.parse(answer.said) : name.charCodeAt(7);
    const about = { order, right: Boolean(answer.right), mistake: answer.mistake };
    begin(name, about).counts[place][SURE.indexOf(answer.sure)] += 1;
  }
  return [...lines.values()].sort((one, other) => one.order - other.order);
}

/**
 * The lines that can be read from the last row: with the verdict those that have a meaning, and
 * then the most frequent ones. All others are one line.
 * @param {Line[]} lines
 * @param {boolean} isShown
 */
export function folded(lines, isShown) {
  if (lines.length <= MOST) return lines;
  const weight = (line) => (isShown && (line.right || line.mistake) ? 1e6 : 0) + allOf(line);
  const kept = [...lines].sort((one, other) => weight(other) - weight(one)).slice(0, MOST - 1);
  const others = lines.filter((line) => !kept.includes(line));
  const [least, most] = [others[0], others.at(-1)];
  const counts = least.counts.map((sure, round) =>
    sure.map((_, how) => sum(others.map((line) => line.counts[round][how]))),
  );
  const name = `${others.length} other answers, ${least.name} to ${most.name}`;
  const rest = { name, order: Infinity, right: false, mistake: "", counts };
  return [...lines.filter((line) => kept.includes(line)), rest];
}

/**
 * Who is surest. With the verdict that is somebody who is wrong; before it, to leave out those who are
 * right would tell everybody that the others are wrong.
 * @param {Line[]} lines
 * @param {number} place of the last round
 * @param {boolean} isShown whether everybody has the verdict
 */
export function worthHearing(lines, place, isShown) {
  const groups = lines
    .map(({ name, right, counts }) => ({ name, right, counts: counts[place] }))
    .filter(({ right, counts: [, fairly, certain] }) => !(isShown && right) && fairly + certain)
    .sort(({ counts: [, a, b] }, { counts: [, c, d] }) => d - b || c - a);
  if (!groups.length) return "";
  const [
    {
      name,
      counts: [, fairly, certain],
    },
  ] = groups;
  const who = certain ? `${people(certain)}, certain` : `${people(fairly)}, fairly sure`;
  return `Worth hearing first: ${who} of “${brief(name)}”`;
}

/** @param {Question} question @param {Answer[]} answers */
export function moves(question, answers) {
  const of = (round) => answers.filter((one) => one.round === round);
  const before = new Map(of(1).map((one) => [one.learner, nameOf(question, one)]));
  const both = of(2).filter(({ learner }) => before.has(learner));
  const moved = both.filter((one) => before.get(one.learner) !== nameOf(question, one));
  const wayOf = (one) =>
    `from “${brief(before.get(one.learner))}” to “${brief(nameOf(question, one))}”`;
  const ways = Map.groupBy(moved, wayOf);
  const most = [...ways].sort(([, one], [, other]) => other.length - one.length).slice(0, 4);
  const all = `${moved.length} of ${both.length} have moved`;
  return [all, ...most.map(([way, { length }]) => `${length} ${way}`)].join("; ");
}
