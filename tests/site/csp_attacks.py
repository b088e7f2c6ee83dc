"""What a foreign text on a page could try: to ask elsewhere, and to run."""

from http.server import BaseHTTPRequestHandler

ASKS = {  # what a foreign text could ask elsewhere -> what of the policy forbids it
    "script": "script-src-elem",
    "link": "style-src-elem",
    "img": "img-src",
    "iframe": "frame-src",
    "object": "object-src",
    "video": "media-src",
    "font": "font-src",
    "fetch": "connect-src",
    "beacon": "connect-src",
    "form": "form-action",
}
RUNS = {  # what could run a text of its own
    "script": "script-src-elem",
    "handler": "script-src-attr",
    "address": "script-src-elem",
}
LISTEN = """globalThis.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  refused.push(event.effectiveDirective));"""


class Elsewhere(BaseHTTPRequestHandler):
    """Answers anybody, and remembers what was asked."""

    asked: set[str] = set()  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.add(self.path.strip("/?"))
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass
