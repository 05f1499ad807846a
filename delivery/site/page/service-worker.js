// Keeps what never changes for the next visit, and of the rest what came last for when there is no
// network: so all lessons open offline after one visit. What else is asked for is JupyterLite's own
// worker's.

// Other sites may have the same origin: each has caches of its own, by its folder.
const OURS = `lessons ${new URL(".", location.href).pathname} `;
const KEPT = `${OURS}VERSION`;

// The names of these files change with what is in them.
const LASTING = /\/(build|extensions|python-\w+)\/.*\.(m?js|css|packed|zip|whl|woff2?|svg)$/;

// Pages, lessons and what lists them: from the network, if there is one.
const FRESH = /\/([\w-]*\.?(html|js|css|json|ipynb|py|webmanifest)|files\/[^/]+|)$/;

// TypeScript takes what is global here for that of a page.
const worker = /** @type {any} */ (self);

// A page goes on with the worker that it began with, so its parts always belong together.
worker.skipWaiting = async () => {};

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !isKept(pathname)) return;
  event.stopImmediatePropagation();
  if (LASTING.test(pathname)) event.respondWith(keptOrFetched(request));
  else event.respondWith(fetchedOrKept(request));
});

const isKept = (pathname) => LASTING.test(pathname) || isFresh(pathname);

// Not what JupyterLite's own worker answers itself.
function isFresh(pathname) {
  return FRESH.test(pathname) && !/\/api\/(?!contents|translations)/.test(pathname);
}

// *asked* is a request or an address.
async function kept(asked) {
  const { pathname } = new URL(asked.url ?? asked);
  const cache = await caches.open(KEPT);
  return cache.match(asked, { ignoreSearch: !LASTING.test(pathname) });
}

async function keptOrFetched(request) {
  return (await kept(request)) ?? fetchAndKeep(request);
}

async function fetchedOrKept(request) {
  try {
    return await fetchAndKeep(request);
  } catch (error) {
    const found = await kept(request);
    if (found) return found;
    throw error;
  }
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
worker.addEventListener("message", async ({ data }) => {
  if (!Array.isArray(data)) return;
  const cache = await caches.open(KEPT);
  for (const address of data) {
    if (!isKept(new URL(address).pathname) || (await kept(address))) continue;
    await cache.add(address).catch(() => 0);
  }
});

worker.addEventListener("activate", (event) => event.waitUntil(dropOlder()));

async function dropOlder() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(OURS) && name !== KEPT);
  await Promise.all(old.map((name) => caches.delete(name)));
}

importScripts("jupyterlite-worker.js");
