// The types of questions. This is the only list of them on the page: a type is one file beside this
// one, and says by which `kind` the kernel and the records of learners know it.

import { ChoiceAnswer } from "./choice.js";
import { Curve } from "./curve.js";
import { NumberAnswer } from "./number.js";
import { Placing } from "./placing.js";

const QUESTIONS = [NumberAnswer, ChoiceAnswer, Placing, Curve];

/**
 * What takes the answer to a question of this kind; an error where there is none.
 * @param {string} kind
 */
export function answerOf(kind) {
  const found = QUESTIONS.find((one) => one.kind === kind);
  const known = QUESTIONS.map((one) => one.kind).join(", ");
  if (!found) throw new Error(`kind=${JSON.stringify(kind)}: must be one of ${known}`);
  return found;
}
