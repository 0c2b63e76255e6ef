"""Lists that may come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any


async def read_all(read: Callable[..., Awaitable[Any]]) -> list[Any]:
    """Returns all entries of a list: of each page, where the answer says that there is another one."""
    entries: list[Any] = []
    cursor: str | None = None
    while True:
        page = await (read() if cursor is None else read(cursor=cursor))
        entries += page["data"]
        cursor = page.get("nextCursor")
        if cursor is None:
            return entries


async def all_of(read: Callable[..., Awaitable[Any]], page_size: int) -> AsyncIterator[Any]:
    """Yields the entries of a list that comes in pages. A page is read when its first entry is reached."""
    cursor: str | None = None
    while True:
        page = await read(limit=page_size, cursor=cursor)
        for entry in page["data"]:
            yield entry
        cursor = page["nextCursor"]
        if cursor is None:
            return


def all_of_now(read: Callable[..., Any], page_size: int) -> Iterator[Any]:
    """Yields the same for callers that block."""
    cursor: str | None = None
    while True:
        page = read(limit=page_size, cursor=cursor)
        yield from page["data"]
        cursor = page["nextCursor"]
        if cursor is None:
            return
