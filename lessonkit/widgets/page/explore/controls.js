// The controls. A value is the number of a step, a choice or a card: what it stands for, the
// kernel knows.

import { attributes, div, html, labelled } from "../base/dom.js";
import { KEYS, keys } from "../base/keyboard.js";

/** @typedef {import("../scene.js").ControlScene} ControlScene */
/** @typedef {number | number[]} Value */

// The methods that make controls, by their kinds.
const KINDS = { range: "slider", choice: "select", flag: "check", order: "cards" };

export class Controls {
  /**
   * @param {ControlScene[]} specs
   * @param {(name: string, isAtRest: boolean) => void} change called when a hand turns one
   * @param {(name: string) => void} reach called when a hand comes to one
   */
  constructor(specs, change, reach = () => {}) {
    this.specs = specs;
    this.change = change;
    this.reach = reach;
    /** @type {Record<string, any>} */
    this.values = {};
    /** @type {Record<string, (value: any) => void>} */
    this.fields = {}; // show a value
    const rows = specs.map((spec) => this[KINDS[spec.kind]](spec));
    const many = specs.length;
    this.amount = many < 2 ? "lk-one" : many < 5 ? "lk-few" : many < 7 ? "lk-some" : "lk-many";
    this.node = div(`lk-controls ${this.amount}`, ...rows);
    this.set(Object.fromEntries(specs.map((spec) => [spec.name, spec.value])));
  }

  set(values) {
    this.values = { ...values }; // the start and a baseline keep the old ones
    for (const { name } of this.specs) this.fields[name](values[name]);
  }

  /** @param {string} name */
  fieldOf(name) {
    return /** @type {HTMLElement | null} */ (this.node.querySelector(`[data-name="${name}"]`));
  }

  turn(name, value, rest) {
    this.values = { ...this.values, [name]: value };
    this.fields[name](value);
    this.change(name, rest);
  }

  // The next values of a control, nearest first: what a hand that is on it may want next.
  near(name) {
    const { kind, texts } = this.specs.find((spec) => spec.name === name);
    if (kind === "order") return [];
    const steps = texts.map((_, step) => step).filter((step) => step !== this.values[name]);
    return steps.sort((a, b) => Math.abs(a - this.values[name]) - Math.abs(b - this.values[name]));
  }

  heard(name, value) {
    const turn = (rest) => () => this.turn(name, value(), rest);
    const reach = () => this.reach(name);
    const hand = { onfocus: reach, onpointerenter: reach };
    return { oninput: turn(false), onchange: turn(true), ...hand, "data-name": name, ...KEYS };
  }

  slider({ name, label, texts }) {
    const heard = this.heard(name, () => Number(input.value));
    const range = { type: "range", max: texts.length - 1, "aria-label": label };
    const input = html("input", { ...range, ...heard });
    const output = html("output");
    this.fields[name] = (value) => {
      input.value = value;
      input.setAttribute("aria-valuetext", texts[value]);
      output.textContent = texts[value];
    };
    return labelled(label, input, output);
  }

  select({ name, label, texts }) {
    const options = texts.map((text, value) => html("option", { value }, text));
    const heard = this.heard(name, () => Number(input.value));
    const input = html("select", { "aria-label": label, ...heard }, ...options);
    this.fields[name] = (value) => {
      input.value = value;
    };
    const node = labelled(label, input);
    node.classList.add("lk-choice");
    return node;
  }

  check({ name, label }) {
    const heard = this.heard(name, () => Number(input.checked));
    const input = html("input", { type: "checkbox", ...heard });
    this.fields[name] = (value) => {
      input.checked = value === 1;
    };
    return labelled(label, input);
  }

  // Cards in a row, to be dragged, or moved with the arrow keys.
  cards({ name, label, texts }) {
    const list = attributes(div("lk-cards"), { role: "list", "aria-label": label });
    const swap = (card, direction) => {
      const order = [...this.values[name]];
      const from = order.indexOf(card);
      const to = from + direction;
      if (to < 0 || to >= order.length) return;
      order[from] = order[to];
      order[to] = card;
      this.turn(name, order, true);
      nodes[card].firstChild.focus();
    };
    const middle = (card, none) => {
      const frame = nodes[card]?.getBoundingClientRect();
      return frame ? frame.left + frame.width / 2 : none;
    };
    const nodes = texts.map((text, card) => {
      const back = () => swap(card, -1);
      const on = () => swap(card, 1);
      const onkeydown = keys({ ArrowLeft: back, ArrowUp: back, ArrowRight: on, ArrowDown: on });
      const grip = html("button", { type: "button", onkeydown, ...KEYS }, text);
      const onpointermove = ({ pointerId, clientX }) => {
        if (!grip.hasPointerCapture?.(pointerId)) return;
        const order = this.values[name];
        const index = order.indexOf(card);
        if (clientX < middle(order[index - 1], -Infinity)) back();
        else if (clientX > middle(order[index + 1], Infinity)) on();
      };
      const onpointerdown = ({ pointerId }) => grip.setPointerCapture?.(pointerId);
      attributes(grip, { onpointerdown, onpointermove });
      return html("span", { class: "lk-card", role: "listitem" }, grip);
    });
    this.fields[name] = (order) => {
      order.forEach((card, index) => {
        nodes[card].style.order = index;
        const said = `${texts[card]}, ${index + 1} of ${order.length}; arrow keys move it`;
        nodes[card].firstChild.setAttribute("aria-label", said);
      });
    };
    list.append(...nodes);
    return div("lk-control lk-order", html("span", {}, label), list);
  }
}
