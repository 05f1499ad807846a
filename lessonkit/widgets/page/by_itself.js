// A picture in a file of its own. All settings were run when it was written; this answers in
// place of a kernel.

async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

const { state, values, answers } = await opened(document.getElementById("answers").textContent);
const heard = [];

const answerTo = (chosen) => {
  const answer = answers[Object.values(chosen).join()];
  return new TextEncoder().encode(JSON.stringify(answer));
};

const model = {
  get: (name) => ({ role: "explore", state: JSON.stringify(state) })[name],
  set() {},
  save_changes() {},
  on: (event, listener) => event === "msg:custom" && heard.push(listener),
  send({ id, values: chosen }) {
    for (const hear of heard) hear({ about: "picture", id, took: 0 }, [answerTo(chosen)]);
  },
};
const el = document.getElementById("picture");
lessonkit.render({ model, el });

// A setting has an address, such as #workers=4&prefetch_factor=1. What is named wrong stays as it
// was.
function goTo() {
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    const place = values[name]?.indexOf?.(text) ?? -1;
    const field = place < 0 ? null : el.querySelector(`[data-name="${name}"]`);
    if (!field) continue;
    if (field.type === "checkbox") field.checked = place === 1;
    else field.value = place;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
goTo();
addEventListener("hashchange", goTo);
el.addEventListener("change", () => {
  const told = [...el.querySelectorAll("[data-name]")].map((field) => {
    const { name } = field.dataset;
    return [name, values[name][Number(field.type === "checkbox" ? field.checked : field.value)]];
  });
  try {
    history.replaceState(null, "", `#${new URLSearchParams(told)}`);
  } catch {
    // A frame without an origin has no address.
  }
});
