"""Reads of the Diamond and of its tokens, through the caller's own node."""

from __future__ import annotations

import re
import time
from typing import Any

from .abi import AbiError, Function
from .contracts import DIAMOND, PENDING_ORDER_FIELDS, TRADE_FIELDS, TRADE_INFO_FIELDS
from .errors import NodeError, UnverifiedTransaction
from .facts import HUNDRED_PERCENT, PRICE, TOKEN_PRICE, ChainFacts, PendingFacts, TradeFacts, divide
from .node import Node
from .types import MarketCollateral

MAX_TRIES = 3
"""Attempts at a consistent reading: two reads of different blocks can disagree about the number of trades."""

MAX_IMPACT_STEPS = 8
"""Bounds the search for the notional whose impact is its own. Two or three steps are usual."""

SETTLED_SHARE = 1_000_000
"""The search ends when the notional moves by less than this share of it."""

MAX_FEED_AGE_S = 90_000
"""Greatest age of a feed's answer: feeds are renewed at least once a day."""

DEFAULT_FEED_TOLERANCE = 5 * 10**10
"""Distance in percent that is accepted where the Diamond names none."""

INVERTED, QUOTIENT = 1, 2
"""Ways in which the Diamond makes the price of a pair from its feeds, beside taking it as it is."""

ZERO_ADDRESS = "0x" + "0" * 40
SYMBOL = Function("symbol()->string")
DECIMALS = Function("decimals()->uint8")
LATEST_ROUND = Function("latestRoundData()->uint80,int256,uint256,uint256,uint80")


class Diamond:
    """The Diamond of a chain, read through a node."""

    def __init__(self, node: Node, address: str) -> None:
        self._node = node
        self.address = address

    async def pair_name(self, pair_index: int) -> str:
        """Returns the market of a pair. A pair that was listed again has a number behind its name."""
        base, quote, *_ = await self._read("pairs", pair_index)
        return f"{re.sub(r'_[0-9]+$', '', base)}/{quote}"

    async def pair_min_fee_usd(self, pair_index: int) -> int:
        """Returns the minimum fee of a pair, 1e18."""
        fee: int = await self._read("pairMinFeeUsd", pair_index)
        return fee

    async def token(self, symbol: str) -> MarketCollateral | None:
        """Finds a collateral token by the symbol that it gives itself, active or not."""
        for place, (address, *_) in enumerate(await self._read("getCollaterals")):
            if await self._node.read(address, SYMBOL) == symbol:
                # The Diamond's index starts from 1.
                decimals: int = await self._node.read(address, DECIMALS)
                return {"symbol": symbol, "index": place + 1, "address": address, "decimals": decimals}
        return None

    async def token_price(self, index: int) -> int:
        """Returns the USD price of a collateral, 1e8."""
        price: int = await self._read("getCollateralPriceUsd", index)
        return price

    async def trades(self, trader: str) -> ChainFacts:
        """Returns the trader's trades, resting orders and waiting requests."""
        for _ in range(MAX_TRIES):
            trades = await self._read("getTrades", trader)
            infos = await self._read("getTradeInfos", trader)
            pending = await self._read("getPendingOrders", trader)
            if len(trades) == len(infos):
                return ChainFacts(
                    tuple(_trade_facts(one, other) for one, other in zip(trades, infos, strict=True)),
                    tuple(_pending_facts(one) for one in pending),
                )
        raise UnverifiedTransaction("trades", "one account of them by your node", "two that differ, again and again")

    async def impact(self, trader: str, pair_index: int, *, long: bool, size: int, price: int) -> int:
        """Returns the spread and the volume impact that would be charged for an opening, in percent, 1e10.

        The impact depends on the notional and the notional on the impact, so the view is asked until the two agree.
        """
        half: int = await self._read("pairSpreadP", trader, pair_index) // 2
        spread = half if long else -half
        impact, notional = spread, size * price // 10**PRICE
        for _ in range(MAX_IMPACT_STEPS):
            volume: int = await self._read(
                "getTradeCumulVolPriceImpactP", trader, pair_index, long, notional, False, True, 0
            )
            impact = spread + volume
            after = size * (price + divide(price * impact, HUNDRED_PERCENT)) // 10**PRICE
            moved, notional = abs(after - notional), after
            if moved * SETTLED_SHARE < notional:
                break
        return impact

    async def pair_price(self, pair_index: int) -> tuple[int, int] | None:
        """Returns the price of a pair by its own feeds, 1e10, and the distance in percent that the Diamond accepts.

        `None` when it has no feed, or when it can't be read or is out of date.
        """
        _, _, (first_feed, second_feed, calculation, max_deviation_p), *_ = await self._read("pairs", pair_index)
        if first_feed == ZERO_ADDRESS:
            return None
        first = await self._feed_price(first_feed)
        second = await self._feed_price(second_feed) if calculation == QUOTIENT else 10**PRICE
        if not first or not second:
            return None
        price = 10 ** (2 * PRICE) // first if calculation == INVERTED else first * 10**PRICE // second
        return None if price == 0 else (price, max_deviation_p or DEFAULT_FEED_TOLERANCE)

    async def _feed_price(self, feed: str) -> int | None:
        try:
            decimals: int = await self._node.read(feed, DECIMALS)
            _, answer, _, updated_at, _ = await self._node.read(feed, LATEST_ROUND)
        except (AbiError, NodeError):
            return None
        price: int = max(answer, 0) * 10**PRICE // 10**decimals
        return None if time.time() - updated_at > MAX_FEED_AGE_S else price

    async def _read(self, name: str, *args: Any) -> Any:
        return await self._node.read(self.address, DIAMOND[name], *args)


def _trade_facts(trade: tuple[Any, ...], info: tuple[Any, ...]) -> TradeFacts:
    of = dict(zip(TRADE_FIELDS, trade, strict=True))
    more = dict(zip(TRADE_INFO_FIELDS, info, strict=True))
    # The size in base units: times the price it is USD, at the token's price when the trade was opened.
    tokens = of["positionSizeToken"]
    size = None if tokens == 0 else tokens * more["collateralPriceUsd"] // 10**TOKEN_PRICE
    return TradeFacts(
        index=of["index"],
        pair_index=of["pairIndex"],
        long=of["long"],
        collateral_index=of["collateralIndex"],
        trade_type=of["tradeType"],
        collateral_amount=of["collateralAmount"],
        leverage=of["leverage"],
        open_price=of["openPrice"],
        tp=of["tp"],
        sl=of["sl"],
        max_slippage_p=more["maxSlippageP"],
        size=size,
    )


def _pending_facts(pending: tuple[Any, ...]) -> PendingFacts:
    of = dict(zip(PENDING_ORDER_FIELDS, pending, strict=True))
    trade = dict(zip(TRADE_FIELDS, of["trade"], strict=True))
    return PendingFacts(of["index"], trade["pairIndex"], trade["index"], trade["long"], of["orderType"])
