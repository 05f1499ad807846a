// Bundles the page's program into lessonkit/widgets/page/built, or into the folder that is named.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const PAGE = join(import.meta.dirname, "../../lessonkit/widgets/page");
const [to = join(PAGE, "built")] = process.argv.slice(2);
// What browsers have had since the summer of 2022, as JupyterLab's own program asks for.
const COMMON = { bundle: true, minify: true, charset: "utf8", target: "es2022", write: false };
const BROWSERS = ["chrome103", "edge103", "firefox102", "safari15.4"];

// Rules that are nested in the source are written out: these browsers would leave them out.
/** @param {string} path of a style, which may import others */
async function smallStyle(path) {
  const { outputFiles } = await build({ ...COMMON, target: BROWSERS, entryPoints: [path] });
  return outputFiles[0].text.trim();
}

// A style is imported as text, and minified like all else.
const styles = {
  name: "styles",
  /** @param {import("esbuild").PluginBuild} building */
  setup(building) {
    building.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      return { contents: await smallStyle(path), loader: "text" };
    });
  },
};

/**
 * @param {string} name of the file that begins a program
 * @param {import("esbuild").BuildOptions} options
 */
async function bundle(name, options) {
  const entry = { entryPoints: [join(PAGE, name)], loader: { ".svg": "text" }, plugins: [styles] };
  const { outputFiles } = await build({ ...COMMON, ...entry, ...options });
  return outputFiles[0].text;
}

const files = {
  // What comes once to a page, what each widget carries, and the style of both.
  "host.js": await bundle("host.js", { format: "esm" }),
  "loader.js": await bundle("loader.js", { format: "esm" }),
  "style.css": `${await smallStyle(join(PAGE, "style.css"))}\n`,
  // The look alone, for pages around widgets.
  "look.css": `${await smallStyle(join(PAGE, "look.css"))}\n`,
  // A picture in a file of its own, and the two forms of that file.
  "by_itself.js": await bundle("alone/by_itself.js", { format: "iife", globalName: "lessonkit" }),
  "by_itself.html": await readFile(join(PAGE, "alone/by_itself.html"), "utf8"),
  "by_itself.mjs": await readFile(join(PAGE, "alone/by_itself.mjs"), "utf8"),
  // My report, for the first page of the site.
  "report.js": await bundle("lesson/report.js", { format: "esm" }),
};

await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
for (const [name, text] of Object.entries(files)) await writeFile(join(to, name), text);
