// Keeps what never changes for the next visit, and of the rest what came last for when there is no network: so all
// lessons open offline after one visit. What else is asked for is JupyterLite's own worker's.

const KEPT = "lessons VERSION";
const LASTING = /\/(build|extensions|python-\w+)\/.*\.(m?js|css|packed|zip|whl|woff2?|svg)$/; // their names change with what is in them

// Pages, lessons and what lists them: from the network, if there is one.
const FRESH = /\/([\w-]*\.?(html|js|css|json|ipynb|py|webmanifest)|files\/[^/]+|)$/;

// A page goes on with the worker that it began with, so its parts always belong together.
self.skipWaiting = async () => {};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !(LASTING.test(pathname) || isFresh(pathname))) return;
  event.stopImmediatePropagation();
  const kept = () => caches.match(request, { ignoreSearch: !LASTING.test(pathname) });
  if (LASTING.test(pathname)) event.respondWith(kept().then((found) => found ?? fetchAndKeep(request)));
  else event.respondWith(fetchAndKeep(request).catch(async (error) => (await kept()) ?? Promise.reject(error)));
});

// Not what JupyterLite's own worker answers itself.
function isFresh(pathname) {
  return FRESH.test(pathname) && !/\/api\/(?!contents|translations)/.test(pathname);
}

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
    const { pathname } = new URL(address);
    if (!(LASTING.test(pathname) || isFresh(pathname))) continue;
    if (!(await cache.match(address, { ignoreSearch: !LASTING.test(pathname) }))) await cache.add(address).catch(() => 0);
  }
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("lessons ") && name !== KEPT);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))));
});

importScripts("jupyterlite-worker.js");
