# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device plugin for the kubelet's v1beta1 API, to be run by Python with grpcio in a pod.

`device-plugin RESOURCE COUNT`: devices 0, 1, ..., each handed out as the CDI device of that name
and of the kind RESOURCE, whose specification this writes to /etc/cdi: a variable, and nothing else.
The messages are few and small, so they are made by hand: field numbers are those of
k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent import futures
from pathlib import Path

import grpc

FOLDER = Path("/var/lib/kubelet/device-plugins")
KUBELET = FOLDER / "kubelet.sock"


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field; contents are shorter than 128 bytes each, or in two bytes of
    length."""
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + content


def strings(message: bytes, number: int) -> list[bytes]:
    """All length-delimited fields of that number; the messages that the kubelet sends have no
    others."""
    found, position = [], 0
    while position < len(message):
        tag, size, start = message[position], message[position + 1], position + 2
        if size > 127:
            size, start = size & 127 | message[start] << 7, start + 1
        if tag == number << 3 | 2:
            found.append(message[start : start + size])
        position = start + size
    return found


class Plugin:
    """Serves the plugin's socket and registers it, again whenever the kubelet has restarted.

    devices: the kubelet's name of a device -> its CDI device ("example.com/gpu=0").
    """

    def __init__(self, resource: str, devices: Mapping[str, str], socket: str) -> None:
        self.resource = resource
        self.devices = devices
        self.socket = FOLDER / socket

    def options(self, _request: bytes, _context: grpc.ServicerContext) -> bytes:
        """DevicePluginOptions: neither PreStartContainer nor GetPreferredAllocation."""
        return b""

    def watch(self, _request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        """ListAndWatchResponse: devices = 1 {ID = 1, health = 2}."""
        devices = (field(1, name.encode()) + field(2, b"Healthy") for name in self.devices)
        yield b"".join(field(1, device) for device in devices)
        while context.is_active():
            time.sleep(1)

    def allocate(self, request: bytes, _context: grpc.ServicerContext) -> bytes:
        """AllocateResponse: container_responses = 1 {cdi_devices = 5 {name = 1}}."""
        answers = []
        for container in strings(request, 1):
            names = [self.devices[name.decode()] for name in strings(container, 1)]
            answers.append(field(1, b"".join(field(5, field(1, name.encode())) for name in names)))
        print("allocated", request, flush=True)
        return b"".join(answers)

    def serve(self) -> grpc.Server:
        """Start the server on the plugin's own socket."""
        self.socket.unlink(missing_ok=True)
        server = grpc.server(futures.ThreadPoolExecutor(8))
        methods = {
            "GetDevicePluginOptions": grpc.unary_unary_rpc_method_handler(self.options),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(self.watch),
            "Allocate": grpc.unary_unary_rpc_method_handler(self.allocate),
        }
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("v1beta1.DevicePlugin", methods),)
        )
        server.add_insecure_port(f"unix://{self.socket}")
        server.start()
        return server

    def register(self) -> None:
        """RegisterRequest: version = 1, endpoint = 2, resource_name = 3."""
        fields = ("v1beta1", self.socket.name, self.resource)
        request = b"".join(field(number, text.encode()) for number, text in enumerate(fields, 1))
        with grpc.insecure_channel(f"unix://{KUBELET}") as channel:
            channel.unary_unary("/v1beta1.Registration/Register")(request, timeout=10)
        print(f"registered {self.resource}", flush=True)

    def run(self) -> None:
        """Serve until told to end. A kubelet that starts empties the folder and makes its socket
        anew."""
        told = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: told.set())
        seen = None
        server = None
        while not told.wait(0.5):
            current = KUBELET.stat().st_ino if KUBELET.exists() else None
            if current is not None and current != seen:
                if server is not None:
                    server.stop(None)
                server = self.serve()
                self.register()
                seen = current
        self.socket.unlink(missing_ok=True)
        if server is not None:
            server.stop(None)


def write_cdi(kind: str, names: list[str]) -> None:
    """Tell the container runtime what each device is."""
    devices = [
        {"name": name, "containerEdits": {"env": [f"TEST_DEVICE_{name}=from-cdi"]}}
        for name in names
    ]
    target = Path("/etc/cdi") / f"{kind.replace('/', '_')}.json"
    partial = target.with_suffix(".tmp")
    partial.write_text(json.dumps({"cdiVersion": "0.6.0", "kind": kind, "devices": devices}))
    partial.rename(target)


def main() -> int:
    """RESOURCE COUNT."""
    resource, names = sys.argv[1], [str(number) for number in range(int(sys.argv[2]))]
    write_cdi(resource, names)
    Plugin(
        resource,
        {name: f"{resource}={name}" for name in names},
        f"{resource.replace('/', '_')}.sock",
    ).run()
    return 0
