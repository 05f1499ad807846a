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
  "storage busy": () => "others read from the storage, too",
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
  const waited = start[bar] - start[before] - length[before];
  const then = waited > 0 ? `, ${time(waited)} later` : "";
  return [`${who(scene, bar)}:`, `${span}. It began when ${who(scene, before)} ended${then}.`];
}

// The bars of the same sample, or of any sample in the same batch.
function journey(scene, bar) {
  const samples = scene.bars.who.map((found) => [found].flat().filter((sample) => sample > 0));
  const shares = (other) => other === bar || samples[other].some((sample) => samples[bar].includes(sample));
  return new Set([...samples.keys()].filter(shares));
}
