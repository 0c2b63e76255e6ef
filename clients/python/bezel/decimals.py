"""Exact decimals. The interface counts in decimal strings, and nothing here is ever a float."""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Any, Protocol

from .types import Numeric

_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")

EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN, traps=[Inexact, InvalidOperation, Overflow])
"""A context that raises instead of rounding. Python's own rounds a product to 28 digits without a word."""


class Precisions(Protocol):
    """A market, as far as rounding needs it."""

    def __getitem__(self, key: Any, /) -> Any: ...


def number(text: Numeric) -> Decimal:
    """Returns a decimal string as an exact `Decimal`. A float is refused: it is not the number that was written."""
    if isinstance(text, Decimal):
        value = text
    elif isinstance(text, str) and _DECIMAL.fullmatch(text):
        value = Decimal(text)
    else:
        raise TypeError(f"{text!r} is no decimal string: write it as text, such as '0.01'.")
    if not value.is_finite():
        raise ValueError(f"{text!r} is no number that can be traded.")
    return value


def plain(value: Numeric) -> str:
    """Returns a number as the interface writes it: no exponent, no trailing zeros, no `-0`."""
    text = format(number(value), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def add(*values: Numeric) -> Decimal:
    """Adds numbers exactly."""
    total = Decimal(0)
    for value in values:
        total = EXACT.add(total, number(value))
    return total


def sub(one: Numeric, other: Numeric) -> Decimal:
    """Subtracts exactly."""
    return EXACT.subtract(number(one), number(other))


def mul(one: Numeric, other: Numeric) -> Decimal:
    """Multiplies exactly."""
    return EXACT.multiply(number(one), number(other))


def units(value: Numeric, decimals: int) -> int:
    """Returns a number in units of 10^-decimals. Raises `ValueError` when it has more decimals than that."""
    scaled = EXACT.scaleb(number(value), decimals)
    whole = int(scaled)
    if scaled != whole:
        raise ValueError(f"{plain(value)} has more than {decimals} decimals.")
    return whole


def from_units(amount: int, decimals: int) -> str:
    """Returns units of 10^-decimals as a decimal string."""
    return plain(EXACT.scaleb(Decimal(amount), -decimals))


def round_price(market: Precisions, value: Numeric, rounding: str = ROUND_HALF_EVEN) -> str:
    """Rounds to the decimals that prices of the market may have, to the nearest unless `rounding` says otherwise."""
    return _rounded(value, market["pricePrecision"], rounding)


def round_size(market: Precisions, value: Numeric, rounding: str = ROUND_DOWN) -> str:
    """Rounds to the decimals that sizes of the market may have, down unless `rounding` says otherwise."""
    return _rounded(value, market["sizePrecision"], rounding)


def _rounded(value: Numeric, decimals: int, rounding: str) -> str:
    context = Context(prec=400, rounding=rounding)
    return plain(number(value).quantize(Decimal(1).scaleb(-decimals), context=context))
