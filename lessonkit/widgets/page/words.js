// A bar in words.

function who(scene, bar) {
  const stage = scene.rows[scene.bars.row[bar]][0];
  const label = scene.bars.label[bar];
  if (!label) return stage;
  return /^\D+$/.test(label) ? `${stage}, file ${label}` : `${stage}, sample ${label}`;
}

const WAITS = {
  "buffer full": (place) => `there is no place in ${place}`,
  "buffer empty": (place) => `nothing is ready in ${place}`,
  "no core": () => "every core is busy",
  "interpreter lock held": () => "another call holds the interpreter lock",
  "in the queue": () => "its worker is busy with another batch",
  "out of turn": () => "it is ready, and a batch before it is not",
};

function sentence(scene, bar) {
  const { start, length, kind, note, cause } = scene.bars;
  const span = `${time(length[bar])}, from ${time(start[bar])} to ${time(start[bar] + length[bar])}`;
  if (kind[bar] === "idle") return [`The accelerator waits ${span}.`, note[bar] ? `It waits for ${note[bar]}.` : ""];
  if (kind[bar] === "start") return [`A worker starts: ${span}.`, ""];
  if (kind[bar]) {
    const why = (WAITS[kind[bar]] || (() => kind[bar]))(note[bar]);
    return [`${who(scene, bar)} waits ${span}:`, `${why}.`];
  }
  const before = cause[bar];
  if (before < 0) return [`${who(scene, bar)}:`, `${span}. It began at once.`];
  const ended = start[before] + length[before];
  const waited = start[bar] - ended;
  const then = waited > 0 ? `, ${time(waited)} later` : "";
  return [`${who(scene, bar)}:`, `${span}. It began when ${who(scene, before)} ended${then}.`];
}

function holds(scene, bar, sample) {
  const found = scene.bars.who[bar];
  return Array.isArray(found) ? found.includes(sample) : found === sample && sample > 0;
}

// The bars of the same sample, or of any sample in the same batch.
function journey(scene, bar) {
  const found = scene.bars.who[bar];
  const samples = Array.isArray(found) ? found : found > 0 ? [found] : [];
  const others = scene.bars.who.map((_, other) => other);
  return new Set(others.filter((other) => other === bar || samples.some((one) => holds(scene, other, one))));
}
