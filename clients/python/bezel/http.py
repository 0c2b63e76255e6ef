"""HTTP by the standard library: connections that are kept, and answers or `NetworkError`."""

from __future__ import annotations

import http.client
import select
import ssl
import threading
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from .errors import ConfigError, NetworkError

IDLE_S = 3.0
"""Time after which an idle connection is not used again: servers close theirs after 5 s or more."""

MAX_IDLE = 8


class Answer(NamedTuple):
    """An HTTP answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Http:
    """Sends requests to one origin. Safe to use from several threads."""

    def __init__(self, base_url: str, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ConfigError(f"{base_url!r} is no address: it must begin with http:// or https://.")
        self.base_url = base_url.rstrip("/")
        self._parts = parts
        self._prefix = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Answer:
        """Sends a request and reads the whole answer. Blocks."""
        connection = self._take() or self._connect()
        try:
            return self._exchange(connection, method, path, headers, body)
        except (OSError, http.client.HTTPException) as error:
            # Nothing is sent again here: a signed request is accepted once, and a write may have been done.
            connection.close()
            raise self._failure(method, path, error) from error

    def close(self) -> None:
        """Closes the connections that are kept."""
        with self._lock:
            kept, self._idle = self._idle, []
        for _, connection in kept:
            connection.close()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes | None,
    ) -> Answer:
        connection.request(method, self._prefix + path, body=body, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)
        if answer.will_close:
            connection.close()
        else:
            self._keep(connection)
        return found

    def _take(self) -> http.client.HTTPConnection | None:
        """Returns a kept connection that is still open, as far as one can see from here."""
        with self._lock:
            while self._idle:
                since, connection = self._idle.pop()
                if time.monotonic() - since < IDLE_S and not _is_dropped(connection):
                    return connection
                connection.close()
        return None

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=self._tls)

    def _failure(self, method: str, path: str, error: Exception) -> NetworkError:
        what = f"no answer within {self._timeout_s} s" if isinstance(error, TimeoutError) else str(error) or repr(error)
        return NetworkError(f"{method} {self.base_url}{path}: {what}")


def _is_dropped(connection: http.client.HTTPConnection) -> bool:
    """Returns true when the other side has closed: an idle connection has nothing to read but its end."""
    try:
        return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True
