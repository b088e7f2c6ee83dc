"""Serve the built book on this machine: `python -m booksite.serve`."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGES = Path(__file__).parents[1] / "_build" / "html"
HOST, FIRST_PORT, PORTS = "127.0.0.1", 8000, 100


class Handler(SimpleHTTPRequestHandler):
    """Says nothing of every request and lets the browser keep no old page."""

    def log_message(self, *_: object) -> None:
        pass

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def open_server(folder: Path, first_port: int = FIRST_PORT) -> ThreadingHTTPServer:
    """A server of the folder on the first free port from `first_port` on.

    Raises:
        OSError: all of the next hundred ports are taken.
    """
    handler = partial(Handler, directory=str(folder))
    for port in range(first_port, first_port + PORTS):
        try:
            return ThreadingHTTPServer((HOST, port), handler)
        except OSError:
            continue
    last = first_port + PORTS - 1
    raise OSError(f"one port must be free, got {first_port} to {last} all taken")


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
