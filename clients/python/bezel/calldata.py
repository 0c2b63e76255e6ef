"""Calldata of the Diamond, read call by call, and the comparisons that all checks share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from .abi import AbiError
from .amounts import expect_within
from .contracts import DIAMOND
from .errors import UnverifiedTransaction
from .facts import PRICE, WHOLE_SLIPPAGE, Facts, divide, scaled
from .signing import same_address
from .types import Numeric

ATTEMPT_ID_BYTES = 8
"""Bytes behind the calldata that tell the service which order it is. The contracts ignore them."""

_BY_SELECTOR = {function.selector: function for function in DIAMOND.values()}


class Calls:
    """Calls in their order. Each one must be asked for by name, and none may be left over."""

    def __init__(self, calls: list[tuple[str, tuple[Any, ...]]]) -> None:
        self._calls = calls
        self._place = 0

    @property
    def name(self) -> str | None:
        """The name of the next call; `None` at the end."""
        return self._calls[self._place][0] if self._place < len(self._calls) else None

    def next(self, name: str) -> tuple[Any, ...]:
        """Returns the arguments of the next call, which must have this name."""
        if self.name != name:
            raise UnverifiedTransaction(f"call {self._place + 1}", name, self.name or "missing")
        self._place += 1
        return self._calls[self._place - 1][1]

    def ahead(self, name: str) -> list[tuple[Any, ...]]:
        """Returns the arguments of the next calls, as far as all of them have this name."""
        rest = self._calls[self._place :]
        return [args for _, args in itertools.takewhile(lambda call: call[0] == name, rest)]

    def copy(self) -> Calls:
        """Returns a reader at the same place, for an attempt that may fail."""
        other = Calls(self._calls)
        other._place = self._place
        return other

    def become(self, other: Calls) -> None:
        """Goes on where an attempt has ended."""
        self._place = other._place

    def end(self) -> None:
        """Raises when a call is left over."""
        if self.name is not None:
            raise UnverifiedTransaction(f"call {self._place + 1}", "no further call", self.name)


def decode_transaction(transaction: Mapping[str, Any], facts: Facts) -> Calls:
    """Returns the calls that a transaction makes of the Diamond for the trader.

    They are wrapped for a delegate, bare for the trader itself, and several are one `multicall`. Every byte counts.
    """
    if not same_address(transaction["to"], facts.diamond):
        raise UnverifiedTransaction("to", facts.diamond, transaction["to"])
    expect_same("value", "0", str(transaction["value"]))
    expect_same("chainId", facts.chain_id, transaction["chainId"])
    text = str(transaction["data"])
    data = bytes.fromhex(text[2:]) if text.startswith("0x") else b""
    if len(data) < 4 + ATTEMPT_ID_BYTES:
        raise UnverifiedTransaction("data", "calldata and 8 bytes behind it", text[:40])
    call = _decode(data[:-ATTEMPT_ID_BYTES], "data")
    if not same_address(facts.trader, facts.sender):
        name, args = call
        expect_same("call", "delegatedTradingAction", name)
        if not same_address(args[0], facts.trader):
            raise UnverifiedTransaction("trader", facts.trader, args[0])
        call = _decode(args[1], "inner call")
    if call[0] != "multicall":
        return Calls([call])
    legs = call[1][0]
    if len(legs) < 2:
        raise UnverifiedTransaction("multicall", "two or more calls", len(legs))
    return Calls([_decode(leg, f"calls[{place}]") for place, leg in enumerate(legs)])


def _decode(data: bytes, field: str) -> tuple[str, tuple[Any, ...]]:
    function = _BY_SELECTOR.get(data[:4])
    if function is None:
        raise UnverifiedTransaction(field, "a call that this client knows", "0x" + data[:4].hex())
    try:
        return function.name, function.decode(data)
    except (AbiError, UnicodeDecodeError) as error:
        raise UnverifiedTransaction(field, f"the plain encoding of {function.name}", str(error)) from error


def expect_price(named: Numeric | None, slippage: int, facts: Facts, found: int) -> None:
    """Checks a price: exactly the one that was named, or the market's within the order's own slippage."""
    if named is not None:
        return expect_same("price", scaled("price", named, PRICE), found)
    if facts.expected_price is None:
        raise UnverifiedTransaction("price", "an expected price to compare with, and none is known", found)
    expected = scaled("expectedPrice", facts.expected_price, PRICE)
    room = divide(expected * slippage, WHOLE_SLIPPAGE)
    return expect_within("price", expected - room, expected + room, found)


def expect_same(field: str, expected: object, found: object) -> None:
    if expected != found:
        raise UnverifiedTransaction(field, expected, found)
