"""The way of one write: it is prepared, checked, signed, sent and reported, and its order waited for."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .base import POLL_S, WAIT_S
from .errors import BezelError, NodeError, PreparationExpired, SubmitFailed
from .facts import ClosePosition, CreateOrder, Write
from .node import Node
from .signing import Signer
from .types import Numeric, Order
from .verify import verify_prepared
from .wallet import AsyncWallet

LOGGER = logging.getLogger("bezel")
"""Says where the service will do something else than what was asked."""

ENDED = ("filled", "rejected", "canceled", "expired", "timed_out")
"""Statuses that an order stays in, unless a late answer of the oracle moves a timed-out one."""


class AsyncWrites(AsyncWallet):
    """The steps that the writes of a client share."""

    async def wait_for_order(
        self, id: str, statuses: tuple[str, ...] = ENDED, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S
    ) -> Order:
        """Waits until an order has one of the statuses, by default until it has ended.

        A timed-out one counts as ended, although a late answer may still fill it. Raises `WaitTimeout` after
        `timeout_s`.
        """
        patience = self._patience(f"The end of order {id}", timeout_s, poll_s)
        while (order := await self.api.get_order(id))["status"] not in statuses:
            await patience.pause()
        return order

    async def _trade(
        self, write: Write, prepare: Callable[[], Awaitable[Mapping[str, Any]]], expected_price: Numeric | None
    ) -> Order:
        prepared, tx_hash = await self._execute(write, prepare, expected_price)
        order: Order = prepared["order"]
        if tx_hash is None:
            return order
        try:
            return await self.api.submit_order(order["id"], {"txHash": tx_hash})
        except BezelError as error:
            raise SubmitFailed(order["id"], tx_hash) from error

    async def _execute(
        self, write: Write, prepare: Callable[[], Awaitable[Mapping[str, Any]]], expected_price: Numeric | None
    ) -> tuple[Mapping[str, Any], str | None]:
        """Prepares, verifies and sends a write. Nothing unverified is signed."""
        agent, node = await self._ready()
        prepared = await prepare()
        facts = await self._gatherer.facts(write, agent.address, expected_price)
        verify_prepared(write, prepared, facts)
        log_warnings(prepared)
        transaction = prepared["transaction"]
        # The repeat of an order that is under way: its transaction was reported before.
        is_reported = isinstance(write, CreateOrder) and prepared["order"]["txHash"] is not None
        if transaction is None or is_reported:
            return prepared, None
        try:
            return prepared, await self._send_prepared(node, agent, transaction)
        except (NodeError, PreparationExpired):
            await self._withdraw(write, prepared)
            raise

    async def _withdraw(self, write: Write, prepared: Mapping[str, Any]) -> None:
        """Takes back an order that was surely not sent, so that it does not count as opened until it expires.

        One with a `clientId` may be that of an earlier call, which has sent it.
        """
        is_own = isinstance(write, CreateOrder) and write.body.get("clientId") is None
        if is_own or isinstance(write, ClosePosition):
            with contextlib.suppress(BezelError):
                await self.api.cancel_order(prepared["order"]["id"])

    async def _send_prepared(self, node: Node, agent: Signer, transaction: Mapping[str, Any]) -> str:
        if time.time() * 1_000 >= transaction["expiresAt"]:
            raise PreparationExpired("The prepared transaction has expired: prepare again.")
        gas = transaction["gas"]
        return await node.send(
            agent,
            to=transaction["to"],
            data=transaction["data"],
            chain_id=transaction["chainId"],
            gas=None if gas is None else int(gas),
            once=True,
        )


def log_warnings(prepared: Mapping[str, Any]) -> None:
    """Logs where what will happen differs from what was asked, such as a stop loss that the contracts move."""
    for warning in prepared.get("warnings", []):
        LOGGER.warning("%s: %s", warning["code"], warning["message"])
