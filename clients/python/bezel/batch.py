"""The check of a batch: many cancels and closes in one transaction, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .calldata import Calls, decode_transaction, expect_same
from .errors import UnverifiedTransaction
from .existing import expect_cancel, expect_closing
from .facts import SIZE, Facts, scaled
from .types import Numeric, Order, Position

FactsOf = Callable[[str, str], Facts]
"""Returns the facts of a market and a collateral symbol."""


def verify_batch(
    answer: Mapping[str, Any],
    orders: Sequence[Order],
    positions: Sequence[Position],
    slippage: Numeric | None,
    facts_of: FactsOf,
) -> set[str]:
    """Raises `UnverifiedTransaction` unless every call cancels one of the orders or closes one of the positions.

    Both were read before the batch was asked for, and are only those that it may end. The calls come in the order of
    the answer's orders, each once. Returns the ids of the positions that are closed.
    """
    try:
        # A prepared order that was withdrawn needs nothing on the chain.
        legs: list[Order] = [told for told in answer["orders"] if told["status"] != "expired"]
        transaction = answer["transaction"]
        if transaction is None:
            expect_same("transaction", "one, since orders need it" if legs else None, None)
            return set()
        if not legs:
            raise UnverifiedTransaction("orders", "the orders of the transaction", "none")
        calls = decode_transaction(transaction, facts_of(legs[0]["market"], legs[0]["collateral"]))
        known = {order["id"]: order for order in orders}
        left = {position["id"]: position for position in positions}
        for place, told in enumerate(legs):
            order = known.pop(told["id"], None)
            facts = facts_of(told["market"], told["collateral"])
            if order is not None:
                expect_cancel(calls, order, facts, _reclaims_after(legs[place + 1 :], known, list(left.values())))
            else:
                del left[_expect_close(calls, told, list(left.values()), slippage, facts)]
        calls.end()
        return {position["id"] for position in positions} - set(left)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise UnverifiedTransaction("answer", "what can be computed with", repr(error)) from error


def _reclaims_after(legs: list[Order], known: Mapping[str, Order], positions: list[Position]) -> int:
    """Counts the legs right after one of them whose calls begin with a reclaim."""
    count = 0
    for told in legs:
        order = known.get(told["id"])
        if order is None:
            updates = [position["pendingUpdate"] for position in _closable(told, positions)]
            return count + any(update is not None and update["status"] == "timed_out" for update in updates)
        if order["type"] != "market":
            return count
        count += 1
    return count


def _expect_close(
    calls: Calls, told: Order, positions: list[Position], slippage: Numeric | None, facts: Facts
) -> str:
    """Checks that the next calls close one of the positions whole, and returns its id."""
    expect_same("reduceOnly", True, told["reduceOnly"])
    refused: UnverifiedTransaction | None = None
    for position in _closable(told, positions):
        attempt = calls.copy()
        try:
            expect_closing(attempt, position, scaled("size", position["size"], SIZE), None, None, slippage, facts)
        except UnverifiedTransaction as error:
            refused = error
            continue
        calls.become(attempt)
        return position["id"]
    raise refused or UnverifiedTransaction("position", f"one that order {told['id']} closes", "none")


def _closable(told: Order, positions: list[Position]) -> list[Position]:
    """Returns the positions that an order can be the close of."""
    return [
        position
        for position in positions
        if position["market"] == told["market"]
        and position["side"] != told["side"]
        and position["collateralSymbol"] == told["collateral"]
    ]
