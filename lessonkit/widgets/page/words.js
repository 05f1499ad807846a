// A bar in words.

function who(scene, bar) {
  const stage = scene.rows[scene.bars.row[bar]][0];
  const label = scene.bars.label[bar];
  if (!label || scene.bars.kind[bar] === "count") return stage;
  if (/^\D+$/.test(label)) return `${stage}, file ${label}`;
  const samples = scene.bars.note[bar];
  if (Array.isArray(scene.bars.who[bar])) {
    return `${stage}, batch ${label}${samples && ` (${samples})`}`;
  }
  // What a step trains on may be a whole batch, and no batch says how many samples it has.
  return `${stage}, ${scene.unit === "samples" ? "sample" : "element"} ${label}`;
}

// A text in which a name takes the place of "{}"; of "Map: 2 calls" only "Map".
const filled = (text, name) => text.replace("{}", () => name.split(":")[0]);

// Each a whole sentence, or a title and a sentence: what a bar is, and why.
function sentence(scene, bar) {
  const { start, length, kind, note } = scene.bars, name = who(scene, bar);
  const [long, from, to] = [length[bar], start[bar], start[bar] + length[bar]].map(time);
  const span = `${long}, from ${from} to ${to}.`;
  if (kind[bar] === "start") return [`A worker starts: ${span}`, ""];
  if (!kind[bar]) return [`${name}:`, `${span} ${beginning(scene, bar)}`];
  if (kind[bar] === "count") return [`${name}:`, `${held(scene, bar)} for ${span}`];
  const why = filled(scene.waits[kind[bar]][2], note[bar]);
  if (kind[bar] !== "idle") return [`${name} waits ${span}`, why];
  return [`The accelerator waits ${span}`, note[bar] ? why : ""];
}

// What a step counts.
function held({ bars, rows }, bar) {
  const things = rows[bars.row[bar]][0] === "Queue" ? ["index list", "s"] : ["batch", "es"];
  return `${bars.label[bar]} ${things[0]}${bars.label[bar] > 1 ? things[1] : ""}`;
}

// What a bar had to wait for.
function beginning(scene, bar) {
  const { start, length, cause } = scene.bars, before = cause[bar];
  if (before < 0) return "It began immediately.";
  const name = who(scene, before), gap = start[bar] - start[before] - length[before];
  return gap > 0 ? `It began ${time(gap)} after ${name} ended.` : `It began when ${name} ended.`;
}

// The bars of the same sample, or of any sample in the same batch.
function journey(scene, bar) {
  const samples = scene.bars.who.map((found) => [found].flat().filter((sample) => sample > 0));
  const isShared = (sample) => samples[bar].includes(sample);
  const isPart = (other) => other === bar || samples[other].some(isShared);
  return new Set([...samples.keys()].filter(isPart));
}
