"""Downloads from a server on this machine: whole, broken off, corrupt, redirected."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from bell_bench.data import DomainSizes, download, load_domain, missing
from bell_bench.data.catalogue import MNIST
from bell_bench.errors import BellBenchError, UsageError
from tests.data.official_formats import expect, made_images, mnist_files

FILES = mnist_files(made_images(range(10)))
FIRST = "MNIST/raw/train-images-idx3-ubyte.gz"


class Server(http.server.ThreadingHTTPServer):
    """Serves FILES below any folder; ``faults`` says what goes wrong, once each, by path."""

    faults: dict[str, list[str]]
    requests: list[tuple[str, str | None]]
    ranges = True


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        folder, _, name = self.path.rpartition("/")
        content = next((c for path, c in FILES.items() if path.endswith(f"/{name}")), None)
        faults = self.server.faults.get(folder.strip("/").split("/")[0], [])
        fault = faults.pop(0) if faults else ""
        if content is None or fault == "absent":
            self.send_error(404)
            return
        if fault.startswith("to "):
            self.send_response(302)
            self.send_header("Location", fault.removeprefix("to "))
            self.end_headers()
            return
        self._send(content, wanted if self.server.ranges else None, fault)

    def _send(self, content: bytes, wanted: str | None, fault: str) -> None:
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(content):
            self.send_error(416)
            return
        if fault == "corrupt":
            content = content[:-1] + bytes([content[-1] ^ 1])
        self.send_response(206 if wanted else 200)
        length = "many" if fault == "odd length" else str(len(content) - start)
        self.send_header("Content-Length", length)
        self.end_headers()
        end = len(content) // 2 if fault in ("cut", "odd length") else len(content)
        self.wfile.write(content[start:end])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.faults, running.requests = {}, []
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def _collection(monkeypatch, server, *mirrors):
    base = f"http://127.0.0.1:{server.server_port}"
    return expect(monkeypatch, MNIST, FILES, tuple(f"{base}/{mirror}/" for mirror in mirrors))


def _quiet(name, have, total):
    assert total is None or have <= total


def _names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


WHOLE = sorted(path.rpartition("/")[2] for path in FILES)


def test_files_arrive_and_load(folder, monkeypatch, server):
    collection = _collection(monkeypatch, server, "good")
    assert len(download.fetch(collection, _quiet)) == 4
    assert _names(folder) == WHOLE
    assert missing(["mnist_1"], "images") == {}
    assert len(load_domain("mnist_1", "images", DomainSizes(80, 40, 40)).test_labels) == 40
    assert download.fetch(collection, _quiet) == []
    assert len(server.requests) == 4


def test_a_transfer_that_breaks_off_resumes(folder, monkeypatch, server):
    server.faults["good"] = ["cut"]
    download.fetch(_collection(monkeypatch, server, "good"), _quiet)
    half = len(FILES[FIRST]) // 2
    assert [wanted for _, wanted in server.requests[:2]] == [None, f"bytes={half}-"]
    assert (folder / FIRST).read_bytes() == FILES[FIRST]
    assert _names(folder) == WHOLE


def test_a_later_run_resumes(folder, monkeypatch, server):
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    server.faults["good"] = ["cut"]
    collection = _collection(monkeypatch, server, "good")
    with pytest.raises(BellBenchError, match=f"{FIRST} could not be downloaded") as error:
        download.fetch(collection, _quiet)
    assert "broke off after" in str(error.value)
    assert "bytes that came are kept" in str(error.value)
    assert _names(folder) == ["train-images-idx3-ubyte.gz.part"]
    assert "lacks" in missing(["mnist_1"], "images")["mnist_1"]
    download.fetch(collection, _quiet)
    assert server.requests[1][1] is not None
    assert _names(folder) == WHOLE


def test_a_server_without_ranges_starts_afresh(folder, monkeypatch, server):
    server.ranges = False
    server.faults["good"] = ["cut"]
    download.fetch(_collection(monkeypatch, server, "good"), _quiet)
    assert (folder / FIRST).read_bytes() == FILES[FIRST]


@pytest.mark.parametrize("beginning", [b"something else", FILES[FIRST] + b"!"])
def test_a_wrong_beginning_is_thrown_away(folder, monkeypatch, server, beginning):
    part = folder / f"{FIRST}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(beginning)
    download.fetch(_collection(monkeypatch, server, "good"), _quiet)
    assert (folder / FIRST).read_bytes() == FILES[FIRST]
    assert _names(folder) == WHOLE


def test_a_corrupt_file_is_named_and_goes(folder, monkeypatch, server):
    server.faults["bad"] = ["corrupt"] * 9
    with pytest.raises(BellBenchError, match="sent a corrupt file, now deleted") as error:
        download.fetch(_collection(monkeypatch, server, "bad"), _quiet)
    assert FIRST in str(error.value)
    assert _names(folder) == []


def test_a_corrupt_file_that_is_here_is_fetched_anew(folder, monkeypatch, server):
    collection = _collection(monkeypatch, server, "good")
    download.fetch(collection, _quiet)
    (folder / FIRST).write_bytes(FILES[FIRST][:100])
    assert download.fetch(collection, _quiet) == [folder / FIRST]
    assert (folder / FIRST).read_bytes() == FILES[FIRST]
    assert _names(folder) == WHOLE


def test_mirrors_are_tried_in_turn(folder, monkeypatch, server):
    server.faults = {"bad": ["corrupt"] * 9, "gone": ["absent"] * 9}
    collection = _collection(monkeypatch, server, "bad", "gone", "good")
    download.fetch(collection, _quiet)
    assert _names(folder) == WHOLE
    assert [path.split("/")[1] for path, _ in server.requests[:3]] == ["bad", "gone", "good"]


def test_a_mirror_of_ones_own_comes_first(folder, monkeypatch, server):
    collection = _collection(monkeypatch, server, "good")
    download.fetch(collection, _quiet, f"http://127.0.0.1:{server.server_port}/mine/")
    assert server.requests[0][0] == f"/mine/{FIRST}"


@pytest.mark.parametrize("url", ["http://example.org/mnist/", "ftp://127.0.0.1/", "file:///etc/"])
def test_only_https(folder, monkeypatch, url):
    with pytest.raises(UsageError, match="https only"):
        download.fetch(MNIST, _quiet, mirror=url)


def test_a_redirect_away_from_https_is_refused(folder, monkeypatch, server):
    server.faults["good"] = ["to http://example.org/file"]
    with pytest.raises(BellBenchError, match=r"example\.org/file is not an https address"):
        download.fetch(_collection(monkeypatch, server, "good"), _quiet)
    assert _names(folder) == []


@pytest.mark.parametrize("fault", ["to https://[no.address/", "odd length"])
def test_a_server_that_talks_nonsense_is_told_and_the_next_one_tried(
    folder, monkeypatch, server, fault
):
    server.faults["bad"] = [fault] * 9
    with pytest.raises(BellBenchError, match="could not be downloaded"):
        download.fetch(_collection(monkeypatch, server, "bad"), _quiet)
    download.fetch(_collection(monkeypatch, server, "bad", "good"), _quiet)
    assert _names(folder) == WHOLE


def test_a_server_that_sends_without_end_does_not_fill_the_disk(folder, monkeypatch, server):
    monkeypatch.setattr(download, "LARGEST", 1000)
    with pytest.raises(BellBenchError, match="sends more than 1,000 bytes"):
        download.fetch(_collection(monkeypatch, server, "good"), _quiet)
    assert _names(folder) == []


def test_no_server(folder, monkeypatch, server):
    collection = _collection(monkeypatch, server, "good")
    server.shutdown()
    server.server_close()
    with pytest.raises(BellBenchError, match="could not be downloaded"):
        download.fetch(collection, _quiet)
    assert _names(folder) == []


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch, server):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BELL_BENCH_DATA", str(tmp_path / "file"))
    with pytest.raises(BellBenchError, match="BELL_BENCH_DATA"):
        download.fetch(_collection(monkeypatch, server, "good"), _quiet)
