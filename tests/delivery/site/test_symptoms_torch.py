"""The code on the pages of symptoms runs with PyTorch itself."""

import tarfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.fenced_code import BLOCKS

from delivery.site import symptoms
from lessonkit.engine.workers.forked import CAN_FORK

torch: Any = pytest.importorskip("torch")

if not CAN_FORK:
    pytest.skip(
        "these loaders are made for workers that are forked", allow_module_level=True
    )

# There may be fewer cores here than workers in an answer
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
SAMPLES = 3840  # 120 batches of 32


class Numbers(torch.utils.data.Dataset):  # type: ignore[misc]
    """Gives each index, and a random number if somebody has given it a generator."""

    random: Random | None = None

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        return torch.tensor([index, self.random.random() if self.random else 0.0])


def load(number: int) -> int:
    """Do little with a *number*, in a process if asked."""
    return number + 1


def run(name: str) -> dict[str, Any]:
    """Run the Python of an answer as a program would; return its names, among them the *seen* batches."""
    seen: list[Any] = []
    names = {
        "__name__": "__main__",
        "torch": torch,
        "DataLoader": torch.utils.data.DataLoader,
        "Dataset": torch.utils.data.Dataset,
        "dataset": Numbers(),
        "loader": torch.utils.data.DataLoader(Numbers(), batch_size=16),
        "model": torch.nn.Linear(1, 1),
        "build_model": lambda: torch.nn.Linear(1, 1),
        "step": seen.append,
        "seen": seen,
        "rank": 0,
        "load": load,
        "paths": range(200),
        "texts": ["a word", "", "and more"],
        "tokenise": lambda text: [ord(letter) for letter in text],
    }
    text = symptoms.answers()[name]
    for language, code in BLOCKS.findall(text):
        if language == "python" and "tf.data" not in code:
            exec(compile(code, name, "exec"), names)
    return names


@pytest.mark.parametrize(
    "name",
    [
        "gpu-idle",
        "how-many-workers",
        "more-workers-no-gain",
        "suggested-max",
        "bootstrapping",
        "how-many-cores",
        "first-batch-slow",
        "pause-each-epoch",
        "one-batch-late",
        "bus-error",
        "too-many-files",
        "eight-machines",
        "python-3-14",
        "threads-gain-nothing",
        "worker-error",
        "stops-without-error",
    ],
)
def test_it_runs(name: str) -> None:
    run(name)


def test_each_epoch_has_all_batches_although_the_workers_stay() -> None:
    assert len(run("first-batch-slow")["seen"]) == 3 * SAMPLES // 32


def test_every_line_comes_once(tmp_path: Path) -> None:
    paths = [tmp_path / str(file) for file in range(5)]
    for file, path in enumerate(paths):
        path.write_text(f"{file} a\n{file} b\n")
    lines = run("samples-twice")["Lines"](paths)
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(lines, batch_size=2, num_workers=workers)
        got = [line for batch in loader for line in batch]
        assert sorted(got) == [f"{file} {end}\n" for file in range(5) for end in "ab"]


def test_no_two_workers_draw_the_same_numbers() -> None:
    drawn = torch.cat([batch[:, 1] for batch in run("workers-augment-alike")["loader"]])
    assert len(drawn.unique()) > 0.99 * SAMPLES


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this is not Linux")
def test_a_kept_tensor_holds_a_file_open_and_its_copy_does_not() -> None:
    def held(keep: Any) -> int:
        before = len(list(Path("/proc/self/fd").iterdir()))
        loader = torch.utils.data.DataLoader(Numbers(), batch_size=64, num_workers=1)
        kept = [keep(batch) for batch in loader]
        assert len(kept) == SAMPLES // 64
        return len(list(Path("/proc/self/fd").iterdir())) - before

    assert held(lambda batch: batch) >= SAMPLES // 64
    assert held(torch.clone) < 5


def test_texts_in_a_tensor_are_the_texts() -> None:
    texts = ["", "one", "zwölf", "three"]
    kept = run("memory-grows")["Texts"](texts)
    assert [kept[index] for index in range(len(texts))] == texts


def test_tokens_are_those_of_the_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = run("tokenising")["Tokens"]("tokens.bin", 7)
    assert len(rows) == 2
    assert (
        "".join(chr(token) for row in range(2) for token in rows[row]) == "a wordand more"
    )


@pytest.mark.filterwarnings("ignore:'set_vital':UserWarning")  # torchdata calls it
def test_a_resumed_loader_goes_on_with_the_next_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torchdata")
    monkeypatch.chdir(tmp_path)
    names = run("same-samples-again")
    rest = list(names["loader"])
    assert len(rest) == SAMPLES // 32 - 100
    assert all(map(torch.equal, rest, names["seen"][100:]))


def test_the_job_to_begin_with_trains() -> None:
    ((_, program),) = [
        block for block in BLOCKS.findall(symptoms.own_job()) if block[0] == "python"
    ]
    names: dict[str, Any] = {}
    exec(compile(program, "mine.py", "exec"), names)
    names["step"](next(iter(names["loader"])))
    assert all(weight.grad is not None for weight in names["model"].parameters())


def test_the_loops_of_the_first_page_keep_no_batch_in_shared_memory() -> None:
    """A kept batch of a worker stays in /dev/shm, and fifty may be all of it."""
    assert "list(islice(loader" not in symptoms.answers()["gpu-idle"]


def test_files_of_one_sample_stay_neighbours_in_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.jpg").write_bytes(b"image")
        (folder / f"{number}.cls").write_bytes(b"label")
    run("small-files")
    with tarfile.open("shard-0000.tar") as tar:
        stems = [Path(name).stem for name in tar.getnames()]
    assert stems[::2] == stems[1::2]
    assert len(set(stems)) == 50
    assert stems != sorted(stems, key=int)


def test_what_a_dataset_decoded_is_one_tensor() -> None:
    names = run("augmentation-frozen")
    names["decode"] = lambda path: torch.full((2, 2), int(path), dtype=torch.uint8)
    names["augment"] = lambda image: image + 1
    images = names["Images"](["3", "4"])
    assert images.images.dtype == torch.uint8
    assert [image.tolist() for image in images] == [[[4, 4]] * 2, [[5, 5]] * 2]
