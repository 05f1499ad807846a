"""Small real data: the same on every machine, and a slow server."""

import socket
import struct
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from PIL import Image
from small_data_11 import served, write_small_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_data(tmp_path_factory.mktemp("data"), images=14, lines=20)


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


def test_images_can_be_decoded_and_differ_in_size(folder: Path) -> None:
    sizes = {Image.open(path).convert("RGB").size for path in (folder / "images").iterdir()}
    assert len(sizes) > 10


def test_data_is_the_same_on_every_call(folder: Path, tmp_path: Path) -> None:
    again = write_small_data(tmp_path, images=14, lines=20)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        assert (again / path.relative_to(folder)).read_bytes() == path.read_bytes()
    lines = (folder / "text.txt").read_text().splitlines()
    assert len(lines) == 20
    assert all(5 <= len(line.split()) <= 60 for line in lines)


def test_answers_are_whole_and_wait_for_their_first_byte(folder: Path) -> None:
    with served(folder, first_byte=0.03) as url:
        began = time.perf_counter()
        assert (
            get(f"{url}/images/0003.jpg") == (folder / "images" / "0003.jpg").read_bytes()
        )
        assert time.perf_counter() - began >= 0.03
        with pytest.raises(urllib.error.HTTPError):
            get(f"{url}/../pyproject.toml")
    with pytest.raises(urllib.error.URLError):
        get(f"{url}/images/0003.jpg")


def test_all_answers_together_keep_to_the_bandwidth(folder: Path) -> None:
    sizes = [path.stat().st_size for path in (folder / "images").iterdir()]
    with served(folder, bandwidth=sum(sizes) / 0.2) as url:
        names = [f"{url}/images/{number:04}.jpg" for number in range(14)]
        readers = [threading.Thread(target=get, args=(name,)) for name in names]
        began = time.perf_counter()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        # Less than the tick that the last chunk may save
        assert time.perf_counter() - began >= 0.18


def test_nothing_is_printed_when_a_client_goes_away(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(folder, first_byte=0.05) as url:
        address = urllib.parse.urlsplit(url)
        client = socket.create_connection((address.hostname, address.port))
        client.sendall(b"GET /images/0003.jpg HTTP/1.1\r\nHost: here\r\n\r\n")
        # Its end is no orderly one
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        time.sleep(0.2)
    assert capfd.readouterr().err == ""


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    for wrong in ({"images": 0}, {"lines": 0}):
        with pytest.raises(ValueError, match="must be 1 or more"):
            write_small_data(tmp_path, **wrong)
    for said, options in (
        ("bandwidth=0: must be a number of bytes per second, above 0", {"bandwidth": 0}),
        ("first_byte", {"first_byte": -1}),
    ):
        with pytest.raises(ValueError, match=said), served(tmp_path, **options):
            pass
    with pytest.raises(TypeError, match="bandwidth='x': must be a number of bytes"):
        served(tmp_path, bandwidth="x").__enter__()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a folder"), served(tmp_path / "none"):
        pass
