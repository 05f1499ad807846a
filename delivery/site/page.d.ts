// What the scripts in page/ find when the site is built, and TypeScript does not.

declare module "WORKER"; // that of JupyterLite
declare module "*/start.mjs"; // beside Python
declare module "*/pyodide.mjs";
declare module "*/widgets.js"; // the page's program
declare module "*/report.js"; // of the page's program

declare const jupyterapp: any;
declare function importScripts(...addresses: string[]): void; // in a worker

interface Window {
  jupyterapp?: typeof jupyterapp;
}
