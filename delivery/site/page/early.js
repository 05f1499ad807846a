// A worker that starts Python while the page still loads: on two cores both go on at the same time.
// JupyterLite's own worker, which asks for Python later, is a part of it.

import "WORKER";
import { loadPyodide } from "./PYTHON/start.mjs";

loadPyodide({});
