"""The client: `AsyncClient` is awaited, `Client` blocks. Both have the same methods.

`client.api` is the interface as it is, one method an operation. The client's own methods do what takes several steps:
prepare, check, sign, send, report, wait.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType

from .base import POLL_S, WAIT_S
from .ending import AsyncEnding
from .errors import OrderNotFilled
from .facts import CancelOrder, CancelPositionUpdate, ClosePosition, CreateOrder, UpdateOrder, UpdatePosition
from .feed import AsyncFeed, follow_log
from .pages import all_of
from .settle import last_seq, order_changed, order_ended, position_changed
from .stream import Status, Topics, listen
from .types import (
    AccountEvent,
    ClosePositionRequest,
    CreateOrderRequest,
    Fill,
    FillHistoryEntry,
    Numeric,
    Order,
    OrderPreview,
    Position,
    PositionPreview,
    StreamMessage,
    UpdateOrderRequest,
    UpdatePositionRequest,
)


class AsyncClient(AsyncEnding):
    """A client for asyncio. `Client` has the same methods, and blocks."""

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open_order(self, body: CreateOrderRequest, *, expected_price: Numeric | None = None) -> Order:
        """Places an order: prepares it, checks the transaction, signs and sends it, and reports its hash.

        Returns the order as it is then, usually `prepared`, `pending` or `open`: see `wait_for_fill`. Use a `clientId`,
        and a lost answer is asked for again and never placed twice.
        """
        write = CreateOrder(body)
        return await self._trade(write, lambda: self.api.create_order(body), expected_price)

    async def change_order(
        self, id: str, body: UpdateOrderRequest, *, expected_price: Numeric | None = None
    ) -> Order:
        """Changes a resting order, and returns it once the change is mined."""
        write = UpdateOrder(await self.api.get_order(id), body)
        await self._trade(write, lambda: self.api.update_order(id, body), expected_price)
        return await order_changed(self.api, id, body, self._patience(f"The change of order {id}"))

    async def cancel_order(self, id: str) -> Order:
        """Cancels a resting order, reclaims a timed-out one, or withdraws one that was only prepared.

        Returns the order once that is mined: `canceled`, or `filled` when it was filled just before.
        """
        before = await self.api.get_order(id)
        order = await self._trade(CancelOrder(before), lambda: self.api.cancel_order(id), None)
        if before["status"] == "prepared":
            return order
        return await order_ended(self.api, before, self._patience(f"The cancellation of order {id}"))

    async def close_position(
        self, id: str, body: ClosePositionRequest | None = None, *, expected_price: Numeric | None = None
    ) -> Order:
        """Closes a position, or the part that `size` says, and returns the order that does it."""
        asked: ClosePositionRequest = body or {}
        write = ClosePosition(await self.position(id), asked)
        return await self._trade(write, lambda: self.api.close_position(id, asked), expected_price)

    async def change_position(
        self, id: str, body: UpdatePositionRequest, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S
    ) -> Position:
        """Changes stops, leverage or collateral of a position, and returns it once the change is in force.

        Stops change with the transaction. Leverage and collateral wait for the oracle, and what they take from the
        wallet is locked until it answers; a refusal is `PositionUpdateRefused`.
        """
        before, after = await self.position(id), await last_seq(self.api)
        write = UpdatePosition(before, body)
        prepared, tx_hash = await self._execute(write, lambda: self.api.update_position(id, body), None)
        return await position_changed(
            self.api,
            before=before,
            prepared=prepared["position"],
            tx_hash=await self._mined(tx_hash),
            after=after,
            is_asked="leverage" in body or "collateral" in body,
            patience=self._patience(f"The change of position {id}", timeout_s, poll_s),
        )

    async def cancel_position_update(self, id: str) -> Position:
        """Reclaims a change of a position that the oracle never answered, and returns the position without it."""
        write = CancelPositionUpdate(await self.position(id))
        _, tx_hash = await self._execute(write, lambda: self.api.cancel_position_update(id), None)
        await self._mined(tx_hash)
        patience = self._patience(f"The end of the change of position {id}")
        while (position := await self.position(id))["pendingUpdate"] is not None:
            await patience.pause()
        return position

    async def position(self, id: str) -> Position:
        """Returns an open position of the trader. Raises `PositionNotFound` when there is none."""
        return await self.api.get_position(id)

    async def wait_for_fill(self, id: str, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S) -> Fill:
        """Waits for the fill of an order, and returns it.

        Raises `OrderNotFilled` when the order ends without one or the oracle does not answer it in time, which
        `cancel_order` then reclaims, and `WaitTimeout` after `timeout_s`, when the order goes on by itself.
        """
        order = await self.wait_for_order(id, timeout_s=timeout_s, poll_s=poll_s)
        if order["fill"] is None:
            raise OrderNotFilled(order)
        return order["fill"]

    async def preview_order(
        self, body: CreateOrderRequest, *, simulate: bool = False, agent: str | None = None
    ) -> OrderPreview:
        """Says what an order would cost and do now, without making it. Takes what `open_order` takes.

        `missing` lists what is not there yet: balance, allowance, delegation or a right of the agent, each with its
        remedy. `simulate` asks the contracts too. `agent` is the one whose rights are judged, by default the client's.
        """
        return await self.api.preview_order(
            market=body["market"],
            side=body["side"],
            type=body["type"],
            size=body["size"],
            leverage=body["leverage"],
            price=body.get("price"),
            collateral=body.get("collateral"),
            sl=body.get("sl"),
            tp=body.get("tp"),
            reduce_only=body.get("reduceOnly"),
            slippage=body.get("slippage"),
            simulate=simulate or None,
            agent=agent,
        )

    async def preview_close(
        self,
        id: str,
        body: ClosePositionRequest | None = None,
        *,
        simulate: bool = False,
        agent: str | None = None,
    ) -> OrderPreview:
        """Says what the close of a position would pay and cost now. Takes what `close_position` takes."""
        asked: ClosePositionRequest = body or {}
        return await self.api.preview_close(
            id, size=asked.get("size"), slippage=asked.get("slippage"), simulate=simulate or None, agent=agent
        )

    async def preview_position(
        self, id: str, body: UpdatePositionRequest, *, simulate: bool = False, agent: str | None = None
    ) -> PositionPreview:
        """Says what a change of a position would cost and make of it now. Takes what `change_position` takes."""
        change = body.get("collateral")
        amounts: dict[str, Numeric] = {} if change is None else {change["action"]: change["amount"]}
        return await self.api.preview_position(
            id,
            sl=body.get("sl"),
            tp=body.get("tp"),
            leverage=body.get("leverage"),
            add_collateral=amounts.get("add"),
            remove_collateral=amounts.get("remove"),
            simulate=simulate or None,
            agent=agent,
        )

    def all_fills(self, *, page_size: int = 500) -> AsyncIterator[FillHistoryEntry]:
        """Yields every execution of the account, newest first, page after page."""
        return all_of(self.api.list_fills, page_size)

    def all_orders(self, *, page_size: int = 500) -> AsyncIterator[Order]:
        """Yields every order of the account, those that ended too, newest first, page after page."""
        return all_of(self.api.list_order_history, page_size)

    def stream(
        self,
        topics: Topics,
        *,
        from_seq: int | Mapping[str, int] | None = None,
        on_status: Callable[[Status], None] | None = None,
    ) -> AsyncFeed[StreamMessage]:
        """Listens to channels: `prices`, `Topic("book", "BTC/USD")`, `orders` and so on, over lost connections.

        Private channels with `from_seq` (one number, or one for each channel) go on where an earlier program ended;
        without it they begin with a snapshot.
        """
        return AsyncFeed(listen(self.caller, topics, from_seq, on_status))

    def events(self, after: int | None = 0) -> AsyncFeed[AccountEvent]:
        """Follows the account's log in the order of `seq`, each event once: orders, fills, positions and account.

        `after` is the last event that you have; `None` begins with what happens from now on.
        """
        return AsyncFeed(follow_log(self.caller, self.api, after))
