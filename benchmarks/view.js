// Watches one output of a notebook: when a new picture is on the screen, how high the output is, and
// whether there is ever a frame without a picture. All times are the page's own, in milliseconds.

const SILENCE = 120; // after which a picture is the last one of its step
const PATIENCE = 10_000;

// What tells one picture from another; empty if there is none.
const LOOKS = {
  image: (root) => {
    const image = root.querySelector("img");
    return image?.naturalWidth ? image.src : "";
  },
  bars: (root) => {
    const place = (bar) => ["x", "y", "width", "height"].map((name) => bar.getAttribute(name)).join();
    const shown = [...root.querySelectorAll("rect.lk-bar")].filter((bar) => bar.style.display !== "none");
    return shown.map(place).join(";");
  },
};

const frame = () => new Promise(requestAnimationFrame);
const pause = (time) => new Promise((done) => setTimeout(done, time));

class Watch {
  constructor(root, look) {
    this.root = root;
    this.look = () => LOOKS[look](root);
    this.last = this.look();
    this.pictures = []; // when each was on the screen
    root.addEventListener("keydown", () => (this.began = performance.now()), true);
    const all = { subtree: true, childList: true, attributes: true };
    new MutationObserver(() => this.changed()).observe(root, all);
  }

  async changed() {
    for (const image of this.root.querySelectorAll("img")) await image.decode().catch(() => {});
    const now = this.look();
    if (!now || now === this.last) return;
    this.last = now;
    await frame(); // in which it is painted
    await frame();
    this.pictures.push(performance.now());
  }

  /** Get ready for a key that will be pressed. */
  expect() {
    this.began = 0;
    this.pictures = [];
  }

  /** How long it took from the key until its picture was on the screen, which then stayed. */
  async step() {
    const deadline = performance.now() + PATIENCE;
    while (!this.pictures.length || performance.now() < this.pictures.at(-1) + SILENCE) {
      if (performance.now() > deadline) throw new Error(`no new picture after ${PATIENCE} ms`);
      await pause(5);
    }
    return this.pictures.at(-1) - this.began;
  }

  /** Look at every frame from now on. */
  async film() {
    const film = { began: performance.now(), pictures: 0, blank: 0, frames: 0, heights: [] };
    this.filming = film;
    let last = this.look();
    for (await frame(); this.filming === film; await frame()) {
      const now = this.look();
      film.frames += 1;
      film.blank += !now;
      if (now && now !== last) {
        film.pictures += 1;
        film.heights.push(this.root.getBoundingClientRect().height);
        last = now;
      }
    }
  }

  /** What was seen since then, and for how long. */
  cut() {
    const film = this.filming;
    this.filming = null;
    return { ...film, seconds: (performance.now() - film.began) / 1000 };
  }
}

window.lkWatch = (root, look) => new Watch(root, look);
