"""Serve the built book on this machine: `python -m booksite.serve`."""

import gzip
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

PAGES = Path(__file__).parents[1] / "_build" / "html"
ROOT = re.compile(r' href="(/[^"]*)_static/')
HOST, FIRST_PORT, PORTS = "127.0.0.1", 8000, 100
ASSETS = (".js", ".css", ".woff2")
COMPRESSED = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml")


@lru_cache(maxsize=256)
def compressed(path: Path, _changed: int) -> bytes:
    """The file's bytes, compressed once until it changes."""
    return gzip.compress(path.read_bytes(), mtime=0)


class Handler(SimpleHTTPRequestHandler):
    """Says nothing of every request and lets the browser keep no old page.

    The browser may keep files whose names end in one of `kept`. Text goes out
    compressed, as from every server that a book is published on. The book is also
    found below the path that it was built for, from which a lost reader's page takes
    its styles and links.
    """

    def __init__(self, *request: Any, kept: tuple[str, ...] = (), **how: Any) -> None:
        self.kept = kept
        super().__init__(*request, **how)

    def log_message(self, *_: object) -> None:
        pass

    def end_headers(self) -> None:
        keep = self.path.endswith(self.kept)
        self.send_header("Cache-Control", "max-age=3600" if keep else "no-cache")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        lost = Path(self.directory) / "404.html"
        root = ROOT.search(lost.read_text("utf-8")) if lost.exists() else None
        return super().translate_path(path.removeprefix(root[1]) if root else path)

    def send_head(self) -> BytesIO | BinaryIO | None:
        path = Path(self.translate_path(self.path))
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts and path.is_file() and path.suffix in COMPRESSED):
            return super().send_head()
        body = compressed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Answer 404 with the book's own page, as its hosts do."""
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def open_server(
    folder: Path, first_port: int = FIRST_PORT, kept: tuple[str, ...] = ()
) -> ThreadingHTTPServer:
    """A server of the folder on the first free port from `first_port` on.

    Raises:
        OSError: all of the next hundred ports are taken.
    """
    handler = partial(Handler, directory=str(folder), kept=kept)
    for port in range(first_port, first_port + PORTS):
        try:
            return ThreadingHTTPServer((HOST, port), handler)
        except OSError:
            continue
    last = first_port + PORTS - 1
    raise OSError(f"one port must be free, got {first_port} to {last} all taken")


@contextmanager
def serving(
    folder: Path, first_port: int = FIRST_PORT, kept: tuple[str, ...] = ()
) -> Iterator[str]:
    """The address at which the folder is served meanwhile."""
    with open_server(folder, first_port, kept) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()


def main() -> int:
    if not (PAGES / "index.html").exists():
        print(f"The book must be built first, got no {PAGES}; run `make book`.")
        return 1
    server = open_server(PAGES)
    print(
        f"The book is at http://{HOST}:{server.server_port}/  (Ctrl+C ends it)",
        flush=True,
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nEnded.")
    finally:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
