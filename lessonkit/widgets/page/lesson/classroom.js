// A class that answers together: its server leaves a cookie with its address, on this host and at
// any port. Without one, nothing is asked and nothing waits. What it sends, `learner.js`, does the
// rest.

import { allRecords, folderHere } from "./record.js";

const WAITING = "Waiting for the class.";

const AGAIN = "The second round: commit again, to the same answer or another.";

export const Classroom = {
  found: null, // a promise of `learner.js`; null where there is no class

  find() {
    let cookies = "";
    try {
      cookies = document.cookie;
    } catch {
      // A page without an address of its own has none.
    }
    const [, given] = /(?:^|; )lessonkit-class=([^;]+)/.exec(cookies) ?? [];
    if (!given) return null;
    const address = new URL(decodeURIComponent(given), location.href);
    // A cookie may come from another server of this host. It may not bring in another host.
    if (address.hostname !== location.hostname) return null;
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
    this.found?.then((learner) => {
      this.learner = learner;
    });
  },

  // The round in which a question stands, or 0.
  round(about) {
    const { asked, round } = this.learner?.state ?? {};
    return asked && this.same(asked, about) ? round : 0;
  },

  same: (one, other) => ["lesson", "kind", "question"].every((part) => one[part] === other[part]),

  // A promise of the moment at which the teacher shows the verdict of a question, or null if there
  // is no class. While it waits, *tell* gets what to say.
  turn: (life, about, tell) => Classroom.found && Classroom.wait(life, about, tell),

  async wait(life, about, tell) {
    const learner = await this.found;
    const begun = this.round(about);
    await learner?.first;
    const isHeld = ({ leading, shown }) => leading && !shown.some((one) => this.same(one, about));
    while (learner?.state && isHeld(learner.state)) {
      tell(learner.state.open && this.round(about) > begun ? AGAIN : WAITING);
      await new Promise((go) => life.listen(window, "lessonkit-class", go, { once: true }));
    }
  },
};
