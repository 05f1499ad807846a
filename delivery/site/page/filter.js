// The symptoms on the first page, folded by their groups: only those that have every word of the filter,
// in what they say or in what else people call it, and a way on where there is none.

const box = /** @type {HTMLInputElement} */ (document.getElementById("lessons-filter"));
const found = document.getElementById("lessons-found");
const none = document.getElementById("lessons-none");
/** @type {NodeListOf<HTMLDetailsElement>} */
const groups = document.querySelectorAll("#lessons-symptoms details");
const rowsOf = (group) => [...group.querySelectorAll("tbody tr")];

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const group of groups) {
    const head = group.querySelector("summary").textContent;
    const rows = rowsOf(group);
    for (const row of rows) {
      const text = `${head} ${row.textContent} ${row.dataset.also}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const left = rows.filter((row) => !row.hidden).length;
    group.hidden = !left;
    if (words.length) group.open = true;
    count += left;
  }
  const all = [...groups].flatMap(rowsOf).length;
  found.textContent = words.length ? `${count} of ${all}` : "";
  none.hidden = count > 0;
}

box.parentElement.style.visibility = "visible"; // without scripts it would do nothing
box.addEventListener("input", show);
show();
