// Watches a bar that is dragged, and an answer that comes. All times are the page's own.

const nextFrame = () => new Promise(requestAnimationFrame);
let following = null;

/** Look at *bar* in every frame from now on. */
window.lkFollow = async (bar) => {
  const film = { frames: [], moved: 0 };
  following = film;
  let last = "";
  for (let now = await nextFrame(); following === film; now = await nextFrame()) {
    film.frames.push(now);
    film.moved += bar.style.transform !== last;
    last = bar.style.transform;
  }
};

/** When each frame was drawn since then, and in how many of them the bar was somewhere else. */
window.lkFollowed = () => {
  const film = following;
  following = null;
  return film;
};

/** Ask for the answer; how long it takes until the true bars have been painted. */
window.lkReveal = async (asked) => {
  const button = asked.querySelector("[title='Show the run without an answer']");
  const began = performance.now();
  button.click();
  const verdict = () => asked.querySelector(".lk-verdict")?.textContent;
  while (!verdict() || !asked.querySelector(".lk-theirs rect")) {
    if (performance.now() > began + 10_000) throw new Error(`no verdict: ${verdict()}`);
    await nextFrame();
  }
  await nextFrame(); // in which it is painted
  return performance.now() - began;
};
