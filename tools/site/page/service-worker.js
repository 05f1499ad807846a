// Keeps what never changes for the next visit, also without a network; all else is JupyterLite's own worker's.

const KEPT = "lessons VERSION";
const LASTING = /\/(build|extensions|python-\w+)\/.*\.(m?js|css|wasm|zip|whl|woff2?|svg)$/; // their names change with what is in them

// A page goes on with the worker that it began with, so its parts always belong together.
self.skipWaiting = async () => {};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !LASTING.test(pathname)) return;
  event.stopImmediatePropagation();
  event.respondWith(caches.match(request).then((found) => found ?? fetchAndKeep(request)));
});

async function fetchAndKeep(request) {
  const answer = await fetch(request);
  if (answer.status === 200) {
    const copy = answer.clone();
    // Where there is no room for it, the page works all the same.
    caches.open(KEPT).then((cache) => cache.put(request, copy)).catch(() => 0);
  }
  return answer;
}

// What a page had fetched before this worker was there.
self.addEventListener("message", async ({ data }) => {
  if (!Array.isArray(data)) return;
  const cache = await caches.open(KEPT);
  for (const address of data) {
    if (LASTING.test(new URL(address).pathname) && !(await cache.match(address))) await cache.add(address).catch(() => 0);
  }
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("lessons ") && name !== KEPT);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))));
});

importScripts("jupyterlite-worker.js");
