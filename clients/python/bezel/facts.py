"""The facts that a prepared transaction is checked against, and the numbers of the chain.

The scales are those of the Diamond: prices 1e10, sizes and dollars 1e18, leverage and slippage 1e3, percent 1e10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

from .decimals import units
from .errors import UnverifiedTransaction
from .types import (
    ClosePositionRequest,
    CreateOrderRequest,
    Numeric,
    Order,
    Position,
    UpdateOrderRequest,
    UpdatePositionRequest,
)

PRICE = 10
SIZE = 18
USD = 18
LEVERAGE = 3
SLIPPAGE = 3
TOKEN_PRICE = 8
WHOLE_SLIPPAGE = 100 * 10**SLIPPAGE
HUNDRED_PERCENT = 100 * 10**10
DEFAULT_SLIPPAGE = "1"


@dataclass(frozen=True)
class MarketFacts:
    """A market."""

    symbol: str
    pair_index: int
    size_precision: int
    min_collateral_usd: str
    """Least collateral of a new position."""


@dataclass(frozen=True)
class CollateralFacts:
    """A collateral token and its price."""

    symbol: str
    index: int
    decimals: int
    price_usd: str
    price_tolerance_percent: str
    """Tolerance of the price, because the service reads it at another moment."""


@dataclass(frozen=True)
class TradeFacts:
    """A trade or resting order of the trader on the chain."""

    index: int
    pair_index: int
    long: bool
    collateral_index: int
    trade_type: int
    collateral_amount: int
    leverage: int
    open_price: int
    tp: int
    sl: int
    max_slippage_p: int
    """Closing slippage of a position; 0 means the default of 1 %."""
    size: int | None
    """Size in base units; `None` for trades opened before the chain stored it."""


@dataclass(frozen=True)
class PendingFacts:
    """A request of the trader that waits for the oracle."""

    index: int
    pair_index: int
    trade_index: int
    long: bool
    order_type: int


@dataclass(frozen=True)
class ChainFacts:
    """The trader's trades and requests, read from the chain."""

    trades: tuple[TradeFacts, ...]
    pending: tuple[PendingFacts, ...]


@dataclass(frozen=True)
class Facts:
    """Everything that a prepared transaction is checked against."""

    diamond: str
    chain_id: int
    trader: str
    sender: str
    """The address that signs and sends: the agent."""
    market: MarketFacts
    collateral: CollateralFacts
    expected_price: str | None = None
    """The price that the market is expected to have."""
    impact_p: int | None = None
    """Spread and volume impact of an opening in percent, signed, from the Diamond's own views."""
    positions: tuple[Position, ...] = ()
    """Open positions, needed for a reduce-only order."""
    on_chain: ChainFacts | None = None


@dataclass(frozen=True)
class CreateOrder:
    body: CreateOrderRequest
    operation: Literal["createOrder"] = "createOrder"


@dataclass(frozen=True)
class UpdateOrder:
    order: Order
    body: UpdateOrderRequest
    operation: Literal["updateOrder"] = "updateOrder"


@dataclass(frozen=True)
class CancelOrder:
    order: Order
    operation: Literal["cancelOrder"] = "cancelOrder"


@dataclass(frozen=True)
class ClosePosition:
    position: Position
    body: ClosePositionRequest
    operation: Literal["closePosition"] = "closePosition"


@dataclass(frozen=True)
class UpdatePosition:
    position: Position
    body: UpdatePositionRequest
    operation: Literal["updatePosition"] = "updatePosition"


@dataclass(frozen=True)
class CancelPositionUpdate:
    position: Position
    operation: Literal["cancelPositionUpdate"] = "cancelPositionUpdate"


Write = Union[CreateOrder, UpdateOrder, CancelOrder, ClosePosition, UpdatePosition, CancelPositionUpdate]
"""A request for a write. Its order or position is the one that was read before asking."""


def scaled(field: str, value: Numeric | None, decimals: int) -> int:
    """Returns a number exactly as the chain counts it. One with more decimals can't be what a transaction does."""
    try:
        return units("" if value is None else value, decimals)
    except (TypeError, ValueError) as error:
        raise UnverifiedTransaction(field, f"a number with at most {decimals} decimals", value) from error


def slippage_units(value: Numeric | None) -> int:
    """Returns a slippage; without one the default of 1 %."""
    return scaled("slippage", DEFAULT_SLIPPAGE if value is None else value, SLIPPAGE)


def trigger_units(field: str, value: Numeric | None) -> int:
    """Returns the price of a stop loss or take profit; none is 0."""
    return 0 if value is None else scaled(field, value, PRICE)


def divide(one: int, other: int) -> int:
    """Divides as the contracts do: towards zero."""
    return one // other if one >= 0 else -(-one // other)
