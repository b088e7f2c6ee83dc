"""A kernel in either environment, and the page's end of its messages."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client import BlockingKernelClient, KernelManager

from tools.kernels import OneSpec, kernel_environment
from tools.setup.console import ROOT

PATHS = f"{ROOT}:{ROOT / 'tests/figures'}"
Message = dict[str, Any]


class Kernel:
    """Runs code, and speaks with widgets as a page does."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, code: str) -> list[Message]:
        """What the kernel published; an error or a word on stderr is a failure."""
        return self._published(self.client.execute(code))

    def value(self, expression: str) -> Any:
        """What a Python expression gives, by way of JSON."""
        messages = self.run(f"print(json.dumps({expression}))")
        printed = (m["content"]["text"] for m in messages if m["msg_type"] == "stream")
        return json.loads("".join(printed))

    def tell(self, comm: str, state: dict[str, Any]) -> list[Message]:
        """Change a widget's traits as a page does; what the kernel published then."""
        data = {"method": "update", "state": state, "buffer_paths": []}
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self.client.shell_channel.send(message)
        return self._published(message["header"]["msg_id"])

    def _published(self, request: str) -> list[Message]:
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            if content.get("execution_state") == "idle":
                return messages
            assert message["msg_type"] != "error", "\n".join(content["traceback"])
            assert content.get("name") != "stderr", content["text"]
            messages.append(message)


def opened(messages: list[Message]) -> dict[str, dict[str, Any]]:
    """The states of the widgets that were opened, by the ids of their comms."""
    return {
        message["content"]["comm_id"]: message["content"]["data"]["state"]
        for message in messages
        if message["msg_type"] == "comm_open"
    }


def updates(messages: list[Message], comm: str) -> dict[str, Any]:
    """The traits of one widget that the kernel has sent, with their last values."""
    sent: dict[str, Any] = {}
    for message in messages:
        content = message["content"]
        if message["msg_type"] == "comm_msg" and content["comm_id"] == comm:
            is_update = content["data"]["method"] == "update"
            sent |= content["data"]["state"] if is_update else {}
    return sent


@contextmanager
def kernel(python: str, folder: Path) -> Iterator[Kernel]:
    """A running kernel of this Python, which touches nothing of the user's."""
    manager = KernelManager(kernel_name="figures", kernel_spec_manager=OneSpec(python))
    own = {"PYTHONPATH": PATHS, "IPYTHONDIR": str(folder / "ipython")}
    manager.start_kernel(env=kernel_environment() | own, cwd=str(folder))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
