"""The programs of the tf.data guide run unchanged, and see what they see with TensorFlow."""

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lessonkit.engine.iteration
from evidence.tfdata import guide
from evidence.tfdata_cases import CORES, cases
from lessonkit import AUTOTUNE, Dataset, Machine

TEXT = np.dtype(object)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any) -> Any:  # noqa: N803
    """TensorFlow calls a function on tensors, and gives as many tensors as there are types."""
    result = func(*map(np.asarray, inp))
    return (
        tuple(np.asarray(part, dtype) for part, dtype in zip(result, Tout, strict=True))
        if Tout
        else ()
    )


TF = SimpleNamespace(
    data=SimpleNamespace(
        Dataset=Dataset,
        AUTOTUNE=AUTOTUNE,
        experimental=SimpleNamespace(AUTOTUNE=AUTOTUNE),
    ),
    dtypes=SimpleNamespace(int64=np.int64, int32=np.int32, float32=np.float32, string=TEXT),
    TensorSpec=lambda shape, dtype: SimpleNamespace(shape=shape, dtype=dtype),
    int64=np.int64,
    int32=np.int32,
    float32=np.float32,
    string=TEXT,
    zeros=np.zeros,
    concat=np.concatenate,
    tile=np.tile,
    py_function=py_function,
    print=lambda *_: None,
)


@pytest.fixture(scope="module")
def seen() -> Any:
    sleep = time.sleep
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tensorflow", TF)
        # The time is not looked at
        patch.setattr(time, "sleep", lambda seconds: sleep(seconds / 20))
        patch.setattr(lessonkit.engine.iteration, "FOUR_CORES", Machine(CORES))
        return guide.run()


MEASURED = {case["title"]: case["epochs"] for case in cases("tfdata_guide_elements")}


@pytest.mark.parametrize("title", MEASURED)
def test_a_program_of_the_guide_sees_what_it_sees_with_tensorflow(
    seen: Any, title: str
) -> None:
    assert seen[title] == MEASURED[title]
