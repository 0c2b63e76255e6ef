"""Ends many orders and positions: page after page, each one checked, sent and mined before the next.

Orders fill and positions close while a page is on its way. A page that no longer fits the chain is read and prepared
again. One that never fits is given up, and what it would have ended is ended one by one, so that nothing holds up the
others.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from .base import POLL_S, WAIT_S
from .batch import verify_batch
from .errors import (
    ApiError,
    BatchInterrupted,
    BatchNotDone,
    BezelError,
    NodeError,
    PreparationExpired,
    TransactionReverted,
    UnverifiedTransaction,
)
from .facts import CancelOrder, ClosePosition
from .pages import read_all
from .types import ClosePositionRequest, FlattenRequest, Numeric, Order, Position, PreparedBatch
from .writes import ENDED, AsyncWrites, log_warnings

MAX_TRIES = 4
"""Attempts at one page. Each fails because something of the page changed before it was mined."""

FIRST_PAUSE_S = 0.5
"""Pause before the second attempt, and twice as long before each further one: the service has to see the block too."""

PRESS_S = 2.0
"""Pause before everything that is left is ended again. Each time is a write, of which a minute has room for some."""

RECLAIM_S = 15.0
"""Longest wait for the reclaims of a page."""

GONE = ("filled", "rejected", "canceled", "expired")
"""Statuses of an order that holds nothing and waits for nothing any more."""


class LeftOpen(TypedDict):
    """An order or a position that stays as it is, so that the others are not held up by it."""

    id: str
    code: str
    """Code of the service's refusal, or of an error of this package such as `UNVERIFIED_TRANSACTION`."""
    message: str
    """The reason in words, for people."""


class Ended(NamedTuple):
    """The outcome of ending many orders and positions."""

    orders: list[Order]
    """Orders that were cancelled, reclaimed or withdrawn, and those that close positions.

    They are as the service prepared them: a close is `prepared`, a resting order still `open`. With `wait` they are as
    they ended.
    """
    left_out: list[LeftOpen]
    """Orders and positions that stay as they are, each with its reason. Always empty with `wait`."""
    tx_hashes: list[str]
    """Hashes of the transactions that were sent, those that reverted too."""


class _Asked(NamedTuple):
    """A batch as it was asked for: what it may end, and how a page of it is prepared."""

    prepare: Callable[[str | None], Awaitable[PreparedBatch]]
    ends_orders: bool
    ends_positions: bool
    market: str | None
    slippage: Numeric | None = None

    def of_market(self, found: list[Any]) -> list[Any]:
        """Returns the orders or positions that the batch is about."""
        market = self.market and self.market.replace("-", "/")
        return [one for one in found if market is None or one["market"] == market]


@dataclass
class _Progress:
    """A batch that is under way."""

    ended: Ended = field(default_factory=lambda: Ended([], [], []))
    closed: set[str] = field(default_factory=set)
    """Positions whose close was sent."""
    dropped: set[str] = field(default_factory=set)
    """Closes that were prepared for attempts that failed. The service withdraws them by itself."""
    stuck: list[Order] = field(default_factory=list)
    """Orders of the pages that were given up."""
    failure: BezelError | None = None
    """The error that the last of them was given up for."""

    def own(self, page: PreparedBatch) -> list[Order]:
        """Returns the orders of a page, without closes of an earlier attempt that were withdrawn."""
        return [one for one in page["orders"] if one["status"] != "expired" or one["id"] not in self.dropped]

    def drop(self, page: PreparedBatch) -> None:
        """Keeps of a page that failed only the orders that needed no transaction."""
        self.ended.orders.extend(order for order in self.own(page) if order["status"] == "expired")
        self.dropped |= {order["id"] for order in page["orders"] if order["status"] == "prepared"}

    def give_up(self, page: PreparedBatch, failure: BezelError) -> None:
        self.stuck += [order for order in page["orders"] if order["status"] != "expired"]
        self.leave_out_of(page)
        self.failure = failure

    def undone(self) -> list[Order]:
        """Returns the orders of pages that were given up, without those that were ended since."""
        known = {order["id"] for order in self.ended.orders}
        return [order for order in self.stuck if order["id"] not in known]

    def leave_out_of(self, page: PreparedBatch) -> None:
        for one in page["leftOut"]:
            self.ended.left_out.append({"id": one["id"], "code": one["code"], "message": one["message"]})

    def leave_out(self, id: str, error: BezelError) -> None:
        """Names what could not be ended. Raises an error that is not about it, such as a node that is away."""
        if not isinstance(error, ApiError) and not is_outdated(error):
            raise error
        # What is not found has ended by itself.
        if error.code not in ("ORDER_NOT_FOUND", "POSITION_NOT_FOUND"):
            message = error.message if isinstance(error, ApiError) else str(error)
            self.ended.left_out.append({"id": id, "code": error.code, "message": message})


class AsyncEnding(AsyncWrites):
    """The methods that end everything."""

    async def cancel_all(
        self,
        *,
        market: str | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Cancels all orders, of one market or of all: resting, timed out and prepared ones.

        Returns when the transactions are mined. What can't be ended is named in `left_out`, and never holds up the
        others. With `wait` it repeats itself until no order is left, and raises `BatchNotDone` after `timeout_s`.
        """
        asked = _Asked(lambda next: self.api.cancel_all_orders(market=market, next=next), True, False, market)
        return await self._end(asked, wait, timeout_s, poll_s)

    async def close_all(
        self,
        *,
        market: str | None = None,
        slippage: Numeric | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Closes all positions, of one market or of all.

        Returns when the transactions are mined, and `orders` are the closes, which the oracle fills a moment later.
        What can't be ended is named in `left_out`. With `wait` it repeats itself until no position is left, and raises
        `BatchNotDone` after `timeout_s`.
        """

        def prepare(next: str | None) -> Awaitable[PreparedBatch]:
            return self.api.close_all_positions(_batch_body(market, slippage, next))

        return await self._end(_Asked(prepare, False, True, market, slippage), wait, timeout_s, poll_s)

    async def flatten(
        self,
        *,
        market: str | None = None,
        slippage: Numeric | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Cancels all orders, then closes all positions, of one market or of all.

        Returns when the transactions are mined: orders are cancelled then, and the oracle fills the closes a moment
        later. What changes meanwhile is read and tried again, and what can't be ended is named in `left_out`. With
        `wait` it returns once the account is flat: it waits for the closes, repeats itself for what is left, such as a
        close that the contracts refused, and raises `BatchNotDone` after `timeout_s`.
        """

        def prepare(next: str | None) -> Awaitable[PreparedBatch]:
            return self.api.flatten(_batch_body(market, slippage, next))

        return await self._end(_Asked(prepare, True, True, market, slippage), wait, timeout_s, poll_s)

    async def _end(self, asked: _Asked, wait: bool, timeout_s: float, poll_s: float) -> Ended:
        """Ends everything once, with `wait` until nothing is left: errors that pass are waited out then.

        Raises `BatchInterrupted`, or the error itself when nothing at all was sent.
        """
        deadline = time.monotonic() + timeout_s
        orders: dict[str, Order] = {}
        tx_hashes: list[str] = []
        while True:
            progress, failure = await self._end_all(asked)
            ended = progress.ended
            tx_hashes += ended.tx_hashes
            orders |= {order["id"]: order for order in ended.orders}
            try:
                if failure is not None and not (wait and (failure.retryable or is_outdated(failure))):
                    raise failure
                if not wait:
                    return ended
                for order in ended.orders:
                    orders[order["id"]] = await self._settled(order, deadline, poll_s)
                left = await self._persistently(lambda: self._left_open(asked, ended), deadline, PRESS_S)
            except BezelError as error:
                if not tx_hashes:
                    raise
                whole = Ended([*orders.values()], ended.left_out, tx_hashes)
                raise BatchInterrupted(whole, progress.undone(), error) from error
            outcome = Ended([*orders.values()], left, tx_hashes)
            if not left:
                return outcome
            if time.monotonic() >= deadline:
                raise BatchNotDone(outcome, timeout_s) from failure
            await self._io.sleep(PRESS_S)

    async def _settled(self, order: Order, deadline: float, poll_s: float) -> Order:
        """Returns an order once it has ended, or as it is at the deadline."""
        # A timed-out order ends when it is reclaimed. A close that times out is reclaimed with the next round.
        ends = GONE if order["status"] == "timed_out" else ENDED
        while True:
            now = await self._persistently(lambda: self.api.get_order(order["id"]), deadline, PRESS_S)
            if now["status"] in ends or time.monotonic() >= deadline:
                return now
            await self._io.sleep(poll_s)

    async def _left_open(self, asked: _Asked, ended: Ended) -> list[LeftOpen]:
        """Returns what is still there of all that a batch ends, with the reason where one was named."""
        orders, positions = await self._targets(asked)
        reasons = {one["id"]: one for one in ended.left_out}
        left: list[LeftOpen] = []
        for id in [order["id"] for order in orders] + [position["id"] for position in positions]:
            unknown: LeftOpen = {"id": id, "code": BatchNotDone.code, "message": "It is still open."}
            left.append(reasons.get(id, unknown))
        return left

    async def _targets(self, asked: _Asked) -> tuple[list[Order], list[Position]]:
        """Reads the orders and positions that a batch may end."""
        orders = await read_all(self.api.list_open_orders) if asked.ends_orders else []
        positions = await read_all(self.api.list_positions) if asked.ends_positions else []
        return asked.of_market(orders), asked.of_market(positions)

    async def _end_all(self, asked: _Asked) -> tuple[_Progress, BezelError | None]:
        """Ends page after page, then one by one what the pages that were given up have left.

        Returns the error that interrupted it, or that of such a page when nothing at all could be sent.
        """
        progress = _Progress()
        try:
            cursor = await self._end_page(asked, None, progress)
            while cursor is not None:
                cursor = await self._end_page(asked, cursor, progress)
            if progress.failure is not None:
                await self._end_each(asked, progress)
        except BezelError as error:
            return progress, error
        return progress, None if progress.ended.tx_hashes else progress.failure

    async def _end_page(self, asked: _Asked, cursor: str | None, progress: _Progress) -> str | None:
        """Prepares one page until it fits and is mined, or gives it up. Returns where the next one begins."""
        # A node of another chain is noticed before anything is prepared.
        await self._ready()
        attempt = 0
        while True:
            known, held = await self._targets(asked)
            page = await asked.prepare(cursor)
            try:
                await self._send_page(asked, page, known, held, progress)
            except BezelError as error:
                if not is_outdated(error):
                    raise
                progress.drop(page)
                attempt += 1
                if attempt == MAX_TRIES:
                    progress.give_up(page, error)
                    return page["next"]
                await self._io.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
                continue
            progress.leave_out_of(page)
            if page["next"] is not None:
                await self._until_reclaimed(page["orders"])
            return page["next"]

    async def _send_page(
        self, asked: _Asked, page: PreparedBatch, known: list[Order], held: list[Position], progress: _Progress
    ) -> None:
        """Verifies and sends one page, and waits until it is mined. Raises when it does not fit the chain any more."""
        agent, node = await self._ready()
        facts = await self._gatherer.batch_facts(page, held, agent.address)
        closed = verify_batch(page, known, held, asked.slippage, lambda of, symbol: facts[of, symbol])
        log_warnings(page)
        ended, before = progress.ended, len(progress.ended.orders)
        if page["transaction"] is not None:
            ended.tx_hashes.append(await self._send_prepared(node, agent, page["transaction"]))
        ended.orders.extend(progress.own(page))
        if page["transaction"] is not None:
            try:
                await self._mined(ended.tx_hashes[-1])
            except TransactionReverted:
                del ended.orders[before:]
                raise
        progress.closed |= closed

    async def _until_reclaimed(self, orders: list[Order]) -> None:
        """Waits until the timed-out closes of a page are reclaimed: they stand in the way of closes of the next one."""
        # All of them are in one transaction.
        late = [order["id"] for order in orders if order["status"] == "timed_out" and order["reduceOnly"]]
        for id in late[:1]:
            with contextlib.suppress(BezelError):
                await self.wait_for_order(id, GONE, timeout_s=RECLAIM_S, poll_s=POLL_S)

    async def _end_each(self, asked: _Asked, progress: _Progress) -> None:
        """Ends what is left of the pages that were given up, each order and position in a transaction of its own.

        Orders come first, because the reclaim of an earlier close may free a position.
        """
        named = {one["id"] for one in progress.ended.left_out}
        orders, _ = await self._targets(asked)
        done = named | {order["id"] for order in progress.ended.orders}
        # Prepared ones hold nothing: they are the closes of failed attempts, and expire by themselves.
        resting = [order["id"] for order in orders if order["id"] not in done and order["status"] != "prepared"]
        await self._each({id: self._cancel_alone for id in resting}, progress)
        _, positions = await self._targets(asked)
        held = [position["id"] for position in positions if position["id"] not in named | progress.closed]
        body: ClosePositionRequest = {} if asked.slippage is None else {"slippage": asked.slippage}
        await self._each({id: lambda id: self._close_alone(id, body) for id in held}, progress)

    async def _each(
        self, ends: dict[str, Callable[[str], Awaitable[tuple[Order, str] | None]]], progress: _Progress
    ) -> None:
        """Sends the end of each, then waits until they are mined. What fails is left out and named."""
        sent: list[tuple[str, Order, str]] = []
        for id, end in ends.items():
            try:
                made = await end(id)
            except BezelError as error:
                progress.leave_out(id, error)
                continue
            if made is not None:
                order, tx_hash = made
                sent.append((id, order, tx_hash))
                progress.ended.orders.append(order)
                progress.ended.tx_hashes.append(tx_hash)
        for id, order, tx_hash in sent:
            try:
                await self._mined(tx_hash)
            except TransactionReverted as error:
                progress.ended.orders.remove(order)
                progress.leave_out(id, error)

    async def _cancel_alone(self, id: str) -> tuple[Order, str] | None:
        """Cancels or reclaims an order. Returns it with the hash; `None` when it has ended by itself."""
        order = await self.api.get_order(id)
        if order["status"] in GONE:
            return None
        prepared, tx_hash = await self._execute(CancelOrder(order), lambda: self.api.cancel_order(id), None)
        return None if tx_hash is None else (prepared["order"], tx_hash)

    async def _close_alone(self, id: str, body: ClosePositionRequest) -> tuple[Order, str] | None:
        write = ClosePosition(await self.api.get_position(id), body)
        prepared, tx_hash = await self._execute(write, lambda: self.api.close_position(id, body), None)
        return None if tx_hash is None else (prepared["order"], tx_hash)


def is_outdated(error: BezelError) -> bool:
    """Returns true for an error of something that changed after it was prepared, so that it is prepared again.

    Nothing of it was done: it was not signed, or reverted, or would have.
    """
    if isinstance(error, NodeError):
        return error.method == "eth_estimateGas"
    return isinstance(error, (UnverifiedTransaction, TransactionReverted, PreparationExpired))


def _batch_body(market: str | None, slippage: Numeric | None, next: str | None) -> FlattenRequest:
    body: FlattenRequest = {}
    if market is not None:
        body["market"] = market
    if slippage is not None:
        body["slippage"] = slippage
    if next is not None:
        body["next"] = next
    return body
