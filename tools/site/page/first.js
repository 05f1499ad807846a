// The first page: its picture, how far one has come in each lesson, and all of one's work.

import { allWork, saved, zip } from "./work.js";

// ---- the picture ----

const frame = document.querySelector("iframe");
const inside = () => frame.contentWindow.location;

// As high as it has to be; it does not shrink, or all below it would jump. Its setting is this
// page's address, too.
function live() {
  const { documentElement: page, body } = frame.contentDocument;
  const grow = () => {
    if (page.scrollHeight > frame.clientHeight) frame.style.height = `${page.scrollHeight}px`;
  };
  new ResizeObserver(grow).observe(body);
  page.addEventListener("change", () => history.replaceState(null, "", inside().hash));
}
frame.addEventListener("load", live);
if (frame.contentDocument.readyState === "complete") live();

function follow() {
  const address = new URL(`workers.html${location.hash}`, location.href);
  if (location.hash) inside().replace(address);
}
addEventListener("hashchange", follow);
follow();

// ---- the lessons ----

const said = document.getElementById("lessons-said");
const files = await saved();
const NOTHING = "This browser keeps no work. Download your work before you leave a lesson.";
if (!files) said.textContent = NOTHING;
for (const card of document.querySelectorAll("ol > li")) {
  const copy = files?.get(new URL(card.querySelector("a").href).searchParams.get("path"));
  if (copy) card.append(...progress(copy.content));
}

function progress(notebook) {
  const { ran, cells, answered, asked } = reached(notebook);
  const text = `${ran} of ${cells} cells run, ${answered} of ${asked} questions answered`;
  const [bar, words] = ["progress", "small"].map((tag) => document.createElement(tag));
  Object.assign(bar, { max: cells + asked, value: ran + answered, ariaLabel: text });
  words.textContent = ran === cells && answered === asked ? `✓ done: ${text}` : text;
  return [bar, words];
}

// On the main path of a lesson: which cells were run here, and which of its questions have an
// answer.
function reached({ cells, metadata }) {
  const isFurther = ({ source }) => [].concat(source).join("").startsWith("## Further");
  const further = cells.findIndex(isFurther), main = further < 0 ? cells : cells.slice(0, further);
  const code = main.filter(({ cell_type }) => cell_type === "code");
  const widgets = metadata.widgets?.["application/vnd.jupyter.widget-state+json"]?.state ?? {};
  const idOf = ({ data }) => data?.["application/vnd.jupyter.widget-view+json"]?.model_id;
  // A verdict without a run is that of a wrong answer: the question is still open.
  const tells = (output) => widgets[idOf(output)]?.state.kept?.includes('"scene":');
  const isAnswered = ({ outputs }) => outputs.some(tells);
  const asks = code.filter(({ metadata: { tags } }) => tags?.includes("predict"));
  return {
    ran: code.filter((cell) => cell.metadata.execution).length, cells: code.length,
    answered: asks.filter(isAnswered).length, asked: asks.length,
  };
}

document.getElementById("lessons-download").onclick = async () => {
  const work = await allWork();
  if (work.length) zip(work, "my-lessons.zip");
  else said.textContent = "Nothing is saved yet.";
};
