"""tasks: the one download is all or nothing, checked, and over https alone."""

import contextlib
import hashlib
import io
import os
import threading
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import MagicMock
from urllib import request
from urllib.error import URLError
from urllib.response import addinfourl

import pytest

from transformer_book.tasks import shakespeare
from transformer_book.tasks.shakespeare import (
    N_BYTES,
    URL,
    https_opener,
    open_https,
    shakespeare_text,
)

PLAY = b"First Citizen:\r\nSpeak, speak. \xe2\x80\xa6\n"


@pytest.fixture(autouse=True)
def a_short_play(monkeypatch):
    """Let a few bytes stand for the million."""
    monkeypatch.setattr(shakespeare, "SHA256", hashlib.sha256(PLAY).hexdigest())
    monkeypatch.setattr(shakespeare, "N_BYTES", len(PLAY))


@contextlib.contextmanager
def served(body, status=200):
    """Serve the body on this machine; yield an opener that goes there."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        here = f"http://127.0.0.1:{server.server_port}/input.txt"

        def open_url(url):
            assert url == URL
            return request.build_opener(request.ProxyHandler({})).open(here, timeout=10)

        try:
            yield open_url
        finally:
            server.shutdown()


def never(url):
    raise AssertionError(f"{url} was opened")


def test_what_is_fetched_is_kept(tmp_path):
    folder = tmp_path / "new" / "cache"
    with served(PLAY) as open_url:
        assert shakespeare_text(folder, open_url=open_url) == PLAY.decode()
    assert [path.name for path in folder.iterdir()] == ["tinyshakespeare.txt"]
    assert (folder / "tinyshakespeare.txt").read_bytes() == PLAY
    assert shakespeare_text(folder, open_url=never) == PLAY.decode()


WRONG = {"another text": PLAY.replace(b"Speak", b"SPEAK"), "too much": PLAY * 2}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_another_text_is_refused_not_read_to_its_end_and_leaves_nothing(tmp_path, body):
    size = min(len(body), len(PLAY) + 1)
    message = (
        rf"what was fetched must be {len(PLAY)} bytes with SHA-256 .*, got {size} "
        rf"bytes .*; try again, or save {URL} as {tmp_path}.*tinyshakespeare.txt"
    )
    with served(body) as open_url, pytest.raises(ValueError, match=message):
        shakespeare_text(tmp_path, open_url=open_url)
    assert list(tmp_path.iterdir()) == []


def not_found(url):
    with served(PLAY, status=404) as open_url:
        return open_url(url)


def without_an_end(url):
    answer = MagicMock()
    answer.__enter__().read.side_effect = HTTPException("chunk without an end")
    return answer


@pytest.mark.parametrize("open_url", [not_found, without_an_end])
def test_without_a_network_it_says_what_to_do(tmp_path, open_url):
    why = open_url.__name__.replace("_", " ")
    message = (
        rf"tiny Shakespeare must be fetched once, got .*(?i:{why}).*; "
        rf"try again with a network, or save {URL} as {tmp_path}.*tinyshakespeare.txt"
    )
    with pytest.raises(ConnectionError, match=message):
        shakespeare_text(tmp_path, open_url=open_url)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_file_in_the_cache_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "tinyshakespeare.txt"
    path.write_bytes(b"my own notes")
    with pytest.raises(ValueError, match=r"the file .*tinyshakespeare.txt must be .*;"):
        shakespeare_text(tmp_path, open_url=never)
    assert path.read_bytes() == b"my own notes"


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        assert len(list(tmp_path.iterdir())) == 1
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with served(PLAY) as open_url, pytest.raises(OSError, match="no space left"):
        shakespeare_text(tmp_path, open_url=open_url)
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_where_the_system_keeps_caches(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with served(PLAY) as open_url:
        shakespeare_text(open_url=open_url)
    assert (tmp_path / "transformer_lib" / "tinyshakespeare.txt").exists()
    for relative in ("", "caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", relative)
        wanted = Path.home() / ".cache" / "transformer_lib"
        assert shakespeare.default_folder() == wanted


def test_the_address_is_https_and_the_size_is_known():
    assert URL.startswith("https://")
    assert N_BYTES == 1_115_394


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "ftp://127.0.0.1:9/", "file:"])
def test_only_https_is_opened(url):
    with pytest.raises(URLError, match="unknown url type"):
        open_https(url)


def answering(status, headers):
    """The library's opener, with an answer in place of the network."""

    class Answers(request.BaseHandler):
        handler_order = 100

        def https_open(self, asked):
            answer = addinfourl(io.BytesIO(), headers, URL, status)
            if asked.full_url != URL:
                answer = addinfourl(io.BytesIO(b"moved"), {}, asked.full_url, 200)
            answer.msg = "a reason"
            return answer

    opener = https_opener()
    opener.add_handler(Answers())
    return lambda url: opener.open(url, timeout=10)


def test_a_redirection_may_lead_to_https_only():
    moved = answering(302, {"location": "https://elsewhere.example/x"})
    assert moved(URL).read() == b"moved"
    for place in (
        "http://127.0.0.1:9/x",
        "ftp://127.0.0.1:9/x",
        "file:///etc/hostname",
    ):
        with pytest.raises(URLError, match=r"unknown url type|is not allowed"):
            answering(302, {"location": place})(URL)


def test_a_refusal_of_the_server_is_an_error():
    with pytest.raises(URLError, match="403"):
        answering(403, {})(URL)
