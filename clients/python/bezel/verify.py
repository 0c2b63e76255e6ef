"""Proves that a prepared transaction does what was asked and nothing else, or raises `UnverifiedTransaction`.

The check covers the Diamond, the chain and a value of 0; the trader that a delegate acts for; exactly the calls of this
request in their order; market, side, type, collateral, leverage, price, slippage, stops and every other field; and that
the bytes are the plain encoding of all this, followed by the 8 bytes that tell the service which order it is. The size
is a bound: see `bezel.amounts`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .amounts import Opening, expect_amount, expect_held_amount
from .calldata import Calls, decode_transaction, expect_price, expect_same
from .contracts import TRADE_FIELDS
from .errors import UnverifiedTransaction
from .existing import (
    TYPES,
    expect_cancel,
    expect_closing,
    expect_order_index,
    expect_position_update,
    expect_reduction,
    expect_update_cancel,
)
from .facts import (
    LEVERAGE,
    SIZE,
    CancelOrder,
    CancelPositionUpdate,
    ClosePosition,
    CreateOrder,
    Facts,
    UpdateOrder,
    UpdatePosition,
    Write,
    scaled,
    slippage_units,
    trigger_units,
)
from .signing import same_address
from .types import CreateOrderRequest

ZERO_ADDRESS = "0x" + "0" * 40


def verify_prepared(write: Write, prepared: Mapping[str, Any], facts: Facts) -> None:
    """Raises `UnverifiedTransaction` unless the transaction is the one for this request. None has nothing to prove."""
    try:
        _expect_answer(write, prepared, facts)
        transaction = prepared["transaction"]
        if transaction is not None:
            calls = decode_transaction(transaction, facts)
            _expect_calls(calls, write, facts)
            calls.end()
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        # Anything that can't be computed with is no proof: a number that no market has, a field of another type.
        raise UnverifiedTransaction("answer", "what can be computed with", repr(error)) from error


def _expect_answer(write: Write, prepared: Mapping[str, Any], facts: Facts) -> None:
    """Checks that the answer is about what was asked, so that the right order is followed afterwards."""
    found = prepared.get("order") or prepared.get("position")
    if found is None:
        raise UnverifiedTransaction("answer", "an order or a position", "neither")
    if not same_address(found["trader"], facts.trader):
        raise UnverifiedTransaction("trader", facts.trader, found["trader"])
    expect_same("market", facts.market.symbol, found["market"])
    if isinstance(write, (UpdateOrder, CancelOrder)):
        expect_same("order.id", write.order["id"], found["id"])
    if isinstance(write, (UpdatePosition, CancelPositionUpdate)):
        expect_same("position.id", write.position["id"], found["id"])
    if isinstance(write, CreateOrder):
        expect_same("order.side", write.body["side"], found["side"])


def _expect_calls(calls: Calls, write: Write, facts: Facts) -> None:
    if isinstance(write, CreateOrder):
        if write.body.get("reduceOnly") is True:
            expect_reduction(calls, write.body, facts)
        else:
            _expect_opening(calls, opening_of(write.body), facts)
    elif isinstance(write, UpdateOrder):
        _expect_order_update(calls, write, facts)
    elif isinstance(write, CancelOrder):
        expect_cancel(calls, write.order, facts)
    elif isinstance(write, ClosePosition):
        size = write.body.get("size")
        asked = scaled("size", write.position["size"] if size is None else size, SIZE)
        expect_closing(calls, write.position, asked, size, None, write.body.get("slippage"), facts)
    elif isinstance(write, UpdatePosition):
        expect_position_update(calls, write.position, write.body, facts)
    else:
        expect_update_cancel(calls, write.position, facts)


def opening_of(body: CreateOrderRequest) -> Opening:
    """Returns the terms of what an order opens."""
    optional: dict[str, Any] = {name: body.get(name) for name in ("price", "sl", "tp", "slippage")}
    return Opening(side=body["side"], type=body["type"], size=body["size"], leverage=body["leverage"], **optional)


def reopening_of(write: UpdateOrder) -> Opening:
    """Returns the terms that a resting order has after a change."""
    now: dict[str, Any] = {**write.order, **{key: value for key, value in write.body.items() if value is not None}}
    return Opening(**{field.name: now[field.name] for field in dataclasses.fields(Opening)})


def _expect_opening(calls: Calls, terms: Opening, facts: Facts) -> None:
    """Checks that the next call is the `openTrade` of these terms, down to the last field of its struct."""
    values, max_slippage_p, referrer = calls.next("openTrade")
    trade = dict(zip(TRADE_FIELDS, values, strict=True))
    slippage = slippage_units(terms.slippage)
    if not same_address(trade["user"], facts.trader):
        raise UnverifiedTransaction("trader", facts.trader, trade["user"])
    expect_same("market", facts.market.pair_index, trade["pairIndex"])
    expect_same("side", terms.side == "long", trade["long"])
    expect_same("type", TYPES[terms.type], trade["tradeType"])
    expect_same("collateral", facts.collateral.index, trade["collateralIndex"])
    expect_same("leverage", scaled("leverage", terms.leverage, LEVERAGE), trade["leverage"])
    expect_price(terms.price, slippage, facts, trade["openPrice"])
    expect_amount(terms, trade["openPrice"], facts, trade["collateralAmount"])
    expect_same("tp", trigger_units("tp", terms.tp), trade["tp"])
    expect_same("sl", trigger_units("sl", terms.sl), trade["sl"])
    expect_same("slippage", slippage, max_slippage_p)
    expect_same("referrer", ZERO_ADDRESS, referrer)
    # Fields that the Diamond fills in itself.
    for field, value in (("index", 0), ("isOpen", True), ("isCounterTrade", False), ("positionSizeToken", 0)):
        expect_same(field, value, trade[field])
    expect_same("placeholder", 0, trade["__placeholder"])


def _expect_order_update(calls: Calls, write: UpdateOrder, facts: Facts) -> None:
    """Checks for one `updateOpenOrder` that keeps everything not named.

    For another size or price the order is cancelled and placed again, unless what it holds buys the size as well.
    """
    order, terms = write.order, reopening_of(write)
    if calls.name == "cancelOpenOrder" and _is_replaced(write):
        (index,) = calls.next("cancelOpenOrder")
        expect_order_index(index, order, facts)
        return _expect_opening(calls, terms, facts)
    index, price, tp, sl, slippage = calls.next("updateOpenOrder")
    trade = expect_order_index(index, order, facts)
    # A new size needs new collateral; a new price only where the one held buys something else.
    expect_same("size", scaled("size", order["size"], SIZE), scaled("size", terms.size, SIZE))
    if trigger_units("price", terms.price) != trigger_units("price", order["price"]):
        expect_held_amount(terms, order["price"], facts, None if trade is None else trade.collateral_amount)
    expect_same("price", trigger_units("price", terms.price), price)
    expect_same("tp", trigger_units("tp", terms.tp), tp)
    expect_same("sl", trigger_units("sl", terms.sl), sl)
    return expect_same("slippage", slippage_units(terms.slippage), slippage)


def _is_replaced(write: UpdateOrder) -> bool:
    """Returns true when a change may cancel the order and place it again."""
    return write.body.get("size") is not None or write.body.get("price") is not None
