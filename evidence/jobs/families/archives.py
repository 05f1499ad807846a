"""Many samples in one file: HDF5, Zarr, tar, zip, compressed arrays, and Hugging Face's tables."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from evidence.jobs.families.family import Family, Parts, classifier, made_once, waits
from evidence.jobs.families.vision import jpeg, tensor

SHAPE = (48, 64, 64)  # of an array, in its file
SHARDS = 8


def volume(number: int) -> np.ndarray:
    """Return an array that its *number* draws, and that can be compressed."""
    draw = np.random.default_rng(number)
    return np.round(draw.normal(size=SHAPE), 1).astype("float32")


class InHdf5(Dataset):
    """Arrays of an HDF5 file, compressed by chunks; each process opens it."""

    def __init__(self, path: Path, count: int) -> None:
        self.path = path
        self.count = count
        self.file: Any = None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> torch.Tensor:
        import h5py

        if self.file is None:
            self.file = h5py.File(self.path)
        return torch.from_numpy(self.file["volumes"][number])


def write_hdf5(path: Path, count: int) -> None:
    """Write *count* arrays into an HDF5 file."""
    import h5py

    with h5py.File(path, "w") as file:
        made = file.create_dataset(
            "volumes", (count, *SHAPE), "float32", chunks=(1, *SHAPE), compression="gzip"
        )
        for number in range(count):
            made[number] = volume(number)


def hdf5(count: int) -> Parts:
    """Arrays of HDF5, for an accelerator."""
    path = made_once(f"volumes_{count}.h5", lambda path: write_hdf5(path, count))
    return Parts(InHdf5(path, count), {"batch_size": 4, "shuffle": True}, waits(0.020))


class InZarr(InHdf5):
    """Arrays of a Zarr store, a file for each chunk."""

    def __getitem__(self, number: int) -> torch.Tensor:
        import zarr

        if self.file is None:
            self.file = zarr.open_array(self.path, mode="r")
        return torch.from_numpy(self.file[number])


def write_zarr(path: Path, count: int) -> None:
    """Write *count* arrays into a Zarr store."""
    import zarr

    made = zarr.create_array(
        path, shape=(count, *SHAPE), chunks=(1, *SHAPE), dtype="float32"
    )
    for number in range(count):
        made[number] = volume(number)


def in_zarr(count: int) -> Parts:
    """Arrays of Zarr, for an accelerator."""
    path = made_once(f"volumes_{count}.zarr", lambda path: write_zarr(path, count))
    return Parts(InZarr(path, count), {"batch_size": 4, "shuffle": True}, waits(0.020))


class Compressed(Dataset):
    """NumPy's compressed files, one for a sample."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.npz"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> torch.Tensor:
        with np.load(self.paths[number]) as file:
            return torch.from_numpy(file["volume"])


def write_compressed(folder: Path, count: int) -> None:
    """Write *count* compressed arrays."""
    folder.mkdir()
    for number in range(count):
        np.savez_compressed(folder / f"{number:04}.npz", volume=volume(number))


def compressed(count: int) -> Parts:
    """Compressed arrays, for an accelerator."""
    folder = made_once(f"compressed_{count}", lambda path: write_compressed(path, count))
    return Parts(Compressed(folder), {"batch_size": 4, "shuffle": True}, waits(0.015))


class Zipped(Dataset):
    """JPEGs in a zip file; each process opens it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with zipfile.ZipFile(path) as file:
            self.names = file.namelist()
        self.file: zipfile.ZipFile | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> Any:
        if self.file is None:
            self.file = zipfile.ZipFile(self.path)
        image = Image.open(io.BytesIO(self.file.read(self.names[number])))
        return tensor(image.resize((160, 160))), number % 10

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "file": None}


def write_zip(path: Path, count: int) -> None:
    """Write *count* JPEGs into a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for number in range(count):
            file.writestr(f"{number:05}.jpg", jpeg(number, (400, 300)))


def zipped(count: int) -> Parts:
    """JPEGs in a zip file, and a small network here."""
    path = made_once(f"photos_{count}.zip", lambda path: write_zip(path, count))
    return Parts(Zipped(path), {"batch_size": 16, "shuffle": True}, classifier())


class Shards(IterableDataset):
    """JPEGs in tar files, which workers share out."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.tar"))

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        mine = self.paths[info.id :: info.num_workers] if info else self.paths
        for path in mine:
            with tarfile.open(path) as file:
                for member in file:
                    image = Image.open(file.extractfile(member))
                    yield tensor(image.resize((160, 160))), int(Path(member.name).stem) % 10


def write_shards(folder: Path, count: int) -> None:
    """Write *count* JPEGs into tar files."""
    folder.mkdir()
    for shard in range(SHARDS):
        with tarfile.open(folder / f"{shard:02}.tar", "w") as file:
            for number in range(shard, count, SHARDS):
                content = jpeg(number, (400, 300))
                member = tarfile.TarInfo(f"{number:05}.jpg")
                member.size = len(content)
                file.addfile(member, io.BytesIO(content))


def shards(count: int) -> Parts:
    """JPEGs in tar files, for an accelerator."""
    folder = made_once(f"shards_{count}", lambda path: write_shards(path, count))
    return Parts(Shards(folder), {"batch_size": 16}, waits(0.020))


def hugging_face(count: int) -> Parts:
    """Rows of Hugging Face's `datasets`, which give a batch at once."""
    from datasets import Dataset as Table
    from datasets import load_from_disk

    def write(path: Path) -> None:
        draw = np.random.default_rng(0)
        tokens = draw.integers(0, 30_000, (count, 256)).tolist()
        Table.from_dict({"tokens": tokens, "label": [*range(count)]}).save_to_disk(path)

    path = made_once(f"hugging_face_{count}", write)
    data = load_from_disk(str(path)).with_format("torch")
    return Parts(data, {"batch_size": 32, "shuffle": True}, waits(0.010))


FAMILIES = [
    Family("hdf5", hdf5, 320, needs=("h5py",)),
    Family("zarr", in_zarr, 320, needs=("zarr",)),
    Family("compressed", compressed, 320, {"num_workers": 1}),
    Family("zipped", zipped, 640),
    Family("shards", shards, 640, {"num_workers": 2}),
    Family("hugging_face", hugging_face, 6400, needs=("datasets",)),
]
