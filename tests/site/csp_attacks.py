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
  refused.push(`${event.effectiveDirective} ${event.blockedURI}`));"""
# A test's own hand is not held by the policy; elements that it makes are.
ASK = """([kind, url]) => {
  const put = (tag, given) => {
    const element = Object.assign(document.createElement(tag), given);
    document.body.append(element);
    return element;
  };
  const ways = {
    link: () => put("link", { rel: "stylesheet", href: url }),
    object: () => put("object", { data: url }),
    font: () => new FontFace("f", `url(${url})`).load().catch(() => 0),
    fetch: () => fetch(url).catch(() => 0),
    beacon: () => navigator.sendBeacon(url),
    form: () => put("form", { action: url, target: "_blank" }).submit(),
  };
  (ways[kind] ?? (() => put(kind, { src: url })))();
}"""
RUN = """(kind) => {
  const ways = {
    script: () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = 'script'";
      document.body.append(script);
    },
    handler: () => {
      const button = document.createElement("button");
      button.setAttribute("onclick", "globalThis.ran = 'handler'");
      button.click();
    },
    address: () => {
      const link = document.createElement("a");
      link.href = "javascript:void (globalThis.ran = 'address')";
      document.body.append(link);
      link.click();
    },
  };
  ways[kind]();
}"""


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
