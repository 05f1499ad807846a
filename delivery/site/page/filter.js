// The table of symptoms on the first page shows only the rows that have every word of the filter, in what
// they say or in what else people call it.

const box = /** @type {HTMLInputElement} */ (document.getElementById("lessons-filter"));
const found = document.getElementById("lessons-found");
/** @type {NodeListOf<HTMLTableSectionElement>} */
const tables = document.querySelectorAll("#lessons-symptoms tbody");
const bodies = [...tables];

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const body of bodies) {
    const [head, ...rows] = body.rows;
    for (const row of rows) {
      const text = `${head.textContent} ${row.textContent} ${row.dataset.also}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const left = rows.filter((row) => !row.hidden).length;
    body.hidden = !left;
    count += left;
  }
  const all = bodies.reduce((sum, body) => sum + body.rows.length - 1, 0);
  found.textContent = words.length ? `${count} of ${all}` : "";
}

box.parentElement.style.visibility = "visible"; // without scripts it would do nothing
box.addEventListener("input", show);
show();
