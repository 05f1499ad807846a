// Runs Pyodide once, imports what a lesson imports, and keeps what was compiled for it:
//     node compile.mjs FOLDER RESULT
// FOLDER has the runtime, python_stdlib.zip and packages.zip.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, result] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({
  indexURL: `${folder}/`,
  env: { PYTHONPATH: "/lib/packages.zip", PYTHONNODEBUGRANGES: "1" }, // no columns: they are a fifth of it
  fsInit: async (fs) => fs.writeFile("/lib/packages.zip", readFileSync(`${folder}/packages.zip`)),
});
python.runPython(`
import pyodide_kernel, anywidget, databound, lessonkit.analysis, lessonkit.widgets
import ast, importlib.util, marshal, re, struct, sys, zipfile, zipimport

ast.unparse(ast.parse("1"))  # which imports one more, and formulas need it

# A module that says itself that it is current: the archive is written only once.
HEAD = importlib.util.MAGIC_NUMBER + struct.pack("<I", 1) + bytes(8)
ROOT = "/lib/packages.zip/"
OURS = re.compile(r"((lessonkit|databound)/.*|\\w+_\\d\\d)[.]py")  # the packages, and what stands beside the lessons

with zipfile.ZipFile("/compiled.zip", "w") as compiled:
    def add(archive, path, origin, source, optimize):
        code = compile(source, origin, "exec", dont_inherit=True, optimize=optimize)
        compiled.writestr(f"{archive}/{path}c", HEAD + marshal.dumps(code))

    for name, module in sorted(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        loader = getattr(spec, "loader", None)
        if spec and isinstance(loader, zipimport.zipimporter) and spec.origin.endswith(".py") and not name.startswith(("lessonkit", "databound")):
            archive = "packages.zip" if "packages" in loader.archive else "python_stdlib.zip"
            # Nobody asks these for their documentation, but what Pyodide has of its own is made of it.
            optimize = 0 if name.startswith(("pyodide", "_pyodide")) else 2
            add(archive, spec.origin.removeprefix(loader.archive + "/"), spec.origin, loader.get_source(spec.name), optimize)
    with zipfile.ZipFile(ROOT[:-1]) as packages:
        for path in filter(OURS.fullmatch, packages.namelist()):
            add("packages.zip", path, ROOT + path, packages.read(path), 0)
`);
writeFileSync(result, python.FS.readFile("/compiled.zip"));
process.exit(0);
