// The question of the first page, and of its picture alone: a guess moves the picture, and the picture's
// slider answers, too.

const { make, step, busy } = JSON.parse(document.getElementById("lessons-busy").textContent);
const frame = document.querySelector("iframe");
/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll("#lessons-guess button");
const large = document.getElementById("lessons-large");
const verdict = document.getElementById("lessons-verdict");
const right = busy.indexOf(Math.max(...busy)); // the fewest that keep it busy
const begin = Number(large.dataset.workers);
const share = (workers) => `${Math.round(100 * busy[workers])} %`;
const workers = () => Number(/workers=(\d+)/.exec(location.hash)?.[1] ?? begin);

function sentence(count) {
  if (count === right) {
    return `${right} is right: ${make} / ${step} = ${right}. A batch arrives every ${step} ms, and`
      + " a step takes as long. Now take one worker away, and look.";
  }
  if (count > right) return `With ${right} workers it is as busy: more workers gain nothing.`;
  if (!count) return "Without workers, the loop makes a batch, then trains on it.";
  const every = Math.round((10 * make) / count) / 10;
  return `A batch arrives every ${every} ms on average, but a step takes ${step} ms:`
    + " the GPU waits.";
}

function tell(count = workers()) {
  for (const button of buttons) {
    button.setAttribute("aria-pressed", String(Number(button.value) === count));
  }
  large.textContent = share(count);
  verdict.className = count === right ? "lessons-right" : "";
  const was = count === begin ? "" : ` (${share(begin)} with ${begin} workers)`;
  verdict.textContent = `busy while batches come${was}. ${sentence(count)}`;
}

for (const button of buttons) {
  button.onclick = () => {
    location.hash = `workers=${button.value}`;
    tell();
  };
}
// The slider writes its setting into the address when it is let go; it moves before that.
function follow() {
  (frame?.contentDocument ?? document).addEventListener("input", ({ target }) => {
    const slider = /** @type {HTMLInputElement} */ (target);
    if (slider.dataset.name !== "workers") return;
    if (frame) history.replaceState(null, "", `#workers=${slider.value}`);
    tell(Number(slider.value));
  });
}
frame?.addEventListener("load", follow);
if (!frame || frame.contentDocument.readyState === "complete") follow();
addEventListener("hashchange", () => tell());
if (location.hash.includes("workers=")) tell();
