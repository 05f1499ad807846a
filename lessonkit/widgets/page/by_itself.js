// A picture in a file of its own. All settings were run when it was written; this answers in
// place of a kernel.

async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

// Draws the picture in *el*, with its styles, because a page may draw it in a shadow, and with its
// title in an element of the kind *tag*. Gives the function that ends it.
function drawIn(el, { state, answers, style, title, caption }, tag) {
  const heard = new Set(), node = div("lk");
  const model = {
    get: (name) => ({ role: "explore", state: JSON.stringify(state) })[name],
    set() {},
    save_changes() {},
    on: (event, hear) => event === "msg:custom" && heard.add(hear),
    off: (_, hear) => heard.delete(hear),
    send({ id, values: chosen }) {
      const answer = JSON.stringify(answers[Object.values(chosen).join()]);
      const bytes = new TextEncoder().encode(answer);
      for (const hear of heard) hear({ about: "picture", id, took: 0 }, [bytes]);
    },
  };
  const above = title ? [html(tag, {}, title)] : [];
  const below = caption ? [html("p", {}, caption)] : [];
  const figure = html("div", {}, html("style", {}, style), ...above, node, ...below);
  el.append(figure);
  const end = lessonkit.render({ model, el: node });
  return () => end(figure.remove());
}

// The index of a value that an address names, or of the nearest number; -1 if there is none.
function indexNamed(text, values) {
  const index = values.indexOf(text), numbers = values.map(Number);
  const isNumber = text.trim() !== "" && [Number(text), ...numbers].every((one) => !isNaN(one));
  if (index >= 0 || !isNumber) return index;
  return nearest(numbers, (number) => Math.abs(number - text));
}

// A setting has an address, such as #workers=4&prefetch_factor=1. What is named wrong stays as it
// was.
function goTo(el, values) {
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    const field = Object.hasOwn(values, name) && el.querySelector(`[data-name="${name}"]`);
    const index = field ? indexNamed(text, values[name]) : -1;
    if (index < 0) continue;
    if (field.type === "checkbox") field.checked = index === 1;
    else field.value = index;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function tellAddress(el, values) {
  const told = [...el.querySelectorAll("[data-name]")].map((field) => {
    const { name } = field.dataset;
    return [name, values[name][Number(field.type === "checkbox" ? field.checked : field.value)]];
  });
  try {
    history.replaceState(null, "", `#${new URLSearchParams(told)}`);
  } catch {
    // A frame without an origin has no address.
  }
}

// A page around a frame cannot see how high the picture in it is.
function tellHeight() {
  const { height, y } = document.body.getBoundingClientRect();
  parent.postMessage({ lessonkitHeight: Math.ceil(height + 2 * (y + scrollY)) }, "*");
}
