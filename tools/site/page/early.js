// A worker that starts Python while the page still loads: with two cores both take no longer
// than one.
// JupyterLite's own worker, which then asks for Python, is a part of it.

import "WORKER";
import { loadPyodide } from "./PYTHON/start.mjs";

loadPyodide({});
