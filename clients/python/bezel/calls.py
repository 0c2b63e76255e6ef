"""Calls of the interface: signs, sends, repeats what is safe, and turns refusals into typed errors.

Everything is written once, as coroutines over `Io`. `Threads` makes them fit for asyncio; with `Blocking` they never
suspend, so `run_now` runs them to their end at once.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from .contracts import CHAINS
from .decimals import plain
from .errors import ApiError, BezelError, ConfigError, NetworkError
from .http import Answer, Http
from .signing import Signer, SigningDomain, request_digest, signature_text

Result = TypeVar("Result")

MAX_WAIT_S = 61.0
"""Longest pause that is waited out. A longer `Retry-After` is left to the caller."""


HELD_UP_S = 10.0
"""Time after which a timestamp that is refused was good when it was made."""

MAX_THREADS = 16
"""Requests of an `AsyncClient` that are under way at once; others wait for one of them."""


class Io(Protocol):
    """The two things that blocking and async callers do differently."""

    async def run(self, work: Callable[[], Result]) -> Result:
        """Does blocking work."""

    async def sleep(self, seconds: float) -> None:
        """Waits."""

    def close(self) -> None:
        """Ends what it uses."""


class Blocking:
    """Does everything in the calling thread."""

    async def run(self, work: Callable[[], Result]) -> Result:
        return work()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        pass


class Threads:
    """Does blocking work in threads of its own, which others do not wait for."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="bezel")

    async def run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def close(self) -> None:
        self._pool.shutdown(wait=False)


def run_now(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine that never suspends, because its `Io` blocks."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    coroutine.close()
    raise RuntimeError("The coroutine waits for something. Use AsyncClient.")


class Operation(NamedTuple):
    """An operation of the interface."""

    id: str
    method: str
    path: str
    access: Literal["none", "agent", "agent_or_key"]
    statuses: tuple[int, ...]
    """HTTP statuses that carry the answer; all others carry an error."""


CHAIN_INFO = Operation("getChainInfo", "GET", "/v1/{chain}", "none", (200,))


class Caller:
    """Calls one chain of one deployment with one set of credentials."""

    def __init__(
        self,
        *,
        io: Io,
        http: Http,
        chain: str,
        agent: Signer | None,
        api_key: str | None,
        trader: str | None,
        signing: SigningDomain | None,
        diamond: str | None,
        header_prefix: str,
        max_retries: int,
    ) -> None:
        if chain not in CHAINS:
            raise ConfigError(f"{chain!r} is no chain: one of {', '.join(CHAINS)}.")
        self.io = io
        self.http = http
        self.chain = chain
        self.agent = agent
        self.api_key = api_key
        self._trader = trader
        self._signing = signing
        self._diamond = diamond
        self._prefix = header_prefix
        self._max_retries = max_retries
        self._domain: SigningDomain | None = None

    @property
    def named_trader(self) -> str | None:
        """The trader that the client was given; `None` without one."""
        return self._trader

    @property
    def trader(self) -> str:
        """The trader whose account this is: the one that was given, else the agent itself."""
        if self._trader is not None:
            return self._trader
        if self.agent is None:
            raise ConfigError("Whose account? Give the client a trader, the address of the wallet that holds it.")
        return self.agent.address

    async def call(
        self,
        operation: Operation,
        *,
        path: Mapping[str, str | None] | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls an operation and returns its answer as parsed JSON."""
        address = self._path_of(operation, path or {}, query or {})
        content = None if body is None else json_bytes(body)
        domain = await self.domain() if self._is_signed(operation) else None
        attempt = 0
        while True:
            started = time.monotonic()
            try:
                return await self.io.run(lambda: self._send(operation, address, content, domain))
            except BezelError as error:
                pause_s = max(min(0.25 * 2**attempt, 4.0), getattr(error, "retry_after_s", 0.0))
                is_last = attempt >= self._max_retries or pause_s > MAX_WAIT_S
                if is_last or not _may_retry(operation, body, error, time.monotonic() - started):
                    raise
                attempt += 1
                await self.io.sleep(pause_s)

    async def domain(self) -> SigningDomain:
        """Returns the signing domain, read once. A service with another Diamond, chain or pinned name is refused."""
        if self._domain is None:
            info = await self.call(CHAIN_INFO)
            own: SigningDomain = info["signing"]["domain"]
            known = CHAINS[self.chain]
            pinned = self._signing
            diamond = pinned["verifyingContract"] if pinned else self._diamond or known.diamond
            for field, expected, found in (
                ("chain id", known.chain_id, info["chainId"]),
                ("chain id", known.chain_id, own["chainId"]),
                ("Diamond", diamond.lower(), info["diamond"].lower()),
                ("Diamond", diamond.lower(), own["verifyingContract"].lower()),
                ("signing name", pinned["name"] if pinned else own["name"], own["name"]),
            ):
                if expected != found:
                    raise ConfigError(
                        f"The service has the {field} {found}, and {expected} was expected. {self._advice(field)}"
                    )
            self._domain = pinned or own
        return self._domain

    async def auth_message(self) -> dict[str, object]:
        """Returns the message that authenticates a socket of the stream."""
        own = {} if self._trader is None else {"trader": self._trader}
        if self.agent is None:
            if self.api_key is None:
                raise ConfigError("This channel is private: give the client an agent or an API key.")
            return {"op": "auth", "apiKey": self.api_key, **own}
        agent, domain = self.agent, await self.domain()
        headers = await self.io.run(lambda: self._signature(agent, domain, "wsAuth", "WS", f"/v1/{self.chain}/ws", b""))
        return {"op": "auth", **headers, **own}

    def _advice(self, field: str) -> str:
        if field == "Diamond" and self._signing is None and self._diamond is None:
            return (
                f"The client names none, so the live one of {self.chain} was expected: for a local chain give "
                f"it diamond= (in devnet.json: chains, {self.chain}, diamond); for any other do not trade through this "
                "service before you know why."
            )
        return "Check base_url, chain, diamond and signing before you trade through it."

    def _is_signed(self, operation: Operation) -> bool:
        return operation.access != "none" and self.agent is not None

    def _path_of(self, operation: Operation, path: Mapping[str, str | None], query: Mapping[str, object]) -> str:
        values = {"chain": self.chain, **{name: self.trader if of is None else of for name, of in path.items()}}
        address = operation.path.format(**{name: quote(value, safe="") for name, value in values.items()})
        given = [f"{name}={quote(_query_text(value), safe='')}" for name, value in query.items() if value is not None]
        return f"{address}?{'&'.join(given)}" if given else address

    def _send(self, operation: Operation, path: str, body: bytes | None, domain: SigningDomain | None) -> Any:
        headers = {"accept": "application/json", "user-agent": "bezel-python/0.1.0"}
        if body is not None:
            headers["content-type"] = "application/json"
        if operation.access != "none":
            headers |= self._credentials(operation, path, body or b"", domain)
        answer = self.http.send(operation.method, path, headers, body)
        try:
            content = json.loads(answer.body)
        except ValueError:
            content = None
        if answer.status in operation.statuses and content is not None:
            return content
        raise refusal_of(answer, content, f"{operation.method} {self.http.base_url}{path}")

    def _credentials(
        self, operation: Operation, path: str, body: bytes, domain: SigningDomain | None
    ) -> dict[str, str]:
        own = {} if self._trader is None else {f"{self._prefix}Trader": self._trader}
        if self.agent is not None and domain is not None:
            values = self._signature(self.agent, domain, operation.id, operation.method, path, body)
            return {**{f"{self._prefix}{name.capitalize()}": value for name, value in values.items()}, **own}
        if operation.access == "agent_or_key" and self.api_key is not None:
            return {f"{self._prefix}Api-Key": self.api_key, **own}
        needed = "an agent" if operation.access == "agent" else "an agent or an API key"
        raise ConfigError(f"{operation.id} needs {needed}, and this client has none.")

    def _signature(
        self, agent: Signer, domain: SigningDomain, operation_id: str, method: str, path: str, body: bytes
    ) -> dict[str, str]:
        timestamp, nonce = time.time_ns() // 1_000_000, next_nonce()
        digest = request_digest(
            domain, operation_id, method=method, path=path, body=body, timestamp=timestamp, nonce=nonce
        )
        signature = signature_text(agent.sign(digest))
        return {"agent": agent.address, "timestamp": str(timestamp), "nonce": str(nonce), "signature": signature}


_nonces = threading.Lock()
_last_nonce = 0


def next_nonce() -> int:
    """Returns a nonce above every one before it in this process: microseconds, counted on where they repeat."""
    global _last_nonce
    with _nonces:
        _last_nonce = max(time.time_ns() // 1_000, _last_nonce + 1)
        return _last_nonce


def json_bytes(value: Any) -> bytes:
    """Returns JSON as it is signed and sent. A `Decimal` becomes a decimal string; a float is refused."""
    return json.dumps(_wire(value), separators=(",", ":"), ensure_ascii=False).encode()


def _wire(value: Any) -> Any:
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, float):
        raise TypeError(f"{value!r} is a float, which is not the number that was written: pass text or a Decimal.")
    if isinstance(value, Mapping):
        return {key: _wire(of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_wire(of) for of in value]
    return value


def _query_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(_wire(value))


def _may_retry(
    operation: Operation, body: Mapping[str, Any] | None, error: BezelError, elapsed_s: float
) -> bool:
    """Decides whether a failed call is sent again.

    Reads and orders with a clientId also after a lost answer; other writes only after a refusal that allows it; what a
    wallet signed inside the body never, because that signature is not made again.
    """
    if operation.method != "GET" and operation.access == "none":
        return False
    # A request that was held up for long has an old timestamp, and nothing was done. A wrong clock is told at once.
    if isinstance(error, ApiError) and error.code == "TIMESTAMP_OUT_OF_WINDOW":
        return elapsed_s > HELD_UP_S
    if isinstance(error, NetworkError):
        return operation.method == "GET" or (operation.id == "createOrder" and bool((body or {}).get("clientId")))
    return error.retryable


def refusal_of(answer: Answer, content: Any, what: str) -> BezelError:
    """Returns the typed error for an answer that is not a success."""
    # The notifications name the code `error`.
    code = content.get("code", content.get("error")) if isinstance(content, dict) else None
    if not isinstance(code, str):
        text = answer.body[:200].decode(errors="replace")
        return NetworkError(f"{what}: status {answer.status}, which is no answer of the interface: {text}")
    error = api_error(code, str(content.get("message")), answer.status, content.get("details"))
    error.retry_after_s = _seconds(answer.headers.get("retry-after"))
    return error


def api_error(code: str, message: str, status: int | None, details: Any) -> ApiError:
    """Returns the error of a code; a code that is newer than this package is a plain `ApiError`."""
    from .refusals import REFUSALS

    own = details if isinstance(details, dict) else {}
    return REFUSALS.get(code, ApiError)(code, message, status=status, details=own)


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdigit() else 0.0
