"""Two jobs for PyTorch's loader whose steps run on a GPU: images for a ResNet-50, texts for a transformer.

They make their data when they are first used. Needs PyTorch with CUDA, torchvision and Pillow.
"""

import io
import random
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

DATA = Path(tempfile.gettempdir()) / "lessonkit_gpu_jobs"
IMAGES = 768  # samples
TEXTS = 1920
SIDE = 224  # pixels of a sample
WORDS = 5000  # of the vocabulary
LENGTH = 512  # of a text, in words


def draw_image(path: Path) -> None:
    """Write a JPEG whose pixels its number draws."""
    small = np.random.default_rng(int(path.stem)).random((24, 32, 3)) * 255
    large = Image.fromarray(small.astype("uint8")).resize(
        (500, 375), Image.Resampling.BICUBIC
    )
    large.save(path, quality=90)


class Images(Dataset):
    """JPEGs that are decoded, cropped, flipped and normalised."""

    def __init__(self) -> None:
        DATA.mkdir(parents=True, exist_ok=True)
        self.paths = [DATA / f"{number:05}.jpg" for number in range(IMAGES)]
        missing = [path for path in self.paths if not path.exists()]
        with ProcessPoolExecutor() as pool:
            list(pool.map(draw_image, missing, chunksize=32))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Any:
        image = Image.open(io.BytesIO(self.paths[number].read_bytes())).convert("RGB")
        draw = random.Random(number)
        left, top = draw.randint(0, 180), draw.randint(0, 80)
        cut = image.crop((left, top, left + 290, top + 290))
        pixels = np.asarray(cut.resize((SIDE, SIDE), Image.Resampling.BILINEAR), "float32")
        if draw.random() < 0.5:
            pixels = pixels[:, ::-1]
        pixels = ((pixels / 255 - 0.45) / 0.225).transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(pixels)), number % 1000


class Texts(Dataset):
    """Texts that plain Python cuts into words, and looks up."""

    def __init__(self) -> None:
        draw = random.Random(0)
        words = [
            "".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(WORDS)
        ]
        self.numbers = {word: number for number, word in enumerate(words)}
        self.texts = [
            " ".join(draw.choices(words, k=draw.randint(300, 700))) for _ in range(1000)
        ]

    def __len__(self) -> int:
        return TEXTS

    def __getitem__(self, number: int) -> Any:
        found = []
        for word in re.findall(r"\w+", self.texts[number % len(self.texts)].lower()):
            found.append(self.numbers.get(word, 0))
            for place in range(len(word) - 2):  # parts of words are hashed, too
                hash(word[place : place + 3])
        return torch.tensor((found + [0] * LENGTH)[:LENGTH])


def images() -> tuple[Any, dict[str, Any], Callable[[Any], None]]:
    """Images, and a ResNet-50 in half precision."""
    import torchvision

    torch.backends.cudnn.benchmark = True
    layout = torch.channels_last
    network = torchvision.models.resnet50().cuda().to(memory_format=layout)
    optimiser = torch.optim.SGD(network.parameters(), 0.01)

    def step(batch: Any) -> None:
        inputs, targets = (part.cuda(non_blocking=True) for part in batch)
        with torch.autocast("cuda", torch.bfloat16):
            outputs = network(inputs.contiguous(memory_format=layout))
            loss = torch.nn.functional.cross_entropy(outputs, targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return Images(), {"batch_size": 32, "pin_memory": True, "shuffle": True}, step


def texts() -> tuple[Any, dict[str, Any], Callable[[Any], float]]:
    """Texts, and a small transformer whose loop reads each loss, as so many do."""
    made = torch.nn
    layer = made.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0)
    network = made.Sequential(
        made.Embedding(WORDS, 512),
        made.TransformerEncoder(layer, 4),
        made.Linear(512, WORDS),
    ).cuda()
    optimiser = torch.optim.AdamW(network.parameters(), 1e-4)

    def step(batch: Any) -> float:
        words = batch.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            outputs = network(words[:, :-1])
            loss = made.functional.cross_entropy(
                outputs.flatten(0, 1), words[:, 1:].flatten()
            )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return float(loss.item())

    return Texts(), {"batch_size": 32}, step


JOBS = {"images": images, "texts": texts}
