"""Waits for what follows a transaction that changes an order or a position."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from .api import AsyncApi
from .calls import Io
from .decimals import number
from .errors import BezelError, PositionUpdateRefused, WaitTimeout
from .pages import read_all
from .types import AccountEvent, Order, Position

LAST = 2**53 - 1
"""Stands after every event, so that a page from there only tells the number of the last one."""


class Patience:
    """A wait with an end."""

    def __init__(self, io: Io, what: str, *, timeout_s: float, poll_s: float) -> None:
        self._io = io
        self._what = what
        self._timeout_s = timeout_s
        self._poll_s = poll_s
        self._deadline = time.monotonic() + timeout_s

    async def pause(self) -> None:
        """Waits until the next look. Raises `WaitTimeout` when the time is over."""
        if time.monotonic() >= self._deadline:
            raise WaitTimeout(f"{self._what} did not happen within {self._timeout_s} s. It may still.")
        await self._io.sleep(self._poll_s)


async def last_seq(api: AsyncApi) -> int:
    """Returns the number of the last event of the account."""
    return (await api.list_events(after=LAST, limit=1))["lastSeq"]


async def order_changed(api: AsyncApi, id: str, body: Mapping[str, Any], patience: Patience) -> Order:
    """Waits until an order has the values that were asked for, or rests no more."""
    while True:
        order: Order = await api.get_order(id)
        if order["status"] != "open" or all(_same(order, field, value) for field, value in body.items()):
            return order
        await patience.pause()


async def order_ended(api: AsyncApi, before: Order, patience: Patience) -> Order:
    """Waits until an order is no longer what it was when its cancellation was sent."""
    while (order := await api.get_order(before["id"]))["status"] == before["status"]:
        await patience.pause()
    return order


async def position_changed(
    api: AsyncApi,
    *,
    before: Position,
    prepared: Position,
    tx_hash: str,
    after: int,
    is_asked: bool,
    patience: Patience,
) -> Position:
    """Waits until a position has changed, by the account's log after event `after`.

    Stops change with the transaction. Leverage and collateral (`is_asked`) wait for the oracle, which may refuse.
    """
    is_pending = False
    async for position in _states(api, before["id"], after, patience):
        if not is_asked:
            if (position["sl"], position["tp"]) == (prepared["sl"], prepared["tp"]):
                return position
            continue
        update = position["pendingUpdate"]
        if update is not None:
            is_pending = True
            if update["status"] == "timed_out":
                raise WaitTimeout(
                    f"The oracle did not answer the change of position {before['id']} ({tx_hash}): what it took is "
                    "locked until cancel_position_update."
                )
        elif position["leverage"] != before["leverage"]:
            return position
        elif is_pending:
            raise PositionUpdateRefused(before["id"], tx_hash)
    raise AssertionError("unreachable")


async def _states(api: AsyncApi, id: str, after: int, patience: Patience) -> AsyncGenerator[Position, None]:
    """Yields each state of a position that the log tells after an event, then those that follow."""
    while True:
        page = await api.list_events(after=after)
        for event in page["data"]:
            after = event["seq"]
            if event["channel"] == "positions":
                yield _own(event, id)
        if after >= page["lastSeq"]:
            # What was asked may be so already, and then no event tells of it.
            for position in await read_all(api.list_positions):
                if position["id"] == id and position["pendingUpdate"] is None:
                    yield position
            await patience.pause()


def _own(event: AccountEvent, id: str) -> Position:
    positions: Any = event["data"]
    for position in positions:
        if position["id"] == id:
            found: Position = position
            return found
    raise BezelError(f"Position {id} was closed meanwhile.")


def _same(order: Mapping[str, Any], field: str, value: Any) -> bool:
    if value is None:
        return True
    return number(order[field] or "0") == number(value)
