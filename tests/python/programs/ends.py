"""Two ends of a TCP connection that do what programs seldom do. Needs nothing but Python's standard library.

usage: ends.py serve PORT, or ends.py BEHAVIOUR SERVER PORT

A client's first line names the behaviour, and the server plays its part. What the server has seen, the
client learns over another connection, with `seen`.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import NoReturn

BIG = bytes(range(256)) * 4096
SUM = hashlib.sha256(BIG).hexdigest().encode()
PATIENCE_S = 60
IDLE_S = 3
Address = tuple[str, int]


def everything(end: socket.socket) -> bytes:
    """Returns what comes up to the FIN."""
    return b"".join(iter(lambda: end.recv(65536), b""))


def exactly(end: socket.socket, length: int) -> bytes:
    got = b""
    while len(got) < length:
        more = end.recv(length - len(got))
        assert more, f"{len(got)} of {length} bytes, then a FIN"
        got += more
    return got


def reset(end: socket.socket) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


def ending(end: socket.socket) -> str:
    """How the other end leaves."""
    try:
        everything(end)
    except ConnectionResetError:
        return "reset"
    return "fin"


class Server:
    """Its methods are what it does once a client has said so. What they return is what it has seen."""

    def __init__(self) -> None:
        self.saw = ""
        self.knows = Event()

    def seen(self, end: socket.socket) -> None:
        assert self.knows.wait(PATIENCE_S)
        self.knows.clear()
        end.sendall(self.saw.encode())

    def half_close(self, end: socket.socket) -> None:
        end.sendall(hashlib.sha256(everything(end)).hexdigest().encode())

    def server_half_close(self, end: socket.socket) -> str:
        end.sendall(BIG)
        end.shutdown(socket.SHUT_WR)
        return hashlib.sha256(everything(end)).hexdigest()

    def client_resets(self, end: socket.socket) -> str:
        end.sendall(b"!")
        return ending(end)

    client_closes = client_resets

    def server_resets(self, end: socket.socket) -> None:
        exactly(end, 1)
        reset(end)

    def server_closes(self, end: socket.socket) -> None:
        pass

    def server_never_reads(self, end: socket.socket) -> None:
        self.knows.wait(PATIENCE_S)
        self.knows.clear()
        self.half_close(end)

    def reads_now(self, _: socket.socket) -> None:
        self.knows.set()

    def echo(self, end: socket.socket) -> None:
        while got := end.recv(65536):
            end.sendall(got)

    def both_ways(self, end: socket.socket) -> None:
        with ThreadPoolExecutor() as pool:
            pool.submit(end.sendall, BIG)
            got = exactly(end, len(BIG))
        end.sendall(hashlib.sha256(got).hexdigest().encode())

    def urgent(self, end: socket.socket) -> str:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        end.sendall(b"?")
        return everything(end).decode()

    def handle(self, end: socket.socket) -> None:
        with end:
            end.settimeout(PATIENCE_S)
            wish = b"".join(iter(lambda: end.recv(1), b"\n")).decode()
            saw = getattr(self, wish)(end)
        if saw is not None:
            self.saw = saw
            self.knows.set()


def serve(port: int) -> NoReturn:
    server = Server()
    with socket.create_server(("", port), backlog=500) as listener:
        while True:
            Thread(target=server.handle, args=[listener.accept()[0]], daemon=True).start()


def ask(server: Address, wish: str) -> socket.socket:
    end = socket.create_connection(server, PATIENCE_S)
    end.sendall(wish.encode() + b"\n")
    return end


def seen(server: Address) -> str:
    with ask(server, "seen") as end:
        return everything(end).decode()


def half_close(server: Address) -> None:
    """The client ends its direction, and then the answer comes."""
    with ask(server, "half_close") as end:
        end.sendall(BIG)
        end.shutdown(socket.SHUT_WR)
        assert everything(end) == SUM


def server_half_close(server: Address) -> None:
    """The server ends its direction, and then the client still sends."""
    with ask(server, "server_half_close") as end:
        assert everything(end) == BIG
        end.sendall(BIG)
    assert seen(server).encode() == SUM


def client_resets(server: Address) -> None:
    """SO_LINGER 0 at the client: the server gets a RST."""
    end = ask(server, "client_resets")
    exactly(end, 1)
    reset(end)
    assert seen(server) == "reset"


def client_closes(server: Address) -> None:
    with ask(server, "client_closes") as end:
        exactly(end, 1)
    assert seen(server) == "fin"


def server_resets(server: Address) -> None:
    """SO_LINGER 0 at the server: the client gets a RST."""
    with ask(server, "server_resets") as end:
        end.sendall(b"!")
        assert ending(end) == "reset"


def server_closes(server: Address) -> None:
    """The server closes at once."""
    with ask(server, "server_closes") as end:
        assert ending(end) == "fin"


def server_never_reads(server: Address) -> None:
    """The server's window closes the client's, and everything arrives once it reads."""
    with ask(server, "server_never_reads") as end:
        end.settimeout(1)
        sent, data = 0, BIG * 32
        try:
            while sent < len(data):
                sent += end.send(data[sent:])
        except TimeoutError:
            pass
        assert sent < len(data), "nobody reads, and yet everything could be sent"
        end.settimeout(PATIENCE_S)
        ask(server, "reads_now").close()
        end.shutdown(socket.SHUT_WR)
        assert everything(end) == hashlib.sha256(data[:sent]).hexdigest().encode()


def ping_pong(server: Address) -> None:
    """Single bytes in turn."""
    with ask(server, "echo") as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for each in range(200):
            end.sendall(bytes([each]))
            assert exactly(end, 1) == bytes([each])


def idle(server: Address) -> None:
    """Both are silent for a while, and then speak again."""
    with ask(server, "echo") as end:
        for word in (b"before", b"after"):
            end.sendall(word)
            assert exactly(end, len(word)) == word
            time.sleep(IDLE_S)


def both_ways(server: Address) -> None:
    """Both send at the same time."""
    with ask(server, "both_ways") as end, ThreadPoolExecutor() as pool:
        pool.submit(end.sendall, BIG)
        assert exactly(end, len(BIG)) == BIG
        assert everything(end) == SUM


def many(server: Address) -> None:
    """200 short connections at once."""

    def one(number: int) -> bytes:
        with ask(server, "half_close") as end:
            end.sendall(str(number).encode())
            end.shutdown(socket.SHUT_WR)
            return everything(end)

    with ThreadPoolExecutor(200) as pool:
        got = list(pool.map(one, range(200)))
    assert got == [hashlib.sha256(str(number).encode()).hexdigest().encode() for number in range(200)]


def urgent(server: Address) -> None:
    """Urgent data in the stream, which the server reads as any other."""
    with ask(server, "urgent") as end:
        exactly(end, 1)
        end.sendall(b"ab")
        end.send(b"!", socket.MSG_OOB)
        end.sendall(b"END" * 10)
        end.sendall(b"more")
    saw = seen(server)
    assert saw == "ab!" + "END" * 10 + "more", saw


def refused(server: Address) -> None:
    """Nobody listens. What splits connections has answered the client before it knows."""
    expected = ConnectionRefusedError if os.environ["WAY"] == "link" else ConnectionResetError
    try:
        with socket.create_connection((server[0], 9), PATIENCE_S) as end:
            everything(end)
    except expected:
        return
    raise AssertionError("no error")


def unreachable(server: Address) -> None:
    """There is no such host."""
    nobody = server[0].rpartition(".")[0] + ".99"
    try:
        with socket.create_connection((nobody, server[1]), PATIENCE_S) as end:
            everything(end)
    except OSError as error:
        if error.errno:
            return
    raise AssertionError("nobody said so")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    behaviour: Callable[[Address], None] = globals()[sys.argv[1]]
    behaviour((sys.argv[2], int(sys.argv[3])))
