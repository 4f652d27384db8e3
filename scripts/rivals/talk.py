"""The server: `serve CONTROL`. The client: `fetch COUNT AT_ONCE` prints seconds, `bulk SECONDS` Mbit/s.

Where the server opens the connection: `push` sends while somebody listens, `sink SECONDS` prints Mbit/s.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

SERVER = ("10.9.3.2", 8000)
CLIENT = ("10.9.1.2", 8001)
FETCH_BYTES = 10_000
CHUNK = bytes(1 << 16)
PATIENCE_S = 600.0


def serve(control: str) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        listener.bind(SERVER)
        listener.listen(128)
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def answer(client: socket.socket) -> None:
    try:
        with client:
            match client.recv(1):
                case b"f":
                    client.sendall(bytes(FETCH_BYTES))
                case b"b":
                    while True:
                        client.sendall(CHUNK)
    except OSError:
        """The client has heard enough."""


def connected(to: tuple[str, int] = SERVER) -> socket.socket:
    until = monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection(to, timeout=PATIENCE_S)
        except ConnectionRefusedError:
            if monotonic() > until:
                raise


def fetch(_number: int) -> None:
    with connected() as server:
        server.sendall(b"f")
        heard = 0
        while chunk := server.recv(1 << 16):
            heard += len(chunk)
    if heard != FETCH_BYTES:
        sys.exit(f"{heard} bytes of {FETCH_BYTES}")


def fetches(count: int, at_once: int) -> float:
    fetch(0)
    begun = monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(fetch, range(count)))
    return monotonic() - begun


def bulk(seconds: float) -> float:
    with connected() as server:
        server.sendall(b"b")
        return goodput(server, seconds)


def goodput(server: socket.socket, seconds: float) -> float:
    """In Mbit/s, from now on."""
    begun, heard = monotonic(), 0
    while (took := monotonic() - begun) < seconds:
        heard += len(server.recv(1 << 16))
    return heard * 8 / took / 1e6


def push() -> None:
    with contextlib.suppress(OSError), connected(CLIENT) as client:
        while True:
            client.sendall(CHUNK)


def sink(seconds: float) -> float:
    with socket.create_server(CLIENT) as listener:
        server, _ = listener.accept()
        with server:
            return goodput(server, seconds)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", control]:
            serve(control)
        case ["fetch", count, at_once]:
            print(fetches(int(count), int(at_once)))
        case ["bulk", seconds]:
            print(bulk(float(seconds)))
        case ["push"]:
            push()
        case ["sink", seconds]:
            print(sink(float(seconds)))
