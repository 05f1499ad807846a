// JupyterLab takes arrow keys and letters for itself unless the element that has the focus says
// this.

const OURS = "data-lm-suppress-shortcuts";

export const KEYS = { [OURS]: "true" };

// That would take Ctrl+S too, so with a Ctrl or Command key held down JupyterLab gets its keys
// back.
export function giveBack(event) {
  const { target } = event;
  if (!["Control", "Meta"].includes(event.key) || !target.hasAttribute(OURS)) return;
  target.removeAttribute(OURS);
  const held = new AbortController();
  const { signal } = held;
  const keep = () => {
    target.setAttribute(OURS, KEYS[OURS]);
    held.abort();
  };
  for (const end of ["keyup", "blur"]) addEventListener(end, keep, { signal });
}

// A key that was for us is for no other listener.
export function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Gives a listener that does what *acts* has for a key, if it has anything.
export const keys = (acts) => (event) => {
  if (!acts[event.key]) return;
  acts[event.key](event);
  take(event);
};
