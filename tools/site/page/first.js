// The first page: its picture, how far one has come in each lesson, and all of one's work.

import { allWork, saved, zip } from "./work.js";

// ---- the picture ----

const RECORDS = `lessonkit record ${new URL(".", location.href).pathname.replace(/\/$/, "")}/`;
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
  const { answered, asked, solved } = reached(notebook);
  const told = [`${answered} of ${asked} questions answered`];
  if (solved) told.push("challenge solved");
  const text = told.join(", "), value = answered + solved;
  const [bar, words] = ["progress", "small"].map((tag) => document.createElement(tag));
  Object.assign(bar, { max: asked + 1, value, ariaLabel: text });
  words.textContent = value > asked ? `✓ done: ${text}` : text;
  return [bar, words];
}

// On the main path of a lesson: how many of its questions have an answer, and whether its challenge
// is solved, 0 or 1. Who asks to be shown an answer without a try has given none.
function reached({ cells, metadata }) {
  const sourceOf = ({ source }) => [].concat(source).join("");
  const further = cells.findIndex((cell) => sourceOf(cell).startsWith("## Further"));
  const main = further < 0 ? cells : cells.slice(0, further);
  const widgets = metadata.widgets?.["application/vnd.jupyter.widget-state+json"]?.state ?? {};
  const states = ({ outputs = [] }) => outputs.flatMap(({ data }) => {
    const { model_id } = data?.["application/vnd.jupyter.widget-view+json"] ?? {};
    return widgets[model_id]?.state ?? [];
  });
  const isAnswered = ({ kept }) => {
    const { tries = [], right, shown } = JSON.parse(kept || "{}");
    return tries.length > 0 && (right || shown);
  };
  const asks = main.filter(({ metadata: { tags } }) => tags?.includes("predict"));
  const tasks = main.flatMap(states).map(({ state }) => JSON.parse(state || "{}").task?.text);
  return {
    answered: asks.filter((cell) => states(cell).some(isAnswered)).length, asked: asks.length,
    solved: Number(tasks.some((text) => text && solves(text))),
  };
}

// As a record says that the page of the lesson has kept: see record.js of the package.
function solves(text) {
  const isIt = ([name, record]) => name.startsWith(RECORDS) && name.endsWith(text)
    && JSON.parse(record).right;
  try {
    return Object.entries(localStorage).some(isIt);
  } catch {
    return false;
  }
}

document.getElementById("lessons-download").onclick = async () => {
  const work = await allWork();
  if (work.length) zip(work, "my-lessons.zip");
  else said.textContent = "Nothing is saved yet.";
};
