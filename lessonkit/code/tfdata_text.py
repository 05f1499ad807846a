"""What a program for tf.data consists of, beside the pipeline itself."""

from lessonkit.code.functions import WORK

PROGRAM = """{imports}

import tensorflow as tf


{build}

# Without these two, tf.data would add a prefetch of its own, and let few calls sleep at once.
options = tf.data.Options()
options.experimental_optimization.apply_default_optimizations = False
options.threading.private_threadpool_size = 16
dataset = dataset.with_options(options)

start = time.perf_counter()
for epoch in range({num_epochs}):
    for element in dataset{take}:
        {step}  # the training step
print(f"{{time.perf_counter() - start:.3f}} s")
"""

INNER = """def NAME({names}):
    made = {{
{rows}
    }}
    return tf.switch_case(tf.cast(tf.where({key} == [*made])[0, 0], tf.int32), [*made.values()])"""

# In the order in which they stand; each is written only if something after it needs it.
HELPERS = {
    "ArtificialDataset": '''
def ArtificialDataset(num_samples=3, open=0.03, read=0.015):
    """A file that is slow on purpose: it takes seconds to open it, and to read each sample."""

    def samples(num_samples, open, read):
        time.sleep(float(open))
        for sample in range(num_samples):
            time.sleep(float(read))
            yield sample

    return tf.data.Dataset.from_generator(
        samples, args=(num_samples, open, read), output_signature=tf.TensorSpec((), tf.int64)
    )
''',
    "work": WORK,
    "plain": '''
def plain(tensor):
    """A tensor as a Python number or text, or as an array."""
    value = tensor.numpy()
    return value.decode() if isinstance(value, bytes) else value if tensor.shape.rank else value.item()
''',
    "in_python": '''
def in_python(function, types):
    """Have tf.data call a function in Python, on plain values; *types* are those of its result."""

    def call(*parts):
        def run(*tensors):
            values = [plain(tensor) for tensor in tensors]
            result = function(*tf.nest.pack_sequence_as(parts, values))
            return [result] if isinstance(result, list) else tf.nest.flatten(result)

        results = tf.py_function(run, tf.nest.flatten(parts), tf.nest.flatten(types))
        return tf.nest.pack_sequence_as(types, results)

    return call
''',
}
