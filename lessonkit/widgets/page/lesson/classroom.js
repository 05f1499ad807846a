// A class that answers together: its server leaves a cookie with its address, on this host and at
// any port. Without one, nothing is asked and nothing waits. What it sends, `learner.js`, does the
// rest.

import { allRecords, folderHere } from "./record.js";

// By where the last answer is.
const WAITING = {
  "": "Waiting for the class.",
  sent: "Sent. Waiting for the class.",
  going: "Sending …",
  kept: "Not sent yet: it will be when the class can be reached.",
};
const AGAIN = "A round is open: commit again, to the same answer or another.";

/**
 * By what a record, and the server, names a question.
 * @typedef {{ lesson: string, kind: string, question: string }} About
 */

/**
 * What `learner.js` tells a page of the class.
 * @typedef {object} Learner
 * @property {any} state how the class stands; null while that is not known, or without it
 * @property {Promise<unknown>} first the first word of the class, or the end of patience
 * @property {(kept: any[]) => void} begin
 * @property {(about: About) => "" | "sent" | "going" | "kept"} whereIs the last answer, if there is one
 * @property {(about: About) => string} standing the turn and the round in which a question stands
 * @property {(about: About) => boolean} counts whether the last answer counts in the round that is open
 */

// The address in the cookie, or null. Each page of this host may set one, and none may break this.
function addressOfClass() {
  try {
    const [, given] = /(?:^|; )lessonkit-class=([^;]+)/.exec(document.cookie) ?? [];
    const address = given && new URL(decodeURIComponent(given), location.href);
    // It may come from another server of this host. It may not bring in another host.
    return address && address.hostname === location.hostname ? address : null;
  } catch {
    return null; // it is no address, or the page has no cookies
  }
}

export const Classroom = {
  /** @type {Promise<Learner | null> | null} */
  found: null, // null where there is no class
  /** @type {Learner | null} */
  learner: null,

  find() {
    const address = addressOfClass();
    if (!address) return null;
    const begin = (learner) => {
      learner.begin(allRecords(folderHere()));
      return learner;
    };
    return import(new URL("learner.js", address).href).then(begin, () => {
      // The class is over. Not all browsers have another way to end a cookie.
      // biome-ignore lint/suspicious/noDocumentCookie: as said above
      document.cookie = "lessonkit-class=; path=/; max-age=0";
      return null;
    });
  },

  join() {
    // Two versions of this program may be in one page.
    const page = /** @type {any} */ (window);
    page.lessonkitClass ??= this.find();
    this.found = page.lessonkitClass;
    this.found?.then(async (learner) => {
      this.learner = learner;
      await learner?.first;
      if (!learner) this.found = null;
      window.dispatchEvent(new Event("lessonkit-class"));
    });
  },

  // Whether nothing may tell an answer by itself; until the class has spoken one cannot know.
  leads() {
    return Boolean(this.found && (!this.learner || this.learner.state?.leading));
  },

  /** @param {About} about */
  isShown(about) {
    return Boolean(this.learner?.state?.shown.some((one) => this.same(one, about)));
  },

  // The turn and the round of a question, as one text; "" without a class.
  /** @param {About} about */
  standing(about) {
    return this.learner?.standing(about) ?? "";
  },

  same: (one, other) => ["lesson", "kind", "question"].every((part) => one[part] === other[part]),

  // What a question does when everybody has its verdict, when it is asked anew, and when its
  // learner wants to come to it.
  follow(life, about, { shown, anew, go }) {
    const look = () => this.isShown(about) && shown();
    const isIt = ({ detail }) => this.same(detail, about);
    life.listen(window, "lessonkit-class", look);
    life.listen(window, "lessonkit-class-anew", (event) => isIt(event) && anew());
    life.listen(window, "lessonkit-class-go", (event) => {
      if (!isIt(event)) return;
      event.preventDefault(); // nobody has to look elsewhere
      go();
    });
    look();
  },

  // A promise of the moment at which the teacher shows the verdict of a question, or null if there
  // is no class. While it waits, *tell* gets what to say.
  turn: (life, about, tell) => Classroom.found && Classroom.wait(life, about, tell),

  async wait(life, about, tell) {
    const learner = await this.found;
    await learner?.first;
    const isHeld = () => learner?.state?.leading && !this.isShown(about);
    while (isHeld()) {
      const isOpen = learner.state.open && this.same(learner.state.asked, about);
      const where = learner.whereIs(about);
      const isDone = where === "" || where === "sent";
      tell(isOpen && isDone && !learner.counts(about) ? AGAIN : WAITING[where]);
      await new Promise((go) => life.listen(window, "lessonkit-class", go, { once: true }));
    }
  },
};
