// What a learner has saved, in this browser's own storage, where JupyterLite puts it; and all of it
// as one file, with the report.

const here = new URL(".", import.meta.url);
const NAME = `JupyterLite Storage - ${here.pathname}`;

// Opens what is there and makes nothing: an empty one would be in JupyterLite's way. A browser that
// can list what is there is not asked to open anything else: if a reader left the page before that
// was taken back, every later page of the site would wait for ever.
async function open() {
  const all = await indexedDB.databases?.();
  if (all?.every(({ name }) => name !== NAME)) return null;
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(NAME);
    asked.onupgradeneeded = () => asked.transaction.abort();
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => (asked.error.name === "AbortError" ? resolve(null) : reject(asked.error));
  });
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Returns the saved files by path; null if the browser keeps nothing.
export async function saved() {
  try {
    const storage = await open();
    if (!storage?.objectStoreNames.contains("files")) return new Map();
    const files = storage.transaction("files").objectStore("files");
    const [keys, values] = await Promise.all([done(files.getAllKeys()), done(files.getAll())]);
    storage.close();
    return new Map(keys.map((key, place) => [key, values[place]]));
  } catch {
    return null;
  }
}

// Puts files at paths, and takes those away for which there is null.
export async function keep(changes) {
  const storage = await open();
  const files = storage.transaction("files", "readwrite").objectStore("files");
  const make = ([path, file]) => done(file ? files.put(file, path) : files.delete(path));
  await Promise.all(changes.map(make));
  storage.close();
}

// Returns all saved files, and the report, as names and bytes; where nothing is saved at all, the
// lesson that is *open*.
export async function allWork(...open) {
  const { filesOf, reportOf } = await import("./report.js");
  const report = reportOf(here.pathname.replace(/\/$/, ""));
  const told = report.records.length ? filesOf(report) : [];
  const texts = told.map(([path, content]) => ({ path, content }));
  const files = [...((await saved())?.values() ?? open), ...texts];
  return files.filter(({ type }) => type !== "directory").map(({ path, content, format }) => {
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 1);
    const unpacked = () => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const bytes = format === "base64" ? unpacked() : new TextEncoder().encode(text);
    return [path, bytes];
  });
}

const CRC = Array.from({ length: 256 }, (_, number) => {
  let sum = number;
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = sum & 1;
    sum >>>= 1;
    if (isOdd) sum ^= 0xedb88320;
  }
  return sum;
});

// Gives the learner one archive, in which nothing is compressed.
export function zip(files, name) {
  const parts = [];
  const list = [];
  let offset = 0;
  for (const [path, bytes] of files) {
    const title = new TextEncoder().encode(path);
    const crc = ~bytes.reduce((sum, byte) => CRC[(sum ^ byte) & 255] ^ (sum >>> 8), -1);
    // Version, names in UTF-8, not compressed, and a date that is always the same.
    const about = [20, 0x800, 0, 0, 0x21];
    const head = record(0x04034b50, about, [crc, bytes.length, bytes.length], [title.length, 0]);
    parts.push(head, title, bytes);
    const sizes = [crc, bytes.length, bytes.length];
    const names = [title.length, 0, 0, 0, 0];
    list.push(record(0x02014b50, [20, ...about], sizes, names, [0, offset]), title);
    offset += head.length + title.length + bytes.length;
  }
  const size = list.reduce((sum, part) => sum + part.length, 0);
  const end = record(0x06054b50, [0, 0, files.length, files.length], [size, offset], [0]);
  const file = new Blob([...parts, ...list, end], { type: "application/zip" });
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// Numbers of a zip's header: a mark of four bytes, then by turns groups of two and of four bytes
// each.
function record(mark, ...groups) {
  const bytes = [mark, mark >>> 8, mark >>> 16, mark >>> 24];
  groups.forEach((group, turn) => {
    for (const value of group) {
      bytes.push(value, value >>> 8);
      if (turn % 2) bytes.push(value >>> 16, value >>> 24);
    }
  });
  return Uint8Array.from(bytes);
}

// A note in this browser: tells it, or keeps another *value*.
export function recall(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // The browser keeps nothing; the line above the lesson says so.
  }
  return null;
}

// Whether a note as long as an answer would be kept.
export function hasRoom() {
  const [name, note] = [`lessons room ${here.pathname}`, "x".repeat(2000)];
  recall(name, note);
  const isKept = recall(name) === note;
  recall(name, "");
  return isKept;
}
