// In the place of Pyodide's own start: the kernel calls this, and finds all packages in one
// archive.

const here = new URL(".", import.meta.url).href;
const site = new URL("..", here).pathname; // where site.js is
const told = new BroadcastChannel(`lessons ${site}`);

// The largest files are packed for the way, whatever the server does; what asks for them gets them
// as they were.
const BIG = ["pyodide.asm.wasm", "python_stdlib.zip", "packages.zip"].map((name) => here + name);
const plain = globalThis.fetch;

async function unpacking(asked, ...options) {
  const address = String(asked?.url ?? asked);
  if (!BIG.includes(address)) return plain(asked, ...options);
  const { ok, status, body } = await plain(`${address}.packed`);
  const type = address.endsWith(".wasm") ? "application/wasm" : "application/zip";
  const headers = { "content-type": type };
  if (!ok) return new Response(null, { status, headers });
  const { readable, writable } = new DecompressionStream("gzip");
  // What reads the other end may wait for ever.
  body.pipeThrough(counting()).pipeTo(writable).catch(fail);
  return new Response(readable, { headers });
}

// How much has come of all of them, for who waits.
let come = 0;

function counting() {
  const transform = (part, next) => {
    next.enqueue(part);
    come += part.length;
    told.postMessage(come);
  };
  return new TransformStream({ transform });
}

let hasFailed = false;

// Said once: the next page, loaded at the first word, would hear a second and take it for its own.
function fail() {
  if (!hasFailed) told.postMessage("failed");
  hasFailed = true;
}

// Begun once in a worker; who asks last is told what Python writes.
let begun = null;
let listener = {};

export function loadPyodide(options) {
  listener = options;
  begun ??= start().catch((error) => {
    fail();
    throw error;
  });
  return begun;
}

async function start() {
  // The page has said that there will be no Python.
  const isAble = typeof WebAssembly === "object" && typeof DecompressionStream === "function";
  if (!isAble) await new Promise(() => 0);
  globalThis.fetch = unpacking;
  const packages = fetch(`${here}packages.zip`).then((answer) => answer.arrayBuffer());
  const { loadPyodide: load } = await import("./pyodide.mjs");
  const python = await load({
    stdout: (text) => listener.stdout?.(text),
    stderr: (text) => listener.stderr?.(text),
    indexURL: here,
    packages: [], // they are in the archive
    env: { PYTHONPATH: "/lib/packages.zip" },
    fsInit: async (fs) => {
      fs.writeFile("/lib/packages.zip", new Uint8Array(await packages));
      told.postMessage("Starting Python"); // all of it is here
    },
  });
  // A learner's own modules come last: each look into the folder of lessons asks the page.
  python.runPython("import sys; sys.path.sort(key=''.__eq__); import left_out");
  python.pyimport("left_out").look_for_more(`${here}more.zip`);
  // What the kernel imports next, and then every lesson.
  python.runPython("import pyodide_kernel, lessonkit.analysis, lessonkit.plot, lessonkit.widgets");
  told.postMessage("Starting the lesson");
  return python;
}
