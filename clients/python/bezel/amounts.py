"""The bound on what an order takes.

The Diamond knows no sizes: it takes collateral, and the size is collateral x leverage / P1, where P1 is its price after
spread and volume impact. So the size of an order is checked as the collateral that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .errors import UnverifiedTransaction
from .facts import (
    HUNDRED_PERCENT,
    LEVERAGE,
    PRICE,
    SIZE,
    SLIPPAGE,
    TOKEN_PRICE,
    USD,
    WHOLE_SLIPPAGE,
    CollateralFacts,
    Facts,
    divide,
    scaled,
    slippage_units,
)
from .types import Numeric

READ_ROOM = 10**SLIPPAGE // 10
"""Tolerance of an amount whose price impact was read from the chain: 0.1 %."""

MAX_HALF_STEP_USD = 10**USD
"""Largest half of a size step, which bounds what the service says about it: real steps are below 1 USD."""


@dataclass(frozen=True)
class Opening:
    """The terms of a new trade or resting order."""

    side: str
    type: str
    size: Numeric
    leverage: Numeric
    price: Numeric | None
    """Trigger of a resting order. The price of a market order never decides an amount."""
    sl: Numeric | None
    tp: Numeric | None
    slippage: Numeric | None


def expect_within(field: str, least: int, most: int, found: int) -> None:
    """Raises unless `least <= found <= most`."""
    if not least <= found <= most:
        raise UnverifiedTransaction(field, least if least == most else f"{least} to {most}", found)


def base_price(side: str, kind: str, price: Numeric | None, expected: Numeric | None) -> int:
    """Returns the price that an order is expected to execute at, 1e10.

    It is the market's for a market order and the trigger for a resting one, unless the market has passed the trigger.
    """
    mark = None if expected is None else scaled("expectedPrice", expected, PRICE)
    if kind == "market":
        if mark is None:
            raise UnverifiedTransaction("price", "an expected price to compare with, and none is known", "none")
        return mark
    trigger = scaled("price", price, PRICE)
    if mark is None:
        return trigger
    # A limit that buys and a stop that sells wait for a lower price.
    is_below = (kind == "limit") == (side == "long")
    return mark if (mark < trigger) == is_below else trigger


def expect_credible_mark(terms: Opening, mark: str) -> None:
    """Checks the service's word for the market of a resting order.

    A trigger that the market has passed is counted at the market's price. Where that takes more than the trigger by
    more than the slippage, the service alone is no witness, and the caller has to name the price.
    """
    if terms.type == "market":
        return
    trigger = scaled("price", terms.price, PRICE)
    room = divide(trigger * slippage_units(terms.slippage), WHOLE_SLIPPAGE)
    if base_price(terms.side, terms.type, terms.price, mark) > trigger + room:
        expected = "your own expected_price, because the market has passed the trigger by more than the slippage"
        raise UnverifiedTransaction("price", expected, f"the service's word for {mark}")


def expect_amount(terms: Opening, open_price: int, facts: Facts, found: int) -> None:
    """Checks the collateral of an opening.

    It may differ from size x price by the order's own slippage, because beyond that the Diamond refuses the order
    anyway. Where the impact was read from the chain it may differ from size x P1 by 0.1 % only.
    """
    reference = base_price(terms.side, terms.type, terms.price, facts.expected_price)
    least, most = _range(terms, reference, slippage_units(terms.slippage), facts.collateral)
    expect_within("collateralAmount", least, most, found)
    if facts.impact_p is None:
        return
    is_at_market = terms.type == "market" and terms.price is None
    price = _shifted(open_price if is_at_market else reference, facts.impact_p)
    least, most = _range(terms, price, READ_ROOM, _exact(facts.collateral))
    expect_within("collateralAmount", least, most, found)


def expect_held_amount(terms: Opening, old_price: Numeric | None, facts: Facts, held: int | None) -> None:
    """Checks that the collateral which a resting order holds buys the size at its new price too.

    Up to half a step of the market's sizes. Where it can't be read, the new price may differ by the slippage.
    """
    if held is None or facts.impact_p is None:
        old = scaled("price", old_price, PRICE)
        off = divide(old * slippage_units(terms.slippage), WHOLE_SLIPPAGE)
        return expect_within("price", old - off, old + off, scaled("price", terms.price, PRICE))
    price = _shifted(base_price(terms.side, terms.type, terms.price, facts.expected_price), facts.impact_p)
    half_step = 10 ** (USD - facts.market.size_precision) * price // 10**PRICE // 2
    least, most = _range(terms, price, READ_ROOM, _exact(facts.collateral), min(half_step, MAX_HALF_STEP_USD))
    return expect_within("collateral of the order", least, most, held)


def usd_range(usd: int, collateral: CollateralFacts) -> tuple[int, int]:
    """Returns a dollar amount (1e18) in units of the token, at both ends of its price range."""
    notional = usd * 10**PRICE
    return _amounts(notional, notional, 10**LEVERAGE, collateral)


def _range(
    terms: Opening, price: int, room: int, collateral: CollateralFacts, room_usd: int = 0
) -> tuple[int, int]:
    """Returns the collateral that a size may take at a price, in units of the token."""
    # Exact (1e28), so that only the last division rounds.
    notional = scaled("size", terms.size, SIZE) * price
    off = divide(notional * room, WHOLE_SLIPPAGE) + room_usd * 10**PRICE
    return _amounts(notional - off, notional + off, scaled("leverage", terms.leverage, LEVERAGE), collateral)


def _amounts(least: int, most: int, leverage: int, collateral: CollateralFacts) -> tuple[int, int]:
    """Returns notional (1e28) / leverage / the token's price: the least rounded down, the most rounded up."""
    price = scaled("collateralPriceUsd", collateral.price_usd, TOKEN_PRICE)
    tolerance = scaled("priceTolerancePercent", collateral.price_tolerance_percent, SLIPPAGE)
    off = divide(price * tolerance, WHOLE_SLIPPAGE)
    delta = 10 ** (USD - collateral.decimals)
    dividend = 10 ** (LEVERAGE + TOKEN_PRICE)
    dearest, cheapest = (leverage * at * delta * 10**PRICE for at in (price + off, price - off))
    if cheapest <= 0:
        raise UnverifiedTransaction("leverage", "a leverage and a token price above 0", f"{leverage} and {price}")
    return divide(least * dividend, dearest), divide(most * dividend + cheapest - 1, cheapest)


def _shifted(price: int, impact_p: int) -> int:
    return price + divide(price * impact_p, HUNDRED_PERCENT)


def _exact(collateral: CollateralFacts) -> CollateralFacts:
    """Returns the token at exactly the price that was read: the service reads it from the same chain."""
    return replace(collateral, price_tolerance_percent="0")
