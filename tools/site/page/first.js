// The first page: which lessons one has begun, and all of one's work.

import { allWork, saved, zip } from "./work.js";

const said = document.getElementById("lessons-said");
const files = await saved();
if (!files) said.textContent = "This browser keeps nothing here: download your work before you leave a lesson.";
for (const one of document.querySelectorAll("ol a")) {
  if (files?.has(new URL(one.href).searchParams.get("path"))) one.after(" (begun)");
}
document.getElementById("lessons-download").onclick = async () => {
  const work = await allWork();
  if (work.length) zip(work, "my-lessons.zip");
  else said.textContent = "There is nothing yet.";
};
