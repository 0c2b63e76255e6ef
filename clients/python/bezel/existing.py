"""The checks of what concerns trades that exist: closing, changing, cancelling and reclaiming them."""

from __future__ import annotations

from .amounts import usd_range
from .calldata import Calls, expect_price, expect_same
from .contracts import PENDING_ORDER_TYPES, TRADE_TYPES
from .errors import UnverifiedTransaction
from .facts import (
    DEFAULT_SLIPPAGE,
    LEVERAGE,
    PRICE,
    SIZE,
    USD,
    Facts,
    PendingFacts,
    TradeFacts,
    scaled,
    slippage_units,
    trigger_units,
)
from .types import CreateOrderRequest, Numeric, Order, Position, UpdatePositionRequest

MIN_FEES_ON_OPEN = 5
"""Minimum fees that a new position must cover. A partial close must leave one of them."""

MAX_TRIFLE_USD = 20 * 10**USD
"""Largest remainder for which a partial close may become a whole one. It bounds the service's word for it."""

MAX_ROUNDED_SHARE = 10
"""Bounds the rounding to the market's smallest size: a tenth of the position is no rounding."""

TYPES = {"market": TRADE_TYPES["TRADE"], "limit": TRADE_TYPES["LIMIT"], "stop": TRADE_TYPES["STOP"]}
_OPENING = {PENDING_ORDER_TYPES["MARKET_OPEN"]}
_CLOSING = {PENDING_ORDER_TYPES["MARKET_CLOSE"], PENDING_ORDER_TYPES["MARKET_PARTIAL_CLOSE"]}
_CHANGES = (
    "UPDATE_LEVERAGE",
    "MARKET_PARTIAL_OPEN",
    "PNL_WITHDRAWAL",
    "MANUAL_HOLDING_FEES_REALIZATION",
    "MANUAL_NEGATIVE_PNL_REALIZATION",
)
_OF_A_TRADE = _CLOSING | {PENDING_ORDER_TYPES[name] for name in _CHANGES}


def expect_cancel(calls: Calls, order: Order, facts: Facts, later: int = 0) -> None:
    """Checks that a resting order is taken back, or each leg of a timed-out request reclaimed once and in order.

    `later` is the number of reclaims that orders and positions after it need in the same transaction.
    """
    if order["type"] != "market":
        (index,) = calls.next("cancelOpenOrder")
        expect_order_index(index, order, facts)
        return
    last = -1
    while True:
        (index,) = calls.next("cancelOrderAfterTimeout")
        if index <= last:
            raise UnverifiedTransaction("order index", f"above {last}", index)
        last = index
        _expect_pending(index, order, facts)
        # Only an order that closes several positions waits for several answers.
        if not order["reduceOnly"] or not _is_another_leg(calls, order, facts, later):
            return


def _is_another_leg(calls: Calls, order: Order, facts: Facts, later: int) -> bool:
    """Returns true when the next call reclaims another request of the order, and is not needed for the later ones."""
    ahead = calls.ahead("cancelOrderAfterTimeout")
    return len(ahead) > later and _is_pending_of(ahead[0][0], order, facts)


def _expect_pending(index: int, order: Order, facts: Facts) -> None:
    """Checks that the waiting request is one of this market, side and kind."""
    if not _is_pending_of(index, order, facts):
        raise UnverifiedTransaction("order index", f"a request that looks as order {order['id']} does", index)


def _is_pending_of(index: int, order: Order, facts: Facts) -> bool:
    """Returns true when a waiting request looks as the order does, or the chain can't be read."""
    if facts.on_chain is None:
        return True
    pending = next((one for one in facts.on_chain.pending if one.index == index), None)
    kinds = _CLOSING if order["reduceOnly"] else _OPENING
    return (
        pending is not None
        and pending.pair_index == facts.market.pair_index
        and pending.order_type in kinds
        and _side_of(pending, facts.on_chain.trades) == order["side"]
    )


def _side_of(pending: PendingFacts, trades: tuple[TradeFacts, ...]) -> str | None:
    """Returns the side that a request trades. A close trades against its position."""
    if pending.order_type in _OPENING:
        return "long" if pending.long else "short"
    closed = next((trade for trade in trades if trade.index == pending.trade_index), None)
    return None if closed is None else ("short" if closed.long else "long")


def expect_update_cancel(calls: Calls, position: Position, facts: Facts) -> None:
    """Checks for the reclaim of the position's pending change and nothing else."""
    pending = _reclaim(calls, position, facts)
    if pending is not None:
        _expect_position_index(pending.trade_index, position, facts)


def expect_position_update(calls: Calls, position: Position, body: UpdatePositionRequest, facts: Facts) -> None:
    """Checks a change of stops, of leverage, or of collateral, which the chain expresses as a leverage."""
    indices: list[int] = []
    sl, tp = body.get("sl"), body.get("tp")
    is_stop_set = any(trigger_units("stop", stop) != 0 for stop in (sl, tp))
    is_restored = is_stop_set and calls.name == "updateMaxClosingSlippageP"
    default = slippage_units(None)
    if is_restored:
        index, max_slippage_p = calls.next("updateMaxClosingSlippageP")
        expect_same("slippage", default, max_slippage_p)
        indices.append(index)
    for field, name, value in (("sl", "updateSl", sl), ("tp", "updateTp", tp)):
        if value is not None:
            index, found = calls.next(name)
            expect_same(field, trigger_units(field, value), found)
            indices.append(index)
    if body.get("leverage") is not None or body.get("collateral") is not None:
        reclaimed = _expect_reclaim(calls, position, facts)
        index, leverage = calls.next("updateLeverage")
        expect_same("leverage", _new_leverage(position, body, facts), leverage)
        indices += [index] if reclaimed is None else [index, reclaimed]
    for index in indices:
        expect_same("trade index", indices[0], index)
        trade = _expect_position_index(index, position, facts)
        if is_restored and trade is not None and trade.max_slippage_p > default:
            raise UnverifiedTransaction("slippage", f"{trade.max_slippage_p}, left as it is", default)


def _new_leverage(position: Position, body: UpdatePositionRequest, facts: Facts) -> int:
    """Returns the new leverage. Collateral changes by the leverage that keeps the size, never by more than was said."""
    leverage, change = body.get("leverage"), body.get("collateral")
    if leverage is not None or change is None:
        return scaled("leverage", leverage, LEVERAGE)
    held = scaled("collateral", position["collateral"], facts.collateral.decimals)
    amount = scaled("collateral.amount", change["amount"], facts.collateral.decimals)
    size = held * scaled("leverage", position["leverage"], LEVERAGE)
    # The Diamond's new collateral is size / leverage, truncated: the lowest leverage that keeps it at held + amount.
    if change["action"] == "add":
        return size // (held + amount + 1) + 1
    return size // (held - amount) if amount < held else 0


def expect_closing(
    calls: Calls,
    position: Position,
    size: int,
    size_text: Numeric | None,
    price: Numeric | None,
    slippage_text: Numeric | None,
    facts: Facts,
) -> int:
    """Checks that the next calls close this part of the position, and returns the size that they close.

    They are the reclaim of a request that stands in the way, the closing slippage if another one is in force, then all
    of it or a part.
    """
    slippage = slippage_units(slippage_text)
    reclaimed = _expect_reclaim(calls, position, facts)
    slippage_index = None
    if calls.name == "updateMaxClosingSlippageP":
        slippage_index, max_slippage_p = calls.next("updateMaxClosingSlippageP")
        expect_same("slippage", slippage, max_slippage_p)
    whole = scaled("size", position["size"], SIZE)
    part, left = _shares(position, size, whole, facts)
    least_left, most_left = _min_left(facts)
    reaches = _reaches_whole(size, size_text, whole, facts)
    if calls.name == "decreasePositionSize":
        index, collateral_delta, leverage_delta, expected_price = calls.next("decreasePositionSize")
        expect_price(price, slippage, facts, expected_price)
        expect_same("leverageDelta", 0, leverage_delta)
        if reaches or left < least_left:
            raise UnverifiedTransaction("size", "all of the position", f"a part, {collateral_delta}")
        expect_same("collateralDelta", part, collateral_delta)
        closed = size
    else:
        index, expected_price = calls.next("closeTradeMarket")
        expect_price(price, slippage, facts, expected_price)
        if not (reaches or left < most_left):
            raise UnverifiedTransaction("size", f"{size_text} of {position['size']}", "all of the position")
        closed = whole
    for other in (reclaimed, slippage_index):
        if other is not None:
            expect_same("trade index", index, other)
    trade = _expect_position_index(index, position, facts)
    if slippage_index is None:
        in_force = (0 if trade is None else trade.max_slippage_p) or slippage_units(DEFAULT_SLIPPAGE)
        expect_same("slippage", slippage, in_force)
    return closed


def _reaches_whole(size: int, size_text: Numeric | None, whole: int, facts: Facts) -> bool:
    """Returns true when the asked size is the whole position, after cutting decimals that the market does not have."""
    if size >= whole:
        return True
    # The decimals that a caller uses show that the market has at least as many.
    written = 0 if size_text is None else len(str(size_text).partition(".")[2])
    unit: int = 10 ** (SIZE - max(facts.market.size_precision, written))
    return size >= whole - whole % unit and (whole - size) * MAX_ROUNDED_SHARE <= whole


def _shares(position: Position, size: int, whole: int, facts: Facts) -> tuple[int, int]:
    """Returns the collateral of the part, rounded down but at least one unit, and the collateral that stays."""
    held = scaled("collateral", position["collateral"], facts.collateral.decimals)
    part = max(held * size // whole, 1)
    return part, held - part


def _min_left(facts: Facts) -> tuple[int, int]:
    """Returns the least collateral that the Diamond leaves in a position: one minimum fee."""
    named = scaled("minCollateralUsd", facts.market.min_collateral_usd, USD) // MIN_FEES_ON_OPEN
    least, most = usd_range(min(named, MAX_TRIFLE_USD), facts.collateral)
    return max(least, 1), max(most, 1)


def expect_reduction(calls: Calls, body: CreateOrderRequest, facts: Facts) -> None:
    """Checks that opposite positions are closed, oldest first, until the size is used up, and not one more."""
    left = scaled("size", body["size"], SIZE)
    unit = 10 ** (SIZE - facts.market.size_precision)
    candidates = [one for one in reducible(facts.positions, body) if one["collateralSymbol"] == facts.collateral.symbol]
    if not candidates:
        raise UnverifiedTransaction("reduceOnly", "a position to reduce", "none")
    for position in candidates:
        if left < unit:
            break
        price, slippage = body.get("price"), body.get("slippage")
        left -= expect_closing(calls, position, left, body["size"], price, slippage, facts)


def reducible(positions: tuple[Position, ...], body: CreateOrderRequest) -> list[Position]:
    """Returns the positions that a reduce-only order can close, oldest first."""
    own = [one for one in positions if one["market"] == body["market"] and one["side"] != body["side"]]
    return sorted(own, key=lambda position: position["openedAtBlock"])


def _expect_reclaim(calls: Calls, position: Position, facts: Facts) -> int | None:
    """Checks for the reclaim of a request of this position that timed out and stands in the way."""
    update = position["pendingUpdate"]
    is_due = update is not None and update["status"] == "timed_out" and _is_still_there(facts)
    if not is_due and calls.name != "cancelOrderAfterTimeout":
        return None
    pending = _reclaim(calls, position, facts)
    return None if pending is None else pending.trade_index


def _is_still_there(facts: Facts) -> bool:
    """Returns false when the chain shows that nothing waits any more: an answer may come late."""
    return facts.on_chain is None or any(_is_of_a_trade(pending, facts) for pending in facts.on_chain.pending)


def _is_of_a_trade(pending: PendingFacts, facts: Facts) -> bool:
    return pending.pair_index == facts.market.pair_index and pending.order_type in _OF_A_TRADE


def _reclaim(calls: Calls, position: Position, facts: Facts) -> PendingFacts | None:
    (index,) = calls.next("cancelOrderAfterTimeout")
    if facts.on_chain is None:
        if position["pendingUpdate"] is None:
            expected = f"no reclaim, since position {position['id']} waits for nothing"
            raise UnverifiedTransaction("order index", expected, index)
        return None
    pending = next((one for one in facts.on_chain.pending if one.index == index), None)
    if pending is None or not _is_of_a_trade(pending, facts):
        raise UnverifiedTransaction("order index", f"a request of position {position['id']}", index)
    return pending


def _expect_position_index(index: int, position: Position, facts: Facts) -> TradeFacts | None:
    """Checks that the trade of an index looks exactly like the position; `None` where the chain can't be read."""
    if facts.on_chain is None:
        return None
    trade = _trade_at(index, facts)
    is_it = (
        _is_same_market(trade, position["side"], facts)
        and trade.trade_type == TRADE_TYPES["TRADE"]
        and trade.collateral_amount == scaled("collateral", position["collateral"], facts.collateral.decimals)
        and trade.leverage == scaled("leverage", position["leverage"], LEVERAGE)
        and trade.open_price == scaled("entryPrice", position["entryPrice"], PRICE)
        and trade.tp == trigger_units("tp", position["tp"])
        and trade.sl == trigger_units("sl", position["sl"])
        and trade.size in (None, scaled("size", position["size"], SIZE))
    )
    if not is_it:
        raise UnverifiedTransaction("trade index", f"the trade that looks as position {position['id']} does", trade)
    return trade


def expect_order_index(index: int, order: Order, facts: Facts) -> TradeFacts | None:
    """Checks that the trade of an index looks like the resting order, whose collateral follows from its impact."""
    if facts.on_chain is None:
        return None
    trade = _trade_at(index, facts)
    is_it = (
        _is_same_market(trade, order["side"], facts)
        and trade.trade_type == TYPES[order["type"]]
        and trade.leverage == scaled("leverage", order["leverage"], LEVERAGE)
        and trade.open_price == trigger_units("price", order["price"])
        and trade.tp == trigger_units("tp", order["tp"])
        and trade.sl == trigger_units("sl", order["sl"])
    )
    if not is_it:
        raise UnverifiedTransaction("trade index", f"the trade that looks as order {order['id']} does", trade)
    return trade


def _trade_at(index: int, facts: Facts) -> TradeFacts:
    trades = () if facts.on_chain is None else facts.on_chain.trades
    trade = next((one for one in trades if one.index == index), None)
    if trade is None:
        raise UnverifiedTransaction("trade index", f"one of the trades of {facts.trader} on the chain", index)
    return trade


def _is_same_market(trade: TradeFacts, side: str, facts: Facts) -> bool:
    is_same_pair = trade.pair_index == facts.market.pair_index and trade.collateral_index == facts.collateral.index
    return is_same_pair and trade.long == (side == "long")
