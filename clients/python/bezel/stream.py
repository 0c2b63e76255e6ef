"""The stream: messages of one socket that comes back by itself, without a gap and without a double.

Private channels go on where they were (`fromSeq`); market data begin again with a snapshot. Messages wait in a bounded
queue, so a slow reader is never given a wrong picture: the service holds private events until they can be resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union, cast

import websockets
from websockets.exceptions import InvalidHandshake, WebSocketException

from .calls import Caller, api_error
from .errors import ApiError, ConfigError, NetworkError
from .types import StreamMessage

LogChannel = Literal["orders", "fills", "positions", "account"]
LOG_CHANNELS: tuple[LogChannel, ...] = ("orders", "fills", "positions", "account")

connect: Any = getattr(websockets, "connect")

Status = Literal["connecting", "open", "waiting"]

MAX_WAITING = 1_000
"""Messages that wait for the reader. While it is full nothing is read from the socket."""

MAX_TOPICS = 200
"""The service's limit of subscriptions per socket."""

FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0

MESSAGES_PER_SECOND = 10
"""Half of what the service accepts, because a network can deliver two seconds' worth in one."""

MAX_REUSED_NONCES = 3
"""Tolerated reuses of a nonce in a row. Another program with the same key may have used one."""

OPEN_S = 30.0

CLOSE_S = 0.5
"""Time for a polite goodbye. A socket whose messages nobody reads any more would never hear the answer to it."""

SILENCE = 3
"""Heartbeats without any message after which the socket counts as lost."""


class Topic(NamedTuple):
    """A channel, with its market and interval where it has them: `Topic("candles", "BTC/USD", "1m")`."""

    channel: str
    market: str | None = None
    interval: str | None = None

    def fields(self) -> dict[str, str]:
        """Returns what names the topic in a message."""
        return {name: value for name, value in self._asdict().items() if value is not None}


Topics = Sequence[Union[str, Topic]]


class Resume:
    """Where each channel goes on, and which messages were told before."""

    def __init__(self, topics: Sequence[Topic], from_seq: int | Mapping[str, int] | None) -> None:
        self._next: dict[Topic, int] = {}
        for topic in topics:
            start = from_seq.get(topic.channel) if isinstance(from_seq, Mapping) else from_seq
            if start is not None and topic.channel in LOG_CHANNELS:
                self._next[topic] = start

    def subscription(self, topic: Topic) -> dict[str, object]:
        """Returns the message that subscribes, from the event that is wanted next where there was one."""
        start = self._next.get(topic) if topic.channel in LOG_CHANNELS else None
        resumed = {} if start is None else {"fromSeq": start}
        return {"op": "subscribe", **topic.fields(), **resumed}

    def forget_feeds(self) -> None:
        """Begins market data anew: a new socket sends a snapshot of them first."""
        self._next = {topic: seq for topic, seq in self._next.items() if topic.channel in LOG_CHANNELS}

    def accept(self, topic: Topic, message: Mapping[str, Any]) -> Literal["new", "old", "gap"]:
        """Notes a message and says whether it is new, was told before, or comes after one that was lost."""
        seq = message.get("seq")
        if seq is None:
            return "new"
        wanted = self._next.get(topic)
        is_log = topic.channel in LOG_CHANNELS
        if is_log and wanted is not None and seq < wanted:
            return "old"
        if not is_log and not message["snapshot"] and wanted is not None and seq != wanted:
            return "gap"
        self._next[topic] = seq + 1
        return "new"


async def listen(
    caller: Caller,
    topics: Topics,
    from_seq: int | Mapping[str, int] | None,
    on_status: Callable[[Status], None] | None,
) -> AsyncGenerator[StreamMessage, None]:
    """Yields the messages of topics for ever, over any number of sockets."""
    wanted = [topic if isinstance(topic, Topic) else Topic(topic) for topic in topics]
    if len(wanted) > MAX_TOPICS:
        raise ConfigError(f"A socket takes {MAX_TOPICS} subscriptions: listen to the rest with another one.")
    queue: asyncio.Queue[StreamMessage | BaseException] = asyncio.Queue(MAX_WAITING)
    task = asyncio.create_task(_keep_connected(caller, wanted, from_seq, on_status or (lambda _: None), queue))
    try:
        while True:
            entry = await queue.get()
            if isinstance(entry, BaseException):
                raise entry
            yield entry
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _keep_connected(
    caller: Caller,
    topics: list[Topic],
    from_seq: int | Mapping[str, int] | None,
    on_status: Callable[[Status], None],
    queue: asyncio.Queue[StreamMessage | BaseException],
) -> None:
    resume = Resume(topics, from_seq)
    attempts = reused = 0
    while True:
        socket = Socket(caller, topics, resume, queue)
        try:
            on_status("connecting")
            await socket.serve(lambda: on_status("open"))
        except (OSError, WebSocketException, TimeoutError, NetworkError):
            pass
        except ApiError as error:
            reused = reused + 1 if error.code == "NONCE_REUSED" else 0
            if not error.retryable and not 0 < reused <= MAX_REUSED_NONCES:
                return await queue.put(error)
        except Exception as error:
            return await queue.put(error)
        attempts = 1 if socket.is_subscribed else attempts + 1
        on_status("waiting")
        full = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** (attempts - 1)) if attempts < 10 else MAX_PAUSE_S
        # Drawn from the upper half, so that the clients of a restarting service do not all return at once.
        await asyncio.sleep(full * random.uniform(0.5, 1))


class Socket:
    """One connection: greets, authenticates, subscribes, then passes messages on until it breaks."""

    def __init__(
        self, caller: Caller, topics: list[Topic], resume: Resume, queue: asyncio.Queue[StreamMessage | BaseException]
    ) -> None:
        self._caller = caller
        self._topics = topics
        self._resume = resume
        self._queue = queue
        self._subscribed: set[Topic] = set()
        self._is_private = any(topic.channel in LOG_CHANNELS for topic in topics)
        self.is_subscribed = False
        """True once the service confirmed a subscription, so it works."""

    async def serve(self, on_open: Callable[[], None]) -> None:
        """Serves until the connection breaks. Raises the service's refusal when it refuses."""
        url = f"ws{self._caller.http.base_url.removeprefix('http')}/v1/{self._caller.chain}/ws"
        self._resume.forget_feeds()
        connection: Any
        try:
            connection = await connect(
                url, compression=None, ping_interval=None, max_size=None, open_timeout=OPEN_S, close_timeout=CLOSE_S
            )
        except InvalidHandshake:
            # The reason of a refused upgrade is in the answer of HTTP, which a read of the chain gets as well.
            await self._caller.domain()
            raise
        try:
            hello = await _read(connection, OPEN_S)
            silence_s = SILENCE * hello.get("heartbeatMs", 15_000) / 1_000
            on_open()
            if self._is_private:
                await self._say(connection, await self._caller.auth_message())
            subscribing = asyncio.create_task(self._subscribe(connection))
            try:
                while True:
                    await self._hear(connection, await _read(connection, silence_s))
            finally:
                subscribing.cancel()
        finally:
            await connection.close()

    async def _subscribe(self, connection: Any) -> None:
        # Nothing is awaited in between: the service answers in order, so what follows a refused auth is refused too.
        with contextlib.suppress(OSError, WebSocketException):
            for topic in self._topics:
                await self._say(connection, self._resume.subscription(topic))
                await asyncio.sleep(1 / MESSAGES_PER_SECOND if len(self._topics) >= MESSAGES_PER_SECOND else 0)

    async def _hear(self, connection: Any, message: dict[str, Any]) -> None:
        op = message.get("op")
        topic = Topic(message.get("channel", ""), message.get("market"), message.get("interval"))
        if op is None:
            await self._receive(connection, topic, message)
        elif op == "ping":
            await self._say(connection, {"op": "pong", "timestamp": message["timestamp"]})
        elif op == "subscribed":
            self._subscribed.add(topic)
            self.is_subscribed = True
        elif op == "error":
            raise api_error(message["code"], message["message"], None, message.get("details"))

    async def _receive(self, connection: Any, topic: Topic, message: dict[str, Any]) -> None:
        # A message from before the confirmation belongs to a subscription that was ended.
        if topic not in self._subscribed:
            return
        verdict = self._resume.accept(topic, message)
        if verdict == "new":
            await self._queue.put(cast(StreamMessage, message))
        elif verdict == "gap":
            self._subscribed.discard(topic)
            await self._say(connection, {"op": "unsubscribe", **topic.fields()})
            self._resume.forget_feeds()
            await self._say(connection, self._resume.subscription(topic))

    async def _say(self, connection: Any, message: Mapping[str, object]) -> None:
        await connection.send(json.dumps(message, separators=(",", ":")))


async def _read(connection: Any, timeout_s: float) -> Any:
    # Not asyncio.wait_for, which in Python 3.11 can swallow a cancellation.
    async with asyncio.timeout(timeout_s):
        return json.loads(await connection.recv())
