"""Helper functions of programs, in their order: each is written only if something after it needs it."""

import re
from collections.abc import Iterable

WORK = '''def work(seconds, stage=None, kind="wait"):
    """Stands for work that takes so many seconds."""
    time.sleep(seconds)'''
ARTIFICIAL = '''def artificial(num_samples, open, read):
    """A file that is slow on purpose: it takes seconds to open it, and to read each sample."""
    time.sleep(float(open))
    for sample in range(num_samples):
        time.sleep(float(read))
        yield sample'''
ARTIFICIAL_DATASET = """def ArtificialDataset(num_samples=3, open=0.03, read=0.015):
    return tf.data.Dataset.from_generator(
        artificial, args=(num_samples, open, read), output_signature=tf.TensorSpec((), tf.int64)
    )"""
PLAIN = '''def plain(tensor):
    """A tensor as a Python number or text, or as an array."""
    value = tensor.numpy()
    return TEXT if isinstance(value, bytes) else value if tensor.shape.rank else value.item()'''
IN_PYTHON = '''def in_python(function, types):
    """Have tf.data call a function in Python, on plain values; *types* are those of its result."""

    def call(*parts):
        def run(*tensors):
            values = [plain(tensor) for tensor in tensors]
            result = function(*tf.nest.pack_sequence_as(parts, values))
            return [result] if isinstance(result, list) else tf.nest.flatten(result)

        results = tf.py_function(run, tf.nest.flatten(parts), tf.nest.flatten(types))
        return tf.nest.pack_sequence_as(types, results)

    return call'''
ITERTOOLS = ("chain", "islice")
HELPERS = {
    "artificial": ARTIFICIAL,
    "ArtificialDataset": ARTIFICIAL_DATASET,
    "work": WORK,
    "plain": PLAIN.replace("TEXT", "value.decode()"),
    "in_python": IN_PYTHON,
}
# Where elements hold bytes that are no text
OF_BYTES = {"plain": PLAIN.replace("TEXT", "value")}


def text_of(imports: set[str], parts: list[str], helpers: dict[str, str] = HELPERS) -> str:
    """Return a program of *parts*, with those of the *helpers* that they need, after its *imports*."""
    for name, helper in reversed(helpers.items()):
        if re.search(rf"\b{name}[(,]", "\n".join(parts)):
            parts = [helper, *parts]
    whole = "\n\n\n".join(parts) + "\n"
    imports = {"import time", *imports, *imports_from("itertools", ITERTOOLS, whole)}
    first = sorted(
        imports, key=lambda line: ("__future__" not in line, line.startswith("from"), line)
    )
    return "\n".join([*first, "", "", whole])


def imports_from(module: str, names: Iterable[str], text: str) -> list[str]:
    """Return the import of those *names* of a *module* that a *text* needs, if there are any."""
    used = [name for name in names if re.search(rf"\b{name}\b", text)]
    return [f"from {module} import {', '.join(used)}"] if used else []
