"""A network that can be cut: a proxy to the service."""

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on to an address, and cuts every connection when it is told to."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 80)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.passed = 0
        """Bytes that the service sent through it."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cuts all connections, without a word of goodbye."""
        with self._lock:
            cut, self._open = self._open, set()
        for one in cut:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                try:
                    service = socket.create_connection(self._target)
                except OSError:
                    client.close()
                    continue
                with self._lock:
                    self._open |= {client, service}
                for one, other in ((client, service), (service, client)):
                    threading.Thread(target=self._pass, args=(one, other, one is service), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                self.passed += len(data) if counts else 0
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
