"""Images: JPEGs, PNGs, folders, masks, arrays in memory, and frames of a video."""

# mypy: ignore-errors
# PyTorch is not there where types are checked.

import io
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

from evidence.jobs.families.family import Family, Parts, classifier, made_once, waits


def drawn(number: int, size: tuple[int, int]) -> Image.Image:
    """Return an image that its *number* draws, with detail as a photo has."""
    small = np.random.default_rng(number).random((size[1] // 16, size[0] // 16, 3)) * 255
    return Image.fromarray(small.astype("uint8")).resize(size, Image.Resampling.BICUBIC)


def jpeg(number: int, size: tuple[int, int]) -> bytes:
    """Return such an image as the bytes of a JPEG."""
    into = io.BytesIO()
    drawn(number, size).save(into, "jpeg", quality=90)
    return into.getvalue()


def write_images(folder: Path, count: int, size: tuple[int, int], suffix: str) -> None:
    """Write *count* images into a folder, in ten folders for their classes."""
    for number in range(count):
        path = folder / str(number % 10) / f"{number:05}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn(number, size).save(path, quality=90)


def tensor(image: Image.Image) -> torch.Tensor:
    """Return an image as numbers from 0 to 1, colours first."""
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255


class Crops(Dataset):
    """JPEGs, each cropped at random, flipped and made smaller."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*/*"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        image = Image.open(self.paths[number]).convert("RGB")
        side = int(min(image.size) * random.uniform(0.6, 1.0))
        left, top = (random.randrange(length - side + 1) for length in image.size)
        image = image.resize(
            (192, 192), Image.Resampling.BILINEAR, (left, top, left + side, top + side)
        )
        if random.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return tensor(image), number % 10


def crops(count: int) -> Parts:
    """Crops of photos, and a small network here."""
    folder = made_once(
        f"photos_{count}", lambda path: write_images(path, count, (640, 480), "jpg")
    )
    return Parts(Crops(folder), {"batch_size": 16, "shuffle": True}, classifier())


class Thumbnails(Crops):
    """PNGs as they are."""

    def __getitem__(self, number: int) -> Any:
        return tensor(Image.open(self.paths[number])), number % 10


def thumbnails(count: int) -> Parts:
    """Small PNGs, for an accelerator that is quick."""
    folder = made_once(
        f"thumbnails_{count}", lambda path: write_images(path, count, (128, 128), "png")
    )
    return Parts(Thumbnails(folder), {"batch_size": 32, "shuffle": True}, waits(0.020))


def folders(count: int) -> Parts:
    """A folder of images as torchvision reads it, with transforms of torchvision alone."""
    from torchvision import datasets, transforms

    folder = made_once(
        f"photos_{count}", lambda path: write_images(path, count, (640, 480), "jpg")
    )
    change = transforms.Compose(
        [
            transforms.RandomResizedCrop(160),
            transforms.RandomHorizontalFlip(),
            transforms.ColorJitter(0.2, 0.2, 0.2),
            transforms.ToTensor(),
        ]
    )
    data = datasets.ImageFolder(str(folder), change)
    return Parts(data, {"batch_size": 16, "shuffle": True}, classifier())


class Masks(Dataset):
    """Photos with a mask each, both rotated by the same angle."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*/*"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        image = Image.open(self.paths[number]).convert("RGB").resize((320, 240))
        mask = image.convert("L").point(lambda value: 255 * (value > 127))
        angle = random.uniform(-20, 20)
        turned = image.rotate(angle, Image.Resampling.BILINEAR)
        return tensor(turned), torch.from_numpy(np.array(mask.rotate(angle)))


def masks(count: int) -> Parts:
    """Segmentation, for an accelerator."""
    folder = made_once(
        f"photos_{count}", lambda path: write_images(path, count, (640, 480), "jpg")
    )
    return Parts(Masks(folder), {"batch_size": 8, "shuffle": True}, waits(0.030))


class InMemory(Dataset):
    """Images in memory, padded, cropped and flipped, as people do with CIFAR."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(0)
        self.images = draw.integers(0, 256, (count, 32, 32, 3), dtype="uint8")

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, number: int) -> Any:
        padded = np.pad(self.images[number], ((4, 4), (4, 4), (0, 0)))
        left, top = random.randrange(9), random.randrange(9)
        image = padded[top : top + 32, left : left + 32]
        image = image[:, ::-1] if random.random() < 0.5 else image
        return torch.from_numpy(image.transpose(2, 0, 1).astype("float32")), number % 10


def in_memory(count: int) -> Parts:
    """Small images in memory, and a small network here."""
    return Parts(InMemory(count), {"batch_size": 128, "shuffle": True}, classifier())


class Clips(Dataset):
    """Clips of eight frames of videos, which are JPEGs one after the other in a file."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.mjpg"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        frames = []
        with self.paths[number].open("rb") as file:
            count, *sizes = struct.unpack("65i", file.read(65 * 4))
            first = random.randrange(count - 8)
            file.seek(sum(sizes[:first]), io.SEEK_CUR)
            for size in sizes[first : first + 8]:
                image = Image.open(io.BytesIO(file.read(size))).resize((112, 112))
                frames.append(tensor(image))
        return torch.stack(frames), number % 10


def write_videos(folder: Path, count: int) -> None:
    """Write *count* videos of 64 frames."""
    folder.mkdir()
    for number in range(count):
        frames = [jpeg(64 * number + frame, (320, 240)) for frame in range(64)]
        head = struct.pack("65i", len(frames), *map(len, frames))
        (folder / f"{number:04}.mjpg").write_bytes(head + b"".join(frames))


def clips(count: int) -> Parts:
    """Clips of videos, for an accelerator."""
    folder = made_once(f"videos_{count}", lambda path: write_videos(path, count))
    return Parts(Clips(folder), {"batch_size": 4, "shuffle": True}, waits(0.040))


FAMILIES = [
    Family("crops", crops, 640),
    Family("thumbnails", thumbnails, 3200, {"num_workers": 2}),
    Family("folders", folders, 640, {"num_workers": 1}, ("torchvision",)),
    Family("masks", masks, 640),
    Family("in_memory", in_memory, 20_000, {"num_workers": 2}),
    Family("clips", clips, 80),
]
