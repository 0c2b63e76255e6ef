"""Loops over what never ends: `AsyncFeed` is awaited, `Feed` blocks over a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Generic, TypeVar

from .api import AsyncApi
from .calls import Caller
from .errors import BezelError, LogGap
from .settle import LAST
from .stream import FIRST_PAUSE_S, LOG_CHANNELS, MAX_PAUSE_S, listen
from .types import AccountEvent, EventPage

Item = TypeVar("Item")

PAGE = 500
"""Largest page that the service returns."""

MAX_AHEAD = 1_000
"""Events of one channel that may be ahead of another's. Beyond it they are read as pages again."""


class AsyncFeed(Generic[Item]):
    """An endless series. Leave the loop, or the `async with`, and it ends."""

    def __init__(self, source: AsyncGenerator[Item, None]) -> None:
        self._source = source
        self._reading: asyncio.Task[Item] | None = None
        self._is_closed = False

    def __aiter__(self) -> AsyncFeed[Item]:
        return self

    async def __anext__(self) -> Item:
        if self._is_closed:
            raise StopAsyncIteration
        # A reader that stops waiting, for instance by a timeout of its own, gets the item with its next call.
        reading = self._reading = self._reading or asyncio.create_task(self._take())
        await asyncio.wait([reading])
        self._reading = None
        if self._is_closed:
            raise StopAsyncIteration
        return reading.result()

    async def _take(self) -> Item:
        return await self._source.__anext__()

    async def close(self) -> None:
        """Ends the series and its socket, also while a loop waits for the next item."""
        self._is_closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._source.aclose()

    async def __aenter__(self) -> AsyncFeed[Item]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Feed(Generic[Item]):
    """An endless series for callers that block. A thread serves its socket, which so lives on between two reads."""

    def __init__(self, source: Callable[[], AsyncGenerator[Item, None]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bezel-feed", daemon=True)
        self._thread.start()
        self._feed = AsyncFeed(source())
        self._is_closed = False

    def __iter__(self) -> Feed[Item]:
        return self

    def __next__(self) -> Item:
        if self._is_closed:
            raise StopIteration
        try:
            return asyncio.run_coroutine_threadsafe(self._feed.__anext__(), self._loop).result()
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Ends the series, its socket and its thread."""
        if self._is_closed:
            return
        self._is_closed = True
        asyncio.run_coroutine_threadsafe(self._feed.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Feed[Item]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def follow_log(caller: Caller, api: AsyncApi, after: int | None) -> AsyncGenerator[AccountEvent, None]:
    """Yields every event of the account after `after`, in the order of `seq`: first from pages, then live.

    `None` begins with what happens from now on. The numbers have no hole over the four channels together, so the next
    event is always known; one that is ahead waits.
    """
    place = (await _page(caller, api, LAST, 1))["lastSeq"] if after is None else after
    while True:
        while True:
            page = await _page(caller, api, place, PAGE)
            for event in page["data"]:
                if event["seq"] != place + 1:
                    raise LogGap(f"The event after {place} is no longer kept: read the account anew.")
                place = event["seq"]
                yield event
            if place >= page["lastSeq"]:
                break
            if not page["data"]:
                raise LogGap(f"The event after {place} is no longer kept: read the account anew.")
        live = listen(caller, LOG_CHANNELS, place + 1, None)
        try:
            ahead: dict[int, AccountEvent] = {}
            async for message in live:
                event = _entry(message)
                ahead[event["seq"]] = event
                while (following := ahead.pop(place + 1, None)) is not None:
                    place += 1
                    yield following
                if len(ahead) > MAX_AHEAD:
                    break
        finally:
            await live.aclose()


async def _page(caller: Caller, api: AsyncApi, after: int, limit: int) -> EventPage:
    """Reads a page, and waits out a service that restarts."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await api.list_events(after=after, limit=limit)
        except BezelError as error:
            if not error.retryable:
                raise
        await caller.io.sleep(pause_s)
        pause_s = min(2 * pause_s, MAX_PAUSE_S)


def _entry(message: object) -> AccountEvent:
    """Returns a live message in the shape of a page."""
    of: dict[str, object] = dict(message)  # type: ignore[call-overload]
    of.pop("snapshot", None)
    return of  # type: ignore[return-value]
