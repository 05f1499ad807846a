// A bar in words.

function who(scene, bar) {
  const stage = scene.rows[scene.bars.row[bar]][0];
  const label = scene.bars.label[bar];
  if (!label) return stage;
  return /^\D+$/.test(label) ? `${stage}, file ${label}` : `${stage}, sample ${label}`;
}

const WAITS = {
  "buffer full": (place) => `There is no place in ${place}.`,
  "buffer empty": (place) => `Nothing is ready in ${place}.`,
  "no core": () => "Every core is busy.",
  "interpreter lock held": () => "Another call holds the interpreter lock.",
  "in the queue": () => "Its worker is busy with another batch.",
  "out of turn": () => "It is ready, and a batch before it is not.",
  "storage busy": () => "Others read from the storage, too.",
};

// Each a whole sentence, or a title and a sentence: what a bar is, and why.
function sentence(scene, bar) {
  const { start, length, kind, note, cause } = scene.bars, name = who(scene, bar);
  const [long, from, to] = [length[bar], start[bar], start[bar] + length[bar]].map(time);
  if (kind[bar] === "idle") {
    return [`The accelerator waits ${long}, from ${from} to ${to}.`, note[bar] ? `It waits for ${note[bar]}.` : ""];
  }
  if (kind[bar] === "start") return [`A worker starts: ${long}, from ${from} to ${to}.`, ""];
  if (kind[bar]) return [`${name} waits ${long}, from ${from} to ${to}.`, WAITS[kind[bar]]?.(note[bar]) ?? kind[bar]];
  const before = cause[bar], cameFrom = before < 0 ? "" : who(scene, before);
  const waited = before < 0 ? 0 : start[bar] - start[before] - length[before];
  const began = !cameFrom ? "It began at once."
    : waited > 0 ? `It began ${time(waited)} after ${cameFrom} ended.` : `It began when ${cameFrom} ended.`;
  return [`${name}:`, `${long}, from ${from} to ${to}. ${began}`];
}

// The bars of the same sample, or of any sample in the same batch.
function journey(scene, bar) {
  const samples = scene.bars.who.map((found) => [found].flat().filter((sample) => sample > 0));
  const shares = (other) => other === bar || samples[other].some((sample) => samples[bar].includes(sample));
  return new Set([...samples.keys()].filter(shares));
}
