"""Gathers the facts that a prepared transaction is checked against: from the chain where a node can be asked.

Without a node the service's word is taken, and the check is as wide as the order's slippage.
"""

from __future__ import annotations

import re
import time

from .amounts import Opening, base_price, expect_credible_mark, expect_within
from .api import AsyncApi
from .calls import Caller
from .decimals import from_units
from .diamond import Diamond
from .errors import ConfigError, UnverifiedTransaction
from .existing import MIN_FEES_ON_OPEN, reducible
from .facts import (
    HUNDRED_PERCENT,
    PRICE,
    SIZE,
    TOKEN_PRICE,
    USD,
    CancelOrder,
    ChainFacts,
    ClosePosition,
    CollateralFacts,
    CreateOrder,
    Facts,
    MarketFacts,
    UpdateOrder,
    Write,
    divide,
    scaled,
)
from .node import Node
from .pages import read_all
from .refusals import MarketNotFound
from .signing import same_address
from .types import Market, MarketCollateral, Numeric, Position, PreparedBatch
from .verify import opening_of, reopening_of

READ_TOLERANCE_PERCENT = "0.5"
"""Tolerance of a token's price: the service reads it at one moment, and we at another."""

DOLLAR_TOLERANCE_PERCENT = "1"
"""Tolerance for a dollar token whose price is not known."""

ANY_SIZE_PRECISION = 8
"""Largest size precision of any market, for those that the service no longer lists."""

MARKET_AGE_S = 60.0


class Gatherer:
    """Gathers facts for one client."""

    def __init__(self, caller: Caller, api: AsyncApi, node: Node | None) -> None:
        self._caller = caller
        self._api = api
        self._node = node
        self._markets: dict[str, tuple[float, Market]] = {}
        self._proven: set[str] = set()

    async def facts(self, write: Write, sender: str, expected_price: Numeric | None = None) -> Facts:
        """Returns the facts for a write."""
        domain, trader = await self._caller.domain(), self._caller.trader
        diamond = None if self._node is None else Diamond(self._node, domain["verifyingContract"])
        is_reduction = isinstance(write, CreateOrder) and write.body.get("reduceOnly") is True
        positions = tuple(await read_all(self._api.list_positions)) if is_reduction else ()
        opening = opens(write)
        # A plain new order names no trade on the chain.
        needs_trades = diamond is not None and (is_reduction or not isinstance(write, CreateOrder))
        on_chain = await diamond.trades(trader) if diamond is not None and needs_trades else None
        record = await self._record(market_of(write))
        market = await self._market(market_of(write), record, diamond, on_chain)
        mark = str(expected_price) if expected_price is not None else await self._mark(write, positions)
        if expected_price is None and mark is not None:
            await _expect_credible(mark, opening, diamond, market.pair_index)
        return Facts(
            diamond=domain["verifyingContract"],
            chain_id=domain["chainId"],
            trader=trader,
            sender=sender,
            market=market,
            collateral=await self._collateral(record, collateral_of(write, positions), diamond),
            expected_price=mark,
            impact_p=await _impact(diamond, trader, market.pair_index, opening, mark),
            positions=positions,
            on_chain=on_chain,
        )

    async def batch_facts(
        self, page: PreparedBatch, positions: list[Position], sender: str
    ) -> dict[tuple[str, str], Facts]:
        """Returns the facts of each market and collateral of a page of a batch."""
        facts: dict[tuple[str, str], Facts] = {}
        for order in page["orders"] if page["transaction"] is not None else []:
            key = order["market"], order["collateral"]
            if order["status"] == "expired" or key in facts:
                continue
            own = next((one for one in positions if (one["market"], one["collateralSymbol"]) == key), None)
            facts[key] = await self.facts(CancelOrder(order) if own is None else ClosePosition(own, {}), sender)
        return facts

    async def token(self, symbol: str) -> MarketCollateral:
        """Returns a collateral token as the chain knows it."""
        domain = await self._caller.domain()
        if self._node is None:
            raise ConfigError("This client has no node: give it rpc_url, which tells the tokens of the Diamond.")
        found = await Diamond(self._node, domain["verifyingContract"]).token(symbol)
        if found is None:
            raise ConfigError(f"The Diamond has no collateral {symbol}: pass a symbol that `get_market` lists.")
        return found

    async def _record(self, symbol: str) -> Market | None:
        """Returns the service's record of a market; `None` for one that it no longer lists."""
        kept = self._markets.get(symbol)
        if kept is None or time.monotonic() - kept[0] > MARKET_AGE_S:
            try:
                kept = (time.monotonic(), await self._api.get_market(symbol))
            except MarketNotFound:
                return None
            self._markets[symbol] = kept
        return kept[1]

    async def _market(
        self, symbol: str, record: Market | None, diamond: Diamond | None, on_chain: ChainFacts | None
    ) -> MarketFacts:
        """Returns the facts of a market, whose pair the chain confirms once.

        One that is closed to new trades is found among the pairs that the trader has something in.
        """
        if record is None:
            if diamond is not None and on_chain is not None:
                for index in {trade.pair_index for trade in on_chain.trades}:
                    if await diamond.pair_name(index) == symbol:
                        least = await diamond.pair_min_fee_usd(index) * MIN_FEES_ON_OPEN
                        return MarketFacts(symbol, index, ANY_SIZE_PRECISION, from_units(least, USD))
            raise UnverifiedTransaction("market", "one that the service lists, or that the chain knows", symbol)
        index = record["pairIndex"]
        key = f"pair {index} {symbol}"
        if diamond is not None and key not in self._proven:
            name = await diamond.pair_name(index)
            if name != symbol:
                raise UnverifiedTransaction("market", symbol, f"pair {index}, on the chain {name}")
            self._proven.add(key)
        return MarketFacts(symbol, index, record["sizePrecision"], record["minCollateralUsd"])

    async def _collateral(self, record: Market | None, symbol: str | None, diamond: Diamond | None) -> CollateralFacts:
        listed = _collateral_named([] if record is None else record["collaterals"], symbol)
        if diamond is None:
            if listed is None or not re.search("usd|^dai$", listed["symbol"], re.IGNORECASE):
                raise UnverifiedTransaction("collateral price", f"a node that tells the price of {symbol}", "none")
            name, index, decimals = listed["symbol"], listed["index"], listed["decimals"]
            return CollateralFacts(name, index, decimals, "1", DOLLAR_TOLERANCE_PERCENT)
        wanted = symbol if listed is None else listed["symbol"]
        if wanted is None:
            raise UnverifiedTransaction("collateral", "one that is listed", "none named, without a default")
        key = f"token {listed}"
        if listed is None or key not in self._proven:
            found = await diamond.token(wanted)
            if found is None:
                raise UnverifiedTransaction("collateral", "a token of the Diamond", wanted)
            told = listed or found
            is_same = (told["index"], told["decimals"]) == (found["index"], found["decimals"])
            if not is_same or not same_address(told["address"], found["address"]):
                raise UnverifiedTransaction("collateral", found, told)
            self._proven.add(key)
            listed = found
        price = from_units(await diamond.token_price(listed["index"]), TOKEN_PRICE)
        return CollateralFacts(wanted, listed["index"], listed["decimals"], price, READ_TOLERANCE_PERCENT)

    async def _mark(self, write: Write, positions: tuple[Position, ...]) -> str | None:
        """Returns the market's price where a request needs one.

        A position was read with its mark a moment ago, and is answered while the price feed is silent.
        """
        if isinstance(write, ClosePosition):
            return write.position["markPrice"]
        if opens(write) is None:
            own = reducible(positions, write.body) if isinstance(write, CreateOrder) else []
            return own[0]["markPrice"] if own else None
        symbol = market_of(write)
        prices = (await self._api.get_prices())["data"]
        mark = next((price["mark"] for price in prices if price["market"] == symbol), None)
        if mark is None:
            raise UnverifiedTransaction("price", f"a price of {symbol}", "none")
        return mark


async def _expect_credible(mark: str, opening: Opening | None, diamond: Diamond | None, pair_index: int) -> None:
    """Checks the service's word for the market: against the trigger, and against the chain's own price of the pair."""
    if opening is not None:
        expect_credible_mark(opening, mark)
    known = None if diamond is None else await diamond.pair_price(pair_index)
    if known is not None:
        price, tolerance_p = known
        room = divide(price * tolerance_p, HUNDRED_PERCENT)
        expect_within("expected price", price - room, price + room, scaled("mark", mark, PRICE))


async def _impact(
    diamond: Diamond | None, trader: str, pair_index: int, terms: Opening | None, mark: str | None
) -> int | None:
    if diamond is None or terms is None:
        return None
    price = base_price(terms.side, terms.type, terms.price, mark)
    size = scaled("size", terms.size, SIZE)
    return await diamond.impact(trader, pair_index, long=terms.side == "long", size=size, price=price)


def market_of(write: Write) -> str:
    """Returns the market of a write."""
    if isinstance(write, CreateOrder):
        return write.body["market"]
    return write.order["market"] if isinstance(write, (UpdateOrder, CancelOrder)) else write.position["market"]


def collateral_of(write: Write, positions: tuple[Position, ...]) -> str | None:
    """Returns the collateral of a write; `None` means the default one of the market."""
    if isinstance(write, CreateOrder):
        # Without a collateral a reduction uses that of the oldest position that it can close.
        own = reducible(positions, write.body)
        return write.body.get("collateral") or (own[0]["collateralSymbol"] if own else None)
    if isinstance(write, (UpdateOrder, CancelOrder)):
        return write.order["collateral"]
    return write.position["collateralSymbol"]


def opens(write: Write) -> Opening | None:
    """Returns the terms of what a write opens; `None` when it opens nothing and places nothing anew."""
    if isinstance(write, CreateOrder):
        return None if write.body.get("reduceOnly") is True else opening_of(write.body)
    if isinstance(write, UpdateOrder) and (write.body.get("size") is not None or write.body.get("price") is not None):
        return reopening_of(write)
    return None


def _collateral_named(listed: list[MarketCollateral], symbol: str | None) -> MarketCollateral | None:
    """Finds a collateral by its symbol. Without one it is USDC if listed, otherwise the only one there is."""
    found = next((one for one in listed if one["symbol"] == (symbol or "USDC")), None)
    return listed[0] if found is None and symbol is None and len(listed) == 1 else found
