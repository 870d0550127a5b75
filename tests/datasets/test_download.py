"""Downloads end with the right file or without one, whatever a server does."""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path

import numpy as np
import pytest

from skbayesembed.datasets import clear_data_home, download, fetch_file, get_data_home
from skbayesembed.datasets.remote import FILES, RemoteFile
from tests.helpers.file_server import file_server

CONTENT = np.random.default_rng(0).bytes(200_000)
NAME = "inaugural.zip"


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("SKBAYESEMBED_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SKBAYESEMBED_DATA", raising=False)
    with file_server({"/file": CONTENT}) as server:
        digest = hashlib.sha256(CONTENT).hexdigest()
        remote = RemoteFile(NAME, f"{server.url}/file", len(CONTENT), digest)
        monkeypatch.setitem(FILES, NAME, remote)
        yield server


def fetch(**options):
    return fetch_file(NAME, **{"delay": 0.0, "timeout": 5.0} | options)


def test_a_file_is_downloaded_once(server):
    path = fetch()
    assert path == get_data_home() / NAME and path.read_bytes() == CONTENT
    assert [each.name for each in path.parent.iterdir()] == [NAME]
    assert fetch() == path and len(server.requests) == 1
    assert fetch(download_if_missing=False) == path
    # another content under its name is replaced
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(OSError, match="is not the right one, and download_if_missing=False"):
        fetch(download_if_missing=False)
    assert fetch().read_bytes() == CONTENT and len(server.requests) == 2


@pytest.mark.parametrize(
    "deed", ["truncate", "corrupt", "hang up", "longer", "no length", 503, 429]
)
def test_another_try(server, deed):
    server.deeds = [deed]
    if deed == "no length":
        path = fetch()
    else:
        with pytest.warns(
            UserWarning, match=re.escape(f"{server.url}/file: ") + ".*; trying again"
        ):
            path = fetch()
    assert path.read_bytes() == CONTENT
    assert [each.name for each in path.parent.iterdir()] == [NAME]
    # of what was truncated the rest is asked for
    resumed = f"bytes={len(CONTENT) // 2}-" if deed == "truncate" else None
    assert server.requests[-1] == resumed


@pytest.mark.filterwarnings("ignore:http")
def test_many_parts(server):
    server.deeds = ["truncate", "truncate", "whole", "truncate"]
    assert fetch(n_retries=3).read_bytes() == CONTENT
    starts = [None, 100_000, 150_000]
    assert server.requests == [s and f"bytes={s}-" for s in starts]


@pytest.mark.filterwarnings("ignore:http")
def test_a_broken_download_goes_on_in_the_next_call(server):
    server.deeds = ["truncate"]
    with pytest.raises(OSError, match="the connection ended after 100000 of 200000 bytes"):
        fetch(n_retries=0)
    part = get_data_home() / f"{NAME}.part"
    assert part.stat().st_size == 100_000 and not part.with_suffix("").exists()
    assert fetch().read_bytes() == CONTENT and server.requests[-1] == "bytes=100000-"


@pytest.mark.filterwarnings("ignore:http")
@pytest.mark.parametrize(
    "part", [b"something else " * 1000, CONTENT + b"more", CONTENT[:-1] + b"x", CONTENT],
    ids=["other", "longer", "damaged", "whole"],
)  # fmt: skip
def test_parts_of_any_content(server, part):
    (get_data_home() / f"{NAME}.part").write_bytes(part)
    assert fetch(n_retries=2).read_bytes() == CONTENT
    assert [each.name for each in get_data_home().iterdir()] == [NAME]


@pytest.mark.filterwarnings("ignore:http")
def test_servers_without_parts(server):
    """Ranges may be ignored, or refused."""
    (get_data_home() / f"{NAME}.part").write_bytes(CONTENT[:5000])
    server.deeds = ["whole"]
    assert fetch(n_retries=0).read_bytes() == CONTENT
    clear_data_home()
    (get_data_home() / f"{NAME}.part").write_bytes(CONTENT[:5000])
    server.deeds = [416]
    assert fetch(n_retries=1).read_bytes() == CONTENT
    assert server.requests[-2:] == ["bytes=5000-", None]


@pytest.mark.parametrize("deed", ["stall", "trickle"])
def test_stalls_time_out(server, deed):
    server.deeds = [deed]
    begun = time.monotonic()
    with pytest.warns(UserWarning, match="timed out|only .* bytes in 0.2 seconds"):
        assert fetch(timeout=0.2).read_bytes() == CONTENT
    # on a busy machine this takes longer, but not as long as the server would
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize(("code", "n_requests"), [(404, 1), (403, 1), (410, 1), (503, 3)])
@pytest.mark.filterwarnings("ignore:http")
def test_refusals(server, code, n_requests):
    server.deeds = [code] * 9
    with pytest.raises(OSError, match=f"the server answered {code}") as caught:
        fetch(n_retries=2)
    assert len(server.requests) == n_requests
    message, remote = str(caught.value), FILES[NAME]
    for part in (remote.url, remote.sha256, str(get_data_home() / NAME), "bring the file by other"):
        assert part in message
    assert list(get_data_home().iterdir()) == []


@pytest.mark.filterwarnings("ignore:http")
def test_another_file_at_the_address(server):
    server.files["/file"] = CONTENT[::-1]
    with pytest.raises(OSError, match="what came does not have the SHA-256 .* is another now"):
        fetch(n_retries=1)
    assert len(server.requests) == 2 and list(get_data_home().iterdir()) == []


@pytest.mark.filterwarnings("ignore:http")
def test_no_server(server, monkeypatch):
    remote = RemoteFile(NAME, "http://127.0.0.1:9/file", 1, "0" * 64)
    monkeypatch.setitem(FILES, NAME, remote)
    monkeypatch.delenv("SKBAYESEMBED_DATA", raising=False)
    with pytest.raises(OSError, match="http://127.0.0.1:9/file could not be downl") as caught:
        fetch(n_retries=1)
    # what urllib went through is not printed
    assert caught.value.__suppress_context__
    assert str(caught.value).endswith("environment variable SKBAYESEMBED_DATA (it is not set).")
    with pytest.raises(OSError, match="Try again later") as caught:
        fetch_file("ml-1m.zip", download_if_missing=False)
    assert "SKBAYESEMBED_DATA" not in str(caught.value)
    with pytest.raises(OSError, match="is missing, and download_if_missing=False. Try again later"):
        fetch(download_if_missing=False)


def test_what_cannot_be_written_is_not_tried_again(server, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download, "_receive", full)
    with pytest.raises(OSError, match="could not be downloaded: .*No space left on device"):
        fetch(n_retries=5)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_retries": -1}, "n_retries must be an integer >= 0"),
        ({"delay": -1.0}, "delay must be a number >= 0"),
        ({"timeout": 0}, "timeout must be a number > 0"),
        ({"download_if_missing": 1}, "download_if_missing must be True or False"),
    ],
)
def test_wrong_options(server, options, match):
    with pytest.raises(ValueError, match=match):
        fetch(**options)
    with pytest.raises(ValueError, match="name must be one of 'inaugural.zip'"):
        fetch_file("other.zip")
    assert server.requests == []


def test_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKBAYESEMBED_DATA_HOME", str(tmp_path / "a" / "b"))
    assert get_data_home() == tmp_path / "a" / "b" and get_data_home().is_dir()
    assert get_data_home(tmp_path / "c") == tmp_path / "c"
    monkeypatch.delenv("SKBAYESEMBED_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert get_data_home() == Path(tmp_path) / "skbayesembed_data"
    for name in (NAME, "text8.zip.part", "mine.txt"):
        (get_data_home() / name).write_text("x")
    clear_data_home()
    assert [path.name for path in get_data_home().iterdir()] == ["mine.txt"]


def test_what_is_known_of_files():
    assert len(FILES) == 26
    for name, remote in FILES.items():
        assert remote.filename == name == Path(name).name
        assert re.fullmatch("[0-9a-f]{64}", remote.sha256) and remote.n_bytes > 0
        assert re.fullmatch(r"https?://[\w.]+/[\w./-]+", remote.url)
        # of one version for ever, where the server has versions
        if "githubusercontent" in remote.url:
            assert re.search("/[0-9a-f]{40}/", remote.url)
