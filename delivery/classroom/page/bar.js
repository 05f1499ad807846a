// @ts-check
// The bar at the bottom of a learner's page: how the class stands, and what one may do.

const NAME = "lessonkit class name";
const STYLE =
  "position: fixed; z-index: 1000; left: 0; bottom: 0; max-width: 100vw; box-sizing: border-box; " +
  "padding: 4px 8px; display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; " +
  "font: 14px/1.6 system-ui; color: #fff; background: #1f4e79";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} about
 * @returns {HTMLElementTagNameMap[Tag]}
 */
const node = (tag, about) => Object.assign(document.createElement(tag), about);

export class Bar {
  /**
   * @param {object} acts
   * @param {() => void} acts.go to the question that is asked
   * @param {() => void} acts.goOn without the class
   * @param {() => void} acts.begin as somebody else
   */
  constructor({ go, goOn, begin }) {
    this.words = node("span", { role: "status" });
    this.go = node("button", { textContent: "Go to it", hidden: true, onclick: go });
    this.goOn = node("button", {
      textContent: "Go on without the class",
      hidden: true,
      onclick: goOn,
    });
    this.begin = node("button", {
      textContent: "Somebody else sits here now",
      hidden: true,
      onclick: begin,
    });
    const placeholder = "nickname, if you like";
    this.input = node("input", { size: 12, maxLength: 30, placeholder, ariaLabel: placeholder });
    try {
      this.input.value = localStorage.getItem(NAME) ?? "";
    } catch {
      // The browser keeps nothing.
    }
    this.input.onchange = () => localStorage.setItem(NAME, this.input.value);
    const bar = node("div", { id: "lessonkit-class" });
    bar.style.cssText = STYLE;
    bar.append(this.words, this.go, this.goOn, this.input, this.begin);
    document.body.append(bar);
  }

  get name() {
    return this.input.value;
  }

  /** @param {string} text */
  say(text) {
    if (this.words.textContent !== text.trim()) this.words.textContent = text.trim();
  }

  /** @param {{ canGo: boolean, canGoOn: boolean, isOld: boolean }} may */
  show({ canGo, canGoOn, isOld }) {
    this.go.hidden = !canGo;
    this.goOn.hidden = !canGoOn;
    this.begin.hidden = !isOld;
  }
}
