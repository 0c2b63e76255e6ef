"""The shapes of the interface. Made from its OpenAPI and AsyncAPI documents by `npm run reference`: do not edit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict, Union

Numeric = Union[str, Decimal]
"""A number of a request: a decimal string or a `Decimal`, never a float."""


class Index(TypedDict):
    """The chains and the paths of a deployment. Paths are relative to its address."""

    name: Literal["Bezel"]
    """Name of the service."""
    version: str
    """Version of the interface, as in the OpenAPI document."""
    chains: list[ChainLinks]
    """Chains that this deployment serves."""
    docs: str
    """Path of the documentation for people."""
    llms: str
    """Path of the list of its pages as markdown, for language models."""
    openapi: str
    """Path of the OpenAPI document of the REST operations."""
    asyncapi: str
    """Path of the AsyncAPI document of the WebSocket."""
    health: str
    """Path of the sign of life."""
    ready: str
    """Path of the usability of each chain."""
    time: str
    """Path of the clock that timestamps of requests are compared with."""


class ChainLinks(TypedDict):
    """A chain that is served, with the paths to begin with."""

    chain: ChainSlug
    """Name of the chain in paths."""
    chainId: int
    """Id of the chain, as wallets know it."""
    testnet: bool
    """True when the money on the chain has no worth."""
    info: str
    """Path of what a client needs for signing."""
    markets: str
    """Path of the list of markets."""
    prices: str
    """Path of the list of prices."""
    stream: str
    """Path of the WebSocket."""
    facade: FacadeLinks
    """Paths of the exchange-shaped facade."""


class FacadeLinks(TypedDict):
    """Paths of the exchange-shaped facade of a chain."""

    info: str
    """Path of the reads of the facade."""
    exchange: str
    """Path of the signed actions of the facade."""
    stream: str
    """Path of the WebSocket of the facade."""


class Health(TypedDict):
    """A sign of life."""

    status: Literal["ok"]
    """Always `ok`: the process answers."""
    chains: list[ChainSlug]
    """Names of the chains that this deployment serves."""


class Readiness(TypedDict):
    """The usability of each chain now."""

    ready: bool
    """True when every chain is ready."""
    redisWarning: NotRequired[str]
    """The trouble with the Redis that nodes share, while there is one. Everything goes on without it."""
    chains: dict[str, ReadinessChains]
    """State of each chain, by its name."""


class ReadinessChains(TypedDict):
    ready: bool
    """True when reads and writes of this chain work."""
    reason: NotRequired[str]
    """While the chain is not ready: the `details.reason` of its NOT_READY answers."""
    diamondWarning: NotRequired[str]
    """The change of the contracts of this chain, while nothing is written because of it; else the last event of them
    that is not known, which stops nothing.
    """
    writesPaused: NotRequired[str]
    """While the operator has paused all writes: the operator's words. Reads go on."""
    marketsLeftOut: NotRequired[list[str]]
    """Pairs of the chain that are left out of its markets, because the price feed has no price of them. The others
    go on.
    """
    marketsWarning: NotRequired[str]
    """The last values of markets that the chain had otherwise than its events told, until all of them were compared
    again. They are corrected.
    """
    providersWarning: NotRequired[str]
    """The providers of this chain's node that are not well, and why. The others go on."""
    relayer: bool
    """True while actions of the facade are sent on this chain."""
    relayerWarning: NotRequired[str]
    """The present or impending problem of the relayer."""


class ServerTime(TypedDict):
    """The time of the service."""

    timestamp: Timestamp
    """Time of the service in epoch milliseconds: the clock that timestamps of signed requests are compared with."""


class ChainInfo(TypedDict):
    """A chain that this deployment serves."""

    chain: ChainSlug
    """Name of the chain in paths."""
    chainId: int
    """Id of the chain, as wallets know it."""
    diamond: Address
    """Address of the trading contract, which prepared transactions call."""
    relayer: Union[Address, None]
    """Address that sends the transactions of the facade; null where the facade only reads."""
    testnet: bool
    """True when the money on the chain has no worth."""
    knownSince: Union[KnownSince, None]
    """The block since which the history of the chain is known. What was open at it is known as well. Null while that
    is being read, and when it was a configured first block that is configured no longer.
    """
    signing: ChainInfoSigning
    """Domain, fields and structs for signing."""


class KnownSince(TypedDict):
    """The begin of the known history of a chain."""

    block: int
    """Fills and ended orders of blocks before this one are not known."""
    timestamp: Union[Timestamp, None]
    """Time of that block in epoch milliseconds; null while it is not known."""


class ChainInfoSigning(TypedDict):
    """Domain, fields and structs for signing."""

    domain: TypedDataDomain
    """EIP-712 domain of every signature for this chain."""
    fields: list[SignedField]
    """Fields of the struct of a signed request, the same for every operation."""
    emptyBodyHash: Hex
    """`bodyHash` of a request without a body: keccak256 of nothing."""
    types: WalletTypes
    """Structs that the trader's wallet signs in the bodies of createAgent, revokeAgent and issueApiKey, as the
    `types` of EIP-712.
    """


class TypedDataDomain(TypedDict):
    """The EIP-712 domain of every signature for this chain."""

    name: str
    """Name of this deployment in signatures."""
    version: Literal["1"]
    """Version of the signing scheme, always "1"."""
    chainId: int
    """Id of the chain."""
    verifyingContract: Address
    """Diamond of the chain."""


class SignedField(TypedDict):
    """A field of a signed struct."""

    name: str
    """Name of the field."""
    type: str
    """Type of the field in Solidity."""


class WalletTypes(TypedDict):
    """The structs that a trader's wallet signs, by their primary type."""

    AgentAuthorization: list[SignedField]
    """Fields of the struct for createAgent. No name, leverage or cap is `""`, all markets are `"*"`, a list of
    markets is joined by `,`, no expiry is 0.
    """
    AgentRevocation: list[SignedField]
    """Fields of the struct for revokeAgent."""
    ApiKeyIssue: list[SignedField]
    """Fields of the struct for issueApiKey."""


class MarketList(TypedDict):
    """The markets of a chain."""

    data: list[Market]
    """Markets that can be traded."""


class Market(TypedDict):
    """A market that can be traded, with its bounds, fees and rates."""

    symbol: MarketSymbol
    """Symbol of the market, as requests take it."""
    pairIndex: int
    """Index of the pair on the Diamond; also the facade's asset id."""
    base: str
    """Traded asset, in whose units sizes are."""
    quote: str
    """Currency of the prices."""
    group: MarketGroup
    """Class of the base asset."""
    groupIndex: int
    """Index of the pair's group on the Diamond."""
    feeIndex: int
    """Index of the pair's fees on the Diamond."""
    isOpen: bool
    """True while the trading session is open. While it is false, market orders, closes and changes of leverage or
    collateral answer MARKET_CLOSED; limit and stop orders are taken and wait.
    """
    minLeverage: DecimalText
    """Smallest leverage, a multiple of the collateral."""
    maxLeverage: DecimalText
    """Greatest leverage, a multiple of the collateral."""
    minCollateralUsd: DecimalText
    """Smallest collateral of an opening, in USD."""
    minPositionUsd: DecimalText
    """Smallest notional of an opening, in USD: `minCollateralUsd` x `minLeverage`."""
    pricePrecision: int
    """Places after the point that a price of a request may have. It never changes."""
    sizePrecision: int
    """Places after the point that a size of a request may have. It never changes."""
    spreadRate: DecimalText
    """Fixed spread as a fraction of the price: `0.0004` is 0.04 %. A trade pays half of it, beside the price impact."""
    fees: MarketFees
    """Trading fees, as fractions of the notional."""
    funding: Funding
    """Rates in percent per hour, and the open interest."""
    onlyIsolated: Literal[True]
    """Always true: each position has a collateral of its own."""
    collaterals: list[MarketCollateral]
    """Tokens that positions can be opened with."""


class MarketFees(TypedDict):
    """Trading fees of a market. Rates are fractions of the notional."""

    openFeeRate: DecimalText
    """Fee of an opening as a fraction of its notional, collateral x leverage: `0.0006` is 0.06 %. The account's
    `feeTierMultiplier` lowers it.
    """
    closeFeeRate: DecimalText
    """Fee of a close as a fraction of the closed notional at the entry, collateral x leverage: `0.0006` is 0.06 %.
    The account's `feeTierMultiplier` lowers it.
    """
    minPositionSizeUsd: DecimalText
    """Notional in USD that fees are charged for at least: a smaller trade pays the fee of this notional."""


class Funding(TypedDict):
    """Funding and borrowing rates of a market for the default collateral of the chain, in percent per hour, and its
    open interest.
    """

    fundingRateLongHourly: DecimalText
    """Funding rate of longs in percent per hour of the position size: `0.01` is 0.01 %. Positive is paid, negative
    is received. "0" where the chain charges none.
    """
    fundingRateShortHourly: DecimalText
    """Funding rate of shorts in percent per hour of the position size. Positive is paid, negative is received. "0"
    where the chain charges none.
    """
    borrowingRateHourly: DecimalText
    """Borrowing rate in percent per hour of the position size, paid by both sides. It is the sum of both generations
    of borrowing; the first one is charged per block and is shown for the pace of the last 1,000 blocks, the
    present open interest and the side that pays more.
    """
    openInterestLongUsd: DecimalText
    """Size of all open longs in USD at the mark price, over all collaterals."""
    openInterestShortUsd: DecimalText
    """Size of all open shorts in USD at the mark price, over all collaterals."""
    skewUsd: DecimalText
    """Open interest of longs less that of shorts, in USD."""


class MarketCollateral(TypedDict):
    """A token that positions of a market can be opened with."""

    symbol: str
    """Symbol of the token, as `collateral` of an order takes it."""
    index: int
    """Index of the collateral on the Diamond, from 1 on."""
    address: Address
    """Address of the token contract."""
    decimals: int
    """Decimals of the token: an amount has at most that many places after the point."""


class OrderBook(TypedDict):
    """The order book of a market, best levels first. No orders rest in it: each level is a band of the contracts'
    depth outside the spread, with recent volume and without the skew.
    """

    market: MarketSymbol
    """Symbol of the market."""
    markPrice: DecimalText
    """Mark price in the quote currency, between the best bid and the best ask."""
    bids: list[BookLevel]
    """Levels below the mark, highest price first. The best one is what a small sell gets, skew apart."""
    asks: list[BookLevel]
    """Levels above the mark, lowest price first. The best one is what a small buy pays, skew apart."""
    timestamp: Timestamp
    """Time of the mark price, in epoch milliseconds."""


class BookLevel(TypedDict):
    """A band of the contracts' depth."""

    price: DecimalText
    """Price at which the level begins, in the quote currency."""
    size: Amount
    """Depth of the level in base units."""
    sizeUsd: Amount
    """Depth of the level in USD."""
    cumulativeUsd: Amount
    """Depth from the best price to the end of the level, in USD."""


class MarketFunding(TypedDict):
    """Funding and borrowing rates of a market for the default collateral of the chain, in percent per hour, and its
    open interest.
    """

    fundingRateLongHourly: DecimalText
    """Funding rate of longs in percent per hour of the position size: `0.01` is 0.01 %. Positive is paid, negative
    is received. "0" where the chain charges none.
    """
    fundingRateShortHourly: DecimalText
    """Funding rate of shorts in percent per hour of the position size. Positive is paid, negative is received. "0"
    where the chain charges none.
    """
    borrowingRateHourly: DecimalText
    """Borrowing rate in percent per hour of the position size, paid by both sides. It is the sum of both generations
    of borrowing; the first one is charged per block and is shown for the pace of the last 1,000 blocks, the
    present open interest and the side that pays more.
    """
    openInterestLongUsd: DecimalText
    """Size of all open longs in USD at the mark price, over all collaterals."""
    openInterestShortUsd: DecimalText
    """Size of all open shorts in USD at the mark price, over all collaterals."""
    skewUsd: DecimalText
    """Open interest of longs less that of shorts, in USD."""
    market: MarketSymbol
    """Symbol of the market."""


class PriceList(TypedDict):
    """The current prices of a chain."""

    data: list[Price]
    """Prices of all markets."""


class Price(TypedDict):
    """The current prices of a market."""

    market: MarketSymbol
    """Symbol of the market."""
    mark: DecimalText
    """Mark price in the quote currency: trades execute at it, plus spread and price impact."""
    index: DecimalText
    """Index price in the quote currency: liquidations are judged by it."""
    updatedAt: Timestamp
    """Time at which the price came from the feed, in epoch milliseconds. A quiet market keeps its last one."""


class RecentTradeList(TypedDict):
    """The tape of a market."""

    data: list[RecentTrade]
    """Executions of all traders, newest first."""


class RecentTrade(TypedDict):
    """An execution in a market, of any trader."""

    market: MarketSymbol
    """Symbol of the market."""
    price: DecimalText
    """Execution price in the quote currency."""
    sizeUsd: Amount
    """Notional of the execution in USD: size x price."""
    side: Side
    """Side of the position that was opened, closed or resized."""
    action: str
    """Kind of the execution: `TradeOpenedMarket`, `TradeOpenedLimit`, `TradeClosedMarket`, `TradeClosedLIQ`,
    `TradeClosedSL`, `TradeClosedTP`, `TradeLeverageUpdate`, `TradePosSizeIncrease` or `TradePosSizeDecrease`.
    """
    timestamp: Timestamp
    """Time of its block in epoch milliseconds."""
    txHash: str
    """Hash of the transaction that executed it, 32 bytes."""


class CandleList(TypedDict):
    """Candles of a market."""

    data: list[Candle]
    """Candles, oldest first."""


class Candle(TypedDict):
    """Mark prices from `time` on for one width. A width without prices repeats the close before it."""

    time: Timestamp
    """Begin of the candle in epoch milliseconds, a multiple of its width."""
    open: DecimalText
    """First mark price, in the quote currency."""
    high: DecimalText
    """Highest mark price, in the quote currency."""
    low: DecimalText
    """Lowest mark price, in the quote currency."""
    close: DecimalText
    """Last mark price, in the quote currency; of the current candle the latest one."""


class CreateAgentRequest(TypedDict):
    """An authorisation of an agent, signed by the trader's wallet."""

    trader: Address
    """Address of the trader, which signs."""
    agent: Address
    """Address of the agent. With the address of the trader itself no delegation is needed."""
    scope: AgentScope
    """Limits of the agent."""
    timestamp: Timestamp
    """Time of the signature in epoch milliseconds, as signed: within 30 s of server time, and later than that of the
    last accepted one.
    """
    signature: Hex
    """The trader's EIP-712 signature of `AgentAuthorization`."""
    name: NotRequired[Union[str, None]]
    """Name of the agent, at most 32 characters. Default: none."""
    agentSignature: NotRequired[Hex]
    """The agent's signature of the same struct. It proves that the key is yours, and takes the agent over from any
    other trader. Default: none.
    """


class AgentScope(TypedDict):
    """The limits that a trader sets for an agent at this service. They are checked when a transaction is prepared;
    the chain itself knows only all or nothing.
    """

    markets: Union[Literal["all"], list[MarketSymbol]]
    """Markets that the agent may trade: `all`, or 1 to 64 listed symbols. Else SCOPE_MARKET_NOT_ALLOWED."""
    maxLeverage: Union[DecimalText, None]
    """Greatest leverage of an opening, an increase or a change, as a multiple of the collateral; null for no limit.
    Else SCOPE_LEVERAGE_EXCEEDED.
    """
    dailySpendCapUsd: Union[DecimalText, None]
    """Most notional in USD that the agent may open in one UTC day; null for no limit. What expires, is refused or is
    cancelled before it fills is given back. Else SCOPE_SPEND_CAP_EXCEEDED.
    """
    expiresAt: Union[int, None]
    """Time in epoch milliseconds from which the agent is refused (AGENT_EXPIRED); null for never."""
    permissions: Literal["trade", "read"]
    """`trade` lets the agent write; `read` lets it sign private reads and the handshake of the WebSocket only."""


class AgentAnswer(TypedDict):
    """An agent, and the transaction that makes it the delegate on the chain."""

    agent: Agent
    """The agent as it is registered now."""
    delegationTx: Union[TransactionRequest, None]
    """The transaction `setTradingDelegate` for the trader to send once on this chain; null when the agent is the
    trader.
    """


class Agent(TypedDict):
    """A key that acts for a trader. It can trade and never withdraw."""

    agent: Address
    """Address of the agent, whose key signs requests."""
    trader: Address
    """Address of the trader that it acts for."""
    name: str
    """Name that the trader gave it, at most 32 characters; "" when none was given."""
    scope: AgentScope
    """Limits of the agent at this service."""
    mode: AgentMode
    """The sender of its transactions: the agent itself, or the relayer of the facade."""
    status: AgentStatus
    """Usability of the agent now."""
    createdAt: Timestamp
    """Time of its first authorisation, in epoch milliseconds."""


class TransactionRequest(TypedDict):
    """A transaction for the trader's wallet to send unchanged, without value. The wallet adds nonce and fees."""

    to: Address
    """Contract that the transaction calls."""
    data: Hex
    """Calldata, to be sent unchanged."""
    chainId: int
    """Id of the chain that it is for."""


class RevokeAgentRequest(TypedDict):
    """A revocation of an agent, signed by the trader's wallet."""

    trader: Address
    """Address of the trader, which signs."""
    timestamp: Timestamp
    """Time of the signature in epoch milliseconds, as signed: within 30 s of server time, and later than that of the
    last accepted one.
    """
    signature: Hex
    """The trader's EIP-712 signature of `AgentRevocation`."""


class RevokeAgentAnswer(TypedDict):
    """The end of an agent at this service, and what is left to do."""

    revocationTx: Union[TransactionRequest, None]
    """The transaction `removeTradingDelegate` for the trader to send, which ends the delegation on the chain too;
    null when the agent is the trader.
    """
    mayStillBeMined: list[MayBeMined]
    """Transactions that the relayer had sent for the agent. Each is replaced by an empty one with a higher fee, and
    may be mined before that.
    """


class MayBeMined(TypedDict):
    """A transaction of a revoked agent that was sent before it was revoked."""

    txHash: Hex
    """Hash of the transaction, 32 bytes."""
    orderId: Union[Id, None]
    """Id of the order that it is for; null when it is for none."""


class IssueApiKeyRequest(TypedDict):
    """A request for a read-only key, signed by the trader's wallet."""

    trader: Address
    """Address of the trader, which signs."""
    label: str
    """Name of the key, 1 to 64 characters. A trader has one key under each label. Issuing it again replaces the key."""
    timestamp: Timestamp
    """Time of the signature in epoch milliseconds, as signed: within 30 s of server time, and later than that of the
    last accepted one.
    """
    signature: Hex
    """The trader's EIP-712 signature of `ApiKeyIssue`."""


class ApiKeyAnswer(TypedDict):
    """A new read-only key."""

    apiKey: str
    """The key, `bz_` and 43 characters. It is shown only here: keep it."""
    label: str
    """Name of the key, 1 to 64 characters. A trader has one key under each label."""
    trader: Address
    """Address of the trader whose account it reads."""


class ApiKeyList(TypedDict):
    """The read-only keys of a trader."""

    data: list[ApiKey]
    """The trader's keys, at most 20."""


class ApiKey(TypedDict):
    """A read-only key of a trader, without the key itself, which is not kept."""

    label: str
    """Name of the key, 1 to 64 characters. A trader has one key under each label."""
    createdAt: Timestamp
    """Time at which it was issued, in epoch milliseconds."""
    lastUsedAt: Union[Timestamp, None]
    """Time of its last use in epoch milliseconds, exact to a minute, or to an hour while the chain knows nothing of
    the trader; null before the first use.
    """


class RevokeApiKeyAnswer(TypedDict):
    """The end of a read-only key."""

    label: str
    """Label of the key that was ended."""
    trader: Address
    """Address of the trader whose key it was."""


class Account(TypedDict):
    """The wallet of a trader on one chain, and the agents that act for it."""

    address: Address
    """Address of the trader."""
    balances: list[Balance]
    """Balance and allowance of each collateral of the chain."""
    feeTierMultiplier: Union[DecimalText, None]
    """Factor of the trading fees by the fee tier of the trader: `1` pays the whole fee, `0.9` nine tenths of it.
    Null where the Diamond has no fee tiers.
    """
    referrer: Union[Address, None]
    """Address that referred the trader on the Diamond; null when none did."""
    agents: list[Agent]
    """Agents of the trader on this chain."""


class Balance(TypedDict):
    """The balance of one collateral, in whole tokens."""

    collateral: str
    """Symbol of the token."""
    balance: Amount
    """Tokens in the trader's wallet."""
    allowance: Amount
    """Tokens that the trader lets the Diamond take. An opening needs at least its collateral."""


class PositionList(TypedDict):
    """The open positions of a trader."""

    data: list[Position]
    """Open positions, oldest first."""
    nextCursor: NotRequired[Union[str, None]]
    """`cursor` of the request for the next page; null on the last page. Absent when the request has neither `limit`
    nor `cursor`: then the list is whole.
    """


class Position(TypedDict):
    """An open position, valued as of now. Only `pendingUpdate` can be null."""

    id: Id
    """Id of the position, the same for ever."""
    trader: Address
    """Address of the trader whose position it is."""
    market: MarketSymbol
    """Symbol of the market."""
    pairIndex: int
    """Index of the pair on the Diamond."""
    side: Side
    """Side of the position."""
    size: DecimalText
    """Size in base units. Size x price is the notional in USD."""
    collateral: DecimalText
    """Collateral in tokens of `collateralSymbol`."""
    collateralSymbol: str
    """Symbol of the token of the collateral and of all amounts here."""
    leverage: DecimalText
    """Leverage, a multiple of the collateral."""
    entryPrice: DecimalText
    """Price at which it was opened, in the quote currency."""
    markPrice: DecimalText
    """Mark price that it is valued at, in the quote currency."""
    liquidationPrice: DecimalText
    """Index price at which it is liquidated, in the quote currency: a long at or below it, a short at or above it."""
    unrealizedPnl: DecimalText
    """Profit in tokens of the collateral if it were closed at the mark, without the fee of the close: price profit
    less pending holding fees plus `realized`.
    """
    unrealizedPnlPercent: DecimalText
    """`unrealizedPnl` in percent of the collateral: `5` is 5 %."""
    fundingFee: DecimalText
    """Funding that is pending, in tokens of the collateral. Positive is owed, negative is earned."""
    borrowingFee: DecimalText
    """Borrowing fee that is pending, in tokens of the collateral. Positive is owed."""
    sl: DecimalText
    """Stop loss in the quote currency; "0" when there is none."""
    tp: DecimalText
    """Take profit in the quote currency; "0" when there is none."""
    openedAtBlock: int
    """Number of the block in which it was opened."""
    marginMode: Literal["isolated"]
    """Always `isolated`: it can lose its own collateral and no more."""
    priceAt: Timestamp
    """Time in epoch milliseconds at which `markPrice` came from the feed: a quiet market keeps its last one, also
    across a restart, with a time that is never newer than the price. 0 while no price of the market is known; the
    position is then valued at its entry price.
    """
    pendingUpdate: Union[PendingUpdate, None]
    """The change that waits for the oracle; null when none does."""
    realized: DecimalText
    """Profits less fees that were charged to the position and not paid out yet, in tokens of the collateral. Part of
    `unrealizedPnl`.
    """


class PendingUpdate(TypedDict):
    """A change of a position that waits for the oracle. Until it has ended, the contracts refuse a close and every
    other change but `sl` and `tp`.
    """

    kind: Literal["leverage", "collateral", "increase", "withdrawal", "other"]
    """Kind of the change. `collateral` is a change of leverage that was asked for as an amount of collateral;
    `other` realises fees or losses without a change of terms.
    """
    leverage: DecimalText
    """Leverage that the position is to have, a multiple of the collateral."""
    collateralDelta: DecimalText
    """Tokens of the collateral that the wallet gave; negative for what it is to get."""
    txHash: Union[Hex, None]
    """Hash of the request's transaction, 32 bytes; null when it was made before the service knew the chain."""
    createdAt: Timestamp
    """Time of the request in epoch milliseconds."""
    timesOutAtBlock: int
    """First block in which it can be reclaimed if the oracle has not answered it."""
    status: Literal["pending", "timed_out"]
    """`pending` until that block, then `timed_out`: reclaim it with cancelPositionUpdate."""


class OrderList(TypedDict):
    """A list of orders."""

    data: list[Order]
    """Orders, newest first."""
    nextCursor: NotRequired[Union[str, None]]
    """`cursor` of the request for the next page; null on the last page. Absent when the request has neither `limit`
    nor `cursor`: then the list is whole.
    """


class Order(TypedDict):
    """A request to trade and what became of it. All fields are always present."""

    id: Id
    """Id of the order, the same for ever."""
    trader: Address
    """Address of the trader whose order it is."""
    market: MarketSymbol
    """Symbol of the market."""
    side: Side
    """Side that it trades. A close trades the side opposite to its position's."""
    type: OrderType
    """Kind of the order."""
    size: DecimalText
    """Size that was asked for, in base units. `fill.size` is what was executed."""
    price: Union[DecimalText, None]
    """Price in the quote currency: the trigger of a limit or stop order, for a market order the price that
    `slippage` is measured from; null when a market order named none.
    """
    leverage: DecimalText
    """Leverage, a multiple of the collateral, with at most 3 decimals."""
    collateral: str
    """Symbol of the token that pays for the position, not an amount."""
    sl: Union[DecimalText, None]
    """Stop loss in the quote currency; null when there is none."""
    tp: Union[DecimalText, None]
    """Take profit in the quote currency; null when there is none."""
    reduceOnly: bool
    """True when it only closes: an order of closePosition, or one that asked for it."""
    slippage: DecimalText
    """Greatest difference between the expected price, which is `price` or the mark, and the execution price, in
    percent: `1` is 1 %.
    """
    clientId: Union[str, None]
    """Idempotency key of the caller; null when there is none."""
    status: OrderStatus
    """State of the order now."""
    txHash: Union[Hex, None]
    """Hash of the transaction that placed it, 32 bytes; null before one is known."""
    expiresAt: Union[Timestamp, None]
    """Time in epoch milliseconds from which the prepared transaction must not be sent any more; null once it is on
    the chain, or has expired.
    """
    fill: Union[Fill, None]
    """Execution of the order; null until it is filled."""
    reason: Union[OrderReason, None]
    """Reason of the refusal, or of the first refused part of a close; null when nothing was refused."""
    createdAt: Timestamp
    """Time at which the service first knew the order, in epoch milliseconds."""
    updatedAt: Timestamp
    """Time of its last change, in epoch milliseconds."""


class Fill(TypedDict):
    """The execution of an order."""

    price: DecimalText
    """Execution price in the quote currency, with spread and price impact. Of several closes, weighted by size."""
    size: DecimalText
    """Executed size in base units."""
    collateral: DecimalText
    """Collateral of the executed part, in tokens of the collateral."""
    feeCollateral: DecimalText
    """Trading fee in tokens of the collateral: fee rate x collateral x leverage, at least that of the market's
    `fees.minPositionSizeUsd`, with the fee tier; positive when it was paid.
    """
    txHash: Hex
    """Hash of the transaction that executed it, 32 bytes."""
    timestamp: Timestamp
    """Time of its block in epoch milliseconds."""
    positionId: Union[Id, None]
    """Id of the position that was opened, enlarged or closed; null when it is not known."""


class OrderPage(TypedDict):
    """A page of orders."""

    data: list[Order]
    """Orders, newest first."""
    nextCursor: Union[str, None]
    """`cursor` of the request for the next, older page; null on the last page."""


class FillPage(TypedDict):
    """A page of the account's history."""

    data: list[FillHistoryEntry]
    """Entries, newest first."""
    nextCursor: Union[str, None]
    """`cursor` of the request for the next, older page; null on the last page."""


class FillHistoryEntry(TypedDict):
    """An entry of the account's history: an execution, or a refusal that cost something."""

    id: int
    """Number of the entry. Later entries have higher ones."""
    market: Union[MarketSymbol, None]
    """Symbol of the market; null when its pair is not listed any more."""
    action: FillAction
    """Kind of the entry."""
    side: Side
    """Side of the position."""
    price: DecimalText
    """Execution price in the quote currency; "0" of a refusal."""
    size: DecimalText
    """Executed size in base units; "0" of a refusal."""
    collateral: DecimalText
    """Collateral of the executed part, in tokens of the collateral."""
    leverage: DecimalText
    """Leverage of the executed part, a multiple of the collateral."""
    pnl: DecimalText
    """Price profit of the closed part before fees, in tokens of the collateral; "0" where nothing was closed."""
    timestamp: Timestamp
    """Time of its block in epoch milliseconds."""
    txHash: Hex
    """Hash of the transaction, 32 bytes."""
    positionId: Id
    """Id of the position; of a `TradeOpenRefused` the id of its order, since there is no position."""
    orderId: Union[Id, None]
    """Id of the order that was executed or refused; null for a change of a position, which is no order. Null in
    entries that an earlier version stored.
    """
    clientId: Union[str, None]
    """Idempotency key of that order; null when it has none. Null in entries that an earlier version stored."""
    collateralSymbol: Union[str, None]
    """Symbol of the token that the amounts are in. Null in entries that an earlier version stored."""
    feeCollateral: Union[DecimalText, None]
    """Trading fee, or the fee charged for a refusal, in tokens of the collateral; positive when it was paid. Null in
    entries that an earlier version stored.
    """
    fundingFee: Union[DecimalText, None]
    """Funding fee that the entry realised, in tokens of the collateral; negative when it was earned. Null in entries
    that an earlier version stored.
    """
    borrowingFee: Union[DecimalText, None]
    """Borrowing fee that the entry realised, in tokens of the collateral. Null in entries that an earlier version
    stored.
    """
    deposit: Union[DecimalText, None]
    """Tokens that left the wallet for it. Null in entries that an earlier version stored."""
    payout: Union[DecimalText, None]
    """Tokens that reached the wallet with it. Null in entries that an earlier version stored."""
    forfeited: Union[DecimalText, None]
    """Part of `netPnl` that neither the price nor a fee explains, in tokens: pnl - fees - holding fees - netPnl. "0"
    but for a liquidation and a payout that was floored at 0. Null in entries that an earlier version stored.
    """
    netPnl: Union[DecimalText, None]
    """Change of the account's worth by this entry, in tokens: pnl - feeCollateral - fundingFee - borrowingFee -
    forfeited. Over all entries of a position it is all payouts less all deposits. Null in entries that an earlier
    version stored.
    """


class EventPage(TypedDict):
    """A part of the log of an account."""

    data: list[AccountEvent]
    """Events, oldest first."""
    lastSeq: Seq
    """Number of the last event of the whole log. Ask again with `after` while `data` ends before it."""


class AccountEventOrdersFills(TypedDict):
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    channel: Literal["orders", "fills"]
    """Channel that the event belongs to."""
    data: Order
    """The order after the change; of `fills` an order that was filled."""


class AccountEventPositions(TypedDict):
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    channel: Literal["positions"]
    """Channel that the event belongs to."""
    data: list[Position]
    """All open positions after the change."""


class AccountEventAccount(TypedDict):
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    channel: Literal["account"]
    """Channel that the event belongs to."""
    data: Account
    """Balances, allowances and agents after the change."""


class AuditPage(TypedDict):
    """A page of the changes of rights on an account."""

    data: list[AuditLogEntry]
    """Entries, newest first. The newest 2,000 are kept."""
    nextCursor: Union[str, None]
    """`cursor` of the request for the next, older page; null on the last page."""


class AuditLogEntry(TypedDict):
    """A change of the rights on an account. It never names the network address of a caller."""

    id: int
    """Number of the entry. Later entries have higher ones."""
    createdAt: Timestamp
    """Time of the change in epoch milliseconds."""
    kind: AuditKind
    """Kind of the change."""
    agent: Union[Address, None]
    """Address of the agent that the entry is about; null when it is about none."""
    keyLabel: Union[str, None]
    """Label of the API key that the entry is about; null when it is about none."""
    requestId: Union[str, None]
    """`x-request-id` of the request that caused the entry; null when no request did."""
    detail: Union[dict[str, Any], None]
    """More about the change, by its kind: the scope of an agent, the reason of a refusal; null when there is none."""


class OrderPreview(TypedDict):
    """What an order or a close would do and cost now. While price, volume and the token of the collateral stand
    still, the fill has these numbers to the last unit; holding fees go on by the second.
    """

    market: MarketSymbol
    """Market of the order."""
    side: Side
    """Side that the order trades. A close trades the side opposite to its position."""
    type: OrderType
    """Type of the order. A close is a `market` order."""
    reduceOnly: bool
    """True when it only makes positions smaller."""
    size: DecimalText
    """Size that will fill, in base units, as the fill will say it; `0` when `reason` says that nothing will."""
    notionalUsd: DecimalText
    """Notional in USD on which the fee is charged: of an opening size x price before skew, which counts against the
    daily cap; of a close the collateral x leverage of the part.
    """
    leverage: DecimalText
    """Leverage as a factor; of a close that of the first position."""
    effectiveLeverage: Union[DecimalText, None]
    """Size at the price of the oracle / what the position is worth there after its fees, as a factor. Null when no
    position is left, or nothing of its worth.
    """
    collateral: DecimalText
    """Collateral of what is traded, in tokens of the collateral: of the new position, or of the part that closes."""
    collateralSymbol: str
    """Symbol of the collateral. Amounts without USD in their name are in whole tokens of it."""
    slippage: DecimalText
    """Slippage in percent: `1` is 1 %."""
    oraclePrice: DecimalText
    """Price of the oracle that is assumed, in quote currency: the mark, or for an order that rests the price at
    which its trigger is reached.
    """
    price: DecimalText
    """Expected execution price in quote currency: `oraclePrice` moved by spread, volume and skew. Of several legs
    the average by size.
    """
    spreadRate: DecimalText
    """Half of the spread as a fraction of `oraclePrice`: `0.0002` is 0.02 %. Positive costs the trader, as in the
    next three fields.
    """
    volumeImpactRate: DecimalText
    """Price impact of the size and of the recent volume, as a fraction of `oraclePrice`: `0.0002` is 0.02 %."""
    skewImpactRate: DecimalText
    """Price impact of the skew between longs and shorts, as a fraction of `oraclePrice`: `0.0002` is 0.02 %.
    Negative where the trade reduces the skew.
    """
    priceImpactRate: DecimalText
    """Sum of the three, as a fraction of `oraclePrice`: `0.0002` is 0.02 %."""
    feeCollateral: DecimalText
    """Trading fee in tokens of the collateral."""
    feeRate: DecimalText
    """Trading fee as a fraction of the notional after the trader's fee tier: `0.0006` is 0.06 %. A notional below
    `fees.minPositionSizeUsd` of the market pays the fee of that size.
    """
    deposit: DecimalText
    """Tokens that leave the wallet, in tokens of the collateral."""
    payout: DecimalText
    """Tokens that reach the wallet, in tokens of the collateral."""
    pnl: DecimalText
    """Price profit of what closes, before all fees, in tokens of the collateral; `0` where nothing closes."""
    fundingFee: DecimalText
    """Funding fee that a close realises, in tokens of the collateral; negative when the trader earned it."""
    borrowingFee: DecimalText
    """Borrowing fee that a close realises, in tokens of the collateral."""
    liquidationPrice: Union[DecimalText, None]
    """Liquidation price of the position afterwards, in quote currency: of an opening the new one, of a close the one
    of which a part is left. Null when a close leaves nothing.
    """
    sl: Union[DecimalText, None]
    """Stop loss that the contracts will keep, in quote currency; null for none."""
    tp: Union[DecimalText, None]
    """Take profit, in quote currency; null for none."""
    legs: list[PreviewLeg]
    """Positions that it closes, oldest first; empty for an opening. The sums and averages of the other fields are
    over the legs that fill, or over all where none does.
    """
    reason: Union[OrderReason, None]
    """Reason for which the contracts would refuse it at this price when the oracle answers; null when they would
    execute it. A refusal costs a small fee, and the other numbers are those of the execution that does not
    happen.
    """
    warnings: list[Warning]
    """Differences between what was asked and what would happen, as the real answer has them; empty when there are
    none.
    """
    missing: list[Missing]
    """Conditions that are not met yet, each with its remedy; empty when nothing is missing. A delegation is listed
    to a read-only key that names an `agent`: an agent that signs must be the delegate already, and is refused
    with AGENT_NOT_DELEGATED and the transaction otherwise.
    """
    spend: Union[Spend, None]
    """Spend of the agent's day; null when no agent is known: a read-only key that names no `agent`."""
    simulation: Union[Simulation, None]
    """Outcome of the simulation; null unless the query says `simulate=true`."""
    priceAt: Timestamp
    """Time at which the mark that was used came from the price feed."""
    block: int
    """Block at which recent volume and open interest were read. What was traded later is not in these numbers."""


class PreviewLeg(TypedDict):
    """The part of a close that concerns one position."""

    positionId: Id
    """Position that is closed, in full or in part."""
    size: DecimalText
    """Size of it that will be closed, in base units; `0` when this part would be refused."""
    price: DecimalText
    """Expected execution price, in quote currency."""
    feeCollateral: DecimalText
    """Closing fee in tokens of the collateral."""
    payout: DecimalText
    """Tokens that reach the wallet, in tokens of the collateral."""
    reason: Union[OrderReason, None]
    """Reason for which the contracts would refuse this part; null when they would execute it."""


class Warning(TypedDict):
    """A difference between what was asked and what will happen, in an answer that is a success all the same."""

    code: WarningCode
    """Stable kind of the warning."""
    field: NotRequired[str]
    """Field of the request that it is about; absent when it is about none."""
    asked: NotRequired[DecimalText]
    """Value of that field in the request, in the unit of the field."""
    value: NotRequired[DecimalText]
    """Value that will hold instead, in the unit of the field."""
    message: str
    """The warning in words, for people."""


class Missing(TypedDict):
    """A condition of the real request that is not met yet, with its remedy."""

    kind: Literal["balance", "allowance", "delegation", "scope"]
    """Kind of the condition: tokens in the trader's wallet, the trader's allowance for the Diamond, the trader's
    delegation to the agent, or a right of the agent's scope.
    """
    code: str
    """Code of the error with which the real request would be refused."""
    message: str
    """The condition that is not met, in words."""
    remedy: str
    """The remedy in words, and who has to apply it."""
    collateral: Union[str, None]
    """Symbol of the token of which there is too little; null for `delegation` and `scope`."""
    needed: Union[DecimalText, None]
    """Tokens that the request needs, in whole tokens; null for `delegation` and `scope`."""
    available: Union[DecimalText, None]
    """Tokens that there are, in whole tokens; null for `delegation` and `scope`."""
    transaction: Union[TransactionRequest, None]
    """Transaction that the trader's wallet sends to remedy it: `approve` for an allowance, `setTradingDelegate` for
    a delegation. Null where no transaction does: a balance is paid in, a scope is signed anew.
    """


class Spend(TypedDict):
    """An agent's spend of the day, before and after the request."""

    agent: Address
    """Agent whose spend it is."""
    spentUsd: DecimalText
    """Notional in USD that counts against the cap of the agent today (UTC), orders that are only prepared included."""
    afterUsd: DecimalText
    """The same with this request, in USD. What opens nothing adds nothing."""
    dailySpendCapUsd: Union[DecimalText, None]
    """Daily cap of the agent's scope in USD; null when it has none."""
    resetsAt: Timestamp
    """The next midnight in UTC, when the count starts again at 0."""


class Simulation(TypedDict):
    """The outcome of a simulation on the latest block."""

    passed: bool
    """True when the transaction of the request would be mined successfully now."""
    gas: Union[str, None]
    """Gas limit that the real request would answer with, in units of gas; null when it could not be estimated."""
    errorName: Union[str, None]
    """Name of the contracts' error, as in `details.errorName` of SIMULATION_REVERTED; null when it passed."""
    message: Union[str, None]
    """The refusal in words; null when it passed."""


class PositionPreview(TypedDict):
    """What a position would be after a change, and what the change would cost now."""

    positionId: Id
    """The position."""
    market: MarketSymbol
    """Market of the position."""
    side: Side
    """Side of the position."""
    size: DecimalText
    """Size of the position in base units, which no change of it moves."""
    leverage: DecimalText
    """Leverage after the change, as a factor."""
    effectiveLeverage: Union[DecimalText, None]
    """Size at the price of the oracle / what the position is worth there after its fees, as a factor. Null when it
    is worth nothing.
    """
    collateral: DecimalText
    """Collateral after the change, in tokens of the collateral."""
    collateralSymbol: str
    """Symbol of the collateral. Amounts are in whole tokens of it."""
    oraclePrice: DecimalText
    """Price of the oracle that is assumed, in quote currency: the last mark."""
    feeCollateral: DecimalText
    """Fee of the change in tokens of the collateral; `0` for stops."""
    deposit: DecimalText
    """Tokens that leave the wallet, in tokens of the collateral."""
    payout: DecimalText
    """Tokens that reach the wallet, in tokens of the collateral."""
    liquidationPrice: DecimalText
    """Liquidation price after the change, in quote currency."""
    sl: DecimalText
    """Stop loss that the contracts will keep, in quote currency; `0` for none."""
    tp: DecimalText
    """Take profit, in quote currency; `0` for none."""
    reason: Union[OrderReason, None]
    """Reason for which the contracts would refuse it at this price when the oracle answers; null when they would
    execute it. A refusal costs a small fee, and the other numbers are those of the execution that does not
    happen.
    """
    warnings: list[Warning]
    """Differences between what was asked and what would happen, as the real answer has them; empty when there are
    none.
    """
    missing: list[Missing]
    """Conditions that are not met yet, each with its remedy; empty when nothing is missing. A delegation is listed
    to a read-only key that names an `agent`: an agent that signs must be the delegate already, and is refused
    with AGENT_NOT_DELEGATED and the transaction otherwise.
    """
    spend: Union[Spend, None]
    """Spend of the agent's day; null when no agent is known: a read-only key that names no `agent`."""
    simulation: Union[Simulation, None]
    """Outcome of the simulation; null unless the query says `simulate=true`."""
    priceAt: Timestamp
    """Time at which the mark that was used came from the price feed."""
    block: int
    """Block at which recent volume and open interest were read. What was traded later is not in these numbers."""


class UpdateOrderRequest(TypedDict):
    """A change of a resting order. At least one field is needed."""

    price: NotRequired[Numeric]
    """New trigger price in the quote currency, above 0, with at most the market's `pricePrecision` decimals.
    Default: unchanged.
    """
    size: NotRequired[Numeric]
    """New size in base units, above 0, with at most the market's `sizePrecision` decimals. Default: unchanged."""
    sl: NotRequired[Numeric]
    """New stop loss in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
    Default: unchanged.
    """
    tp: NotRequired[Numeric]
    """New take profit in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
    Default: unchanged.
    """
    slippage: NotRequired[Numeric]
    """Greatest difference between the expected and the execution price, in percent: `1` is 1 %. From 0.001 to
    65.535, with at most 3 decimals. Default: unchanged.
    """


class PreparedOrder(TypedDict):
    """An order, and the transaction that brings it to the chain."""

    order: Order
    """The order as it is now, with the terms that it will have once the transaction is mined."""
    transaction: Union[PreparedTransaction, None]
    """Transaction to sign and send; null when nothing has to reach the chain, and while one that was reported may
    still be mined.
    """
    warnings: NotRequired[list[Warning]]
    """Differences between what was asked and what will happen; absent when there are none."""


class PreparedTransaction(TypedDict):
    """A transaction for the agent to sign and send unchanged. The wallet adds nonce and fees."""

    to: Address
    """Diamond of the chain."""
    data: Hex
    """Calldata, to be sent unchanged: its last 8 bytes tell the service which order it is."""
    value: Literal["0"]
    """Native coins to send with it: always "0"."""
    chainId: int
    """Id of the chain that it is for."""
    gas: Union[str, None]
    """Gas limit estimated from the agent's account, a whole number as text; null when it could not be estimated."""
    expiresAt: Timestamp
    """Time in epoch milliseconds from which it must not be sent any more: prepare again."""


class CreateOrderRequest(TypedDict):
    """An order to prepare."""

    market: MarketSymbol
    """Symbol of the market."""
    side: Side
    """Side to trade."""
    type: OrderType
    """Kind of the order."""
    size: Numeric
    """Size in base units, above 0, with at most the market's `sizePrecision` decimals. Size x price is the notional
    in USD.
    """
    leverage: Numeric
    """Leverage, a multiple of the collateral, between the market's `minLeverage` and `maxLeverage`, with at most 3
    decimals. The collateral is derived from it.
    """
    price: NotRequired[Numeric]
    """Price in the quote currency, above 0, with at most the market's `pricePrecision` decimals. Required for a
    limit or stop order, which it triggers. For a market order, the price that `slippage` is measured from.
    Default for a market order: the mark.
    """
    collateral: NotRequired[str]
    """Symbol of the token that pays. Default: USDC where the chain has it, else the chain's only active collateral;
    with `reduceOnly` that of the oldest position.
    """
    sl: NotRequired[Numeric]
    """Stop loss in the quote currency, with at most the market's `pricePrecision` decimals. Default: none; "0" is
    none too.
    """
    tp: NotRequired[Numeric]
    """Take profit in the quote currency, with at most the market's `pricePrecision` decimals. Default: none; "0" is
    none too.
    """
    reduceOnly: NotRequired[bool]
    """True to close positions of the other side, oldest first, and never open one. Market orders only, without `sl`
    and `tp`. Default false.
    """
    slippage: NotRequired[Numeric]
    """Greatest difference between the expected and the execution price, in percent: `1` is 1 %. From 0.001 to
    65.535, with at most 3 decimals. Default 1.
    """
    clientId: NotRequired[str]
    """Idempotency key, 1 to 64 characters: the same key with the same order answers that order again. Default: none."""


class PreparedBatch(TypedDict):
    """Many orders and closes in one transaction: all of them are mined, or none."""

    orders: list[Order]
    """Orders that the transaction cancels, reclaims or makes, and prepared ones that have expired with this request;
    at most 20, in the order of the transaction's calls.
    """
    leftOut: list[LeftOut]
    """Orders and positions that stay as they are, each with its reason; at most 20."""
    transaction: Union[PreparedTransaction, None]
    """Transaction of all of `orders` together, to sign and send; null when nothing has to reach the chain."""
    next: Union[str, None]
    """`next` of the request for what follows; null when nothing does."""
    warnings: NotRequired[list[Warning]]
    """Differences between what was asked and what will happen; absent when there are none."""


class LeftOut(TypedDict):
    """An order or a position that a batch leaves as it is, so that the others are not held up by it."""

    id: Id
    """Id of the order or position that stays as it is."""
    code: Literal["VALIDATION_ERROR", "UNAUTHENTICATED", "INVALID_SIGNATURE", "TIMESTAMP_OUT_OF_WINDOW", "NONCE_REUSED", "AGENT_UNKNOWN", "API_KEY_UNKNOWN", "AGENT_NOT_DELEGATED", "AGENT_EXPIRED", "AGENT_REVOKED", "SCOPE_READ_ONLY", "SCOPE_MARKET_NOT_ALLOWED", "SCOPE_LEVERAGE_EXCEEDED", "SCOPE_SPEND_CAP_EXCEEDED", "TRADER_MISMATCH", "CHAIN_NOT_FOUND", "MARKET_NOT_FOUND", "ORDER_NOT_FOUND", "POSITION_NOT_FOUND", "AGENT_NOT_FOUND", "NOT_FOUND", "IDEMPOTENCY_CONFLICT", "ORDER_NOT_MODIFIABLE", "TOO_MANY_PREPARED_ORDERS", "PRECISION_ERROR", "LEVERAGE_OUT_OF_RANGE", "SIZE_BELOW_MINIMUM", "MARKET_CLOSED", "COLLATERAL_NOT_SUPPORTED", "SIMULATION_REVERTED", "SUBMISSION_MISMATCH", "UNSUPPORTED", "RATE_LIMITED", "INTERNAL", "UPSTREAM_UNAVAILABLE", "NOT_READY", "CHAIN_READ_ONLY"]
    """Code of the error that a request for it alone would answer."""
    message: str
    """The reason in words, for people."""


class SubmitOrderRequest(TypedDict):
    """The report of a sent transaction."""

    txHash: str
    """Hash of the transaction that was sent for the order, 32 bytes."""


class UpdatePositionRequest(TypedDict):
    """A change of a position: of its stops, its leverage or its collateral."""

    sl: NotRequired[Numeric]
    """New stop loss in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
    Default: unchanged.
    """
    tp: NotRequired[Numeric]
    """New take profit in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
    Default: unchanged.
    """
    leverage: NotRequired[Numeric]
    """New leverage, a multiple of the collateral, from 0.1 to the market's `maxLeverage`, with at most 3 decimals.
    The size stays, so the collateral changes. Not together with other fields. Default: unchanged.
    """
    collateral: NotRequired[CollateralChange]
    """Collateral to add or remove. The size stays, so the leverage changes. Not together with other fields. Default:
    unchanged.
    """


class CollateralChange(TypedDict):
    """A change of a position's collateral."""

    action: Literal["add", "remove"]
    """`add` takes tokens from the wallet, `remove` gives them back."""
    amount: DecimalText
    """Tokens of the collateral, above 0. It moves in steps of 0.001 of leverage: the step nearest below is taken."""


class PreparedPosition(TypedDict):
    """A position, and the transaction that changes it."""

    position: Position
    """The position as it is now, with `sl` and `tp` as the contracts will keep them."""
    transaction: PreparedTransaction
    """Transaction to sign and send."""
    warnings: NotRequired[list[Warning]]
    """Differences between what was asked and what will happen; absent when there are none."""


class ClosePositionRequest(TypedDict):
    """A close at market. The body may be left out."""

    size: NotRequired[Numeric]
    """Size to close in base units, with at most the market's `sizePrecision` decimals; the position's own size
    always passes. Default: all of it.
    """
    slippage: NotRequired[Numeric]
    """Greatest difference between the mark and the execution price, in percent: `1` is 1 %. From 0.001 to 65.535,
    with at most 3 decimals. It stays with what is left of the position. Default 1.
    """


class FlattenRequest(TypedDict):
    """A close of many positions at market. The body may be left out."""

    market: NotRequired[MarketSymbol]
    """Only what belongs to this market. Default: all markets."""
    slippage: NotRequired[Numeric]
    """Greatest difference between the mark and the execution price of each close, in percent: `1` is 1 %. From 0.001
    to 65.535, with at most 3 decimals. Default 1.
    """
    next: NotRequired[str]
    """`next` of the previous answer, to go on where it ended. Default: from the beginning."""


class NotificationList(TypedDict):
    """The notifications of a wallet."""

    success: Literal[True]
    """Always true in this answer."""
    address: Address
    """Address of the wallet."""
    notifications: list[Notification]
    """Active notifications of all chains, newest first."""


class Notification(TypedDict):
    """Something that a wallet should know without following its account."""

    id: int
    """Id of the notification, from a sequence of its own. It never changes."""
    type: NotificationType
    """Kind of the notification."""
    severity: NotificationSeverity
    """Urgency of the notification."""
    title: str
    """A few words for people."""
    message: str
    """One or two sentences for people: what happened, and what to do. Numbers in it are rounded; the order or
    position that it names has them exactly.
    """
    market: Union[MarketSymbol, None]
    """Symbol of the market that it is about; null when it is about none."""
    orderId: Union[Id, None]
    """Id of the order that it is about; null when it is about none."""
    positionId: Union[Id, None]
    """Id of the position that it is about; null when it is about none."""
    link: Union[str, None]
    """Path of this service with more information; null when there is none."""
    createdAt: Timestamp
    """Time of the event in epoch milliseconds."""
    expiresAt: Union[Timestamp, None]
    """Time in epoch milliseconds until which it is shown; null while its cause lasts."""


class DismissNotificationRequest(TypedDict):
    """The notification that is not to be shown again."""

    notificationId: int
    """`id` of the notification."""


class DismissNotificationAnswer(TypedDict):
    """The notification is not shown any more."""

    success: Literal[True]
    """Always true in this answer."""


class ExchangeAnswer(TypedDict):
    """The answer in the shape of the exchange."""

    status: Literal["ok", "err"]
    """`err` when the action was refused."""
    response: Any
    """An object with a `type` when the status is `ok`, a text when it is `err`."""
    delegationTx: NotRequired[Any]
    """Transaction that the master wallet has to send once; `null` when there is nothing left to send."""


class PricesMessage(TypedDict):
    channel: Literal["prices"]
    """Channel of the message."""
    market: NotRequired[MarketSymbol]
    """Symbol of the market that the subscription names; absent when it is to all markets."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the message in its channel and market, the same for all sockets. A gap means a lost message:
    subscribe again.
    """
    data: list[Price]
    """Prices of all markets in a snapshot, then those that changed; with `market` the price of that market alone."""


class BookMessage(TypedDict):
    channel: Literal["book"]
    """Channel of the message."""
    market: MarketSymbol
    """Symbol of the market."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the message in its channel and market, the same for all sockets. A gap means a lost message:
    subscribe again.
    """
    data: OrderBook
    """The whole book each time."""


class TradesMessage(TypedDict):
    channel: Literal["trades"]
    """Channel of the message."""
    market: MarketSymbol
    """Symbol of the market."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    data: list[RecentTrade]
    """Executions, newest first."""


class CandlesMessage(TypedDict):
    channel: Literal["candles"]
    """Channel of the message."""
    market: MarketSymbol
    """Symbol of the market."""
    interval: CandleInterval
    """Width of the candles."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    data: list[Candle]
    """Candles, oldest first. One replaces an earlier one with the same `time`."""


class OrdersMessage(TypedDict):
    channel: Literal["orders"]
    """Channel of the message."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    data: Union[list[Order], Order]
    """The open orders in a snapshot, then the order that changed."""


class FillsMessage(TypedDict):
    channel: Literal["fills"]
    """Channel of the message."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    data: Union[list[Order], Order]
    """The last filled orders in a snapshot, newest first, then the order that was filled."""


class PositionsMessage(TypedDict):
    channel: Literal["positions"]
    """Channel of the message."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    data: list[Position]
    """All open positions."""


class AccountMessage(TypedDict):
    channel: Literal["account"]
    """Channel of the message."""
    snapshot: bool
    """True when the data replaces everything before it; false for what changed since."""
    seq: Seq
    """Number of the event in the trader's log, which all four private channels share: 1, 2, 3, without a hole. Of a
    snapshot, the last event that it includes.
    """
    timestamp: Timestamp
    """Time of the event in epoch milliseconds."""
    block: Union[int, None]
    """Number of the block that caused the event; null when a request or the clock did."""
    reverted: bool
    """True when a reorganisation of the chain changed the past. The data is what holds now."""
    data: Account
    """Balances, allowances and agents."""


class ErrorBody(TypedDict):
    """The body of every error."""

    code: Literal["VALIDATION_ERROR", "UNAUTHENTICATED", "INVALID_SIGNATURE", "TIMESTAMP_OUT_OF_WINDOW", "NONCE_REUSED", "AGENT_UNKNOWN", "API_KEY_UNKNOWN", "AGENT_NOT_DELEGATED", "AGENT_EXPIRED", "AGENT_REVOKED", "SCOPE_READ_ONLY", "SCOPE_MARKET_NOT_ALLOWED", "SCOPE_LEVERAGE_EXCEEDED", "SCOPE_SPEND_CAP_EXCEEDED", "TRADER_MISMATCH", "CHAIN_NOT_FOUND", "MARKET_NOT_FOUND", "ORDER_NOT_FOUND", "POSITION_NOT_FOUND", "AGENT_NOT_FOUND", "NOT_FOUND", "IDEMPOTENCY_CONFLICT", "ORDER_NOT_MODIFIABLE", "TOO_MANY_PREPARED_ORDERS", "PRECISION_ERROR", "LEVERAGE_OUT_OF_RANGE", "SIZE_BELOW_MINIMUM", "MARKET_CLOSED", "COLLATERAL_NOT_SUPPORTED", "SIMULATION_REVERTED", "SUBMISSION_MISMATCH", "UNSUPPORTED", "RATE_LIMITED", "INTERNAL", "UPSTREAM_UNAVAILABLE", "NOT_READY", "CHAIN_READ_ONLY"]
    """Stable code of the error: act on it."""
    message: str
    """The error in words, for people. It must not be matched."""
    details: ErrorBodyDetails
    """The remedy, and the numbers and names that the message quotes, by the code of the error."""


class ErrorBodyDetails(TypedDict):
    """The remedy, and the numbers and names that the message quotes, by the code of the error."""

    remedy: NotRequired[str]
    """The change after which the request can pass, in words."""
    requestId: str
    """Id of the request, as in the header `x-request-id`."""
    docs: str
    """Path of the paragraph about the error in the served documentation."""


class NotificationError(TypedDict):
    """The error body of the notification operations."""

    error: str
    """Code of the error, one of the error table."""
    message: str
    """The error in words, for people."""
    success: Literal[False]
    """Always false in this answer."""


ChainSlug = Literal["arbitrum", "base", "polygon", "megaeth", "arbitrum-sepolia"]
"""Name of a chain in paths."""
Timestamp = int
"""A time in epoch milliseconds."""
Address = str
"""Address of an account or a contract: `0x` and 40 hexadecimal digits. Answers use the mixed case of EIP-55."""
Hex = str
"""Bytes in hexadecimal digits after `0x`."""
MarketSymbol = str
"""Symbol of a market, `<base>/<quote>`. In paths `BTC-USD` and `BTC%2FUSD` are the same market."""
MarketGroup = Literal["crypto", "forex", "stocks", "indices", "commodities"]
"""Class of the traded asset, which decides the trading hours."""
DecimalText = str
"""A decimal number as text, so that no digit is lost. Answers have no exponent, no trailing zeros and no `-0`."""
Amount = str
"""An amount as text. An unlimited allowance has more digits than a `Decimal`."""
Side = Literal["long", "short"]
"""`long` gains when the price rises, `short` when it falls."""
AgentMode = Literal["self", "relayed"]
"""`self`: the agent is the delegate on the chain and sends its own transactions. `relayed`: it came through the
facade, and the relayer is the delegate.
"""
AgentStatus = Literal["pending_delegation", "active", "revoked", "expired"]
"""`pending_delegation`: the trader's delegate on the chain is not this agent yet, or not any more; send
`delegationTx`. `active`: it can be used. `revoked`: the trader ended it. `expired`: its scope has expired.
"""
Id = str
"""Id of an order or a position: a whole number as text that fits 53 bits. It never changes and is never used
again.
"""
OrderType = Literal["market", "limit", "stop"]
"""`market`: executes at once. `limit`: buys once the market is at or below its price, and sells once it is at or
above. `stop`: the reverse. The price is a trigger: spread and price impact come on top of it, as the preview
says.
"""
OrderStatus = Literal["prepared", "pending", "open", "filled", "rejected", "timed_out", "canceled", "expired"]
"""`prepared`: waits for your transaction until `expiresAt`. `pending`: sent, or waiting for the oracle. `open`:
rests on the chain. `filled`: executed. `rejected`: refused, see `reason`. `timed_out`: the oracle did not
answer and the collateral is locked; cancel it to get it back. `canceled`: cancelled, or reclaimed. `expired`:
nothing was sent in time, or it was withdrawn.
"""
OrderReason = Literal["NONE", "PAUSED", "MARKET_CLOSED", "SLIPPAGE", "TP_REACHED", "SL_REACHED", "EXPOSURE_LIMITS", "PRICE_IMPACT", "MAX_LEVERAGE", "NO_TRADE", "WRONG_TRADE", "NOT_HIT", "LIQ_REACHED", "OTHER"]
"""Reason of the contracts for refusing an order; `OTHER` also when its transaction reverted."""
FillAction = Literal["TradeOpenedMarket", "TradeOpenedLimit", "TradeClosedMarket", "TradeClosedLIQ", "TradeClosedSL", "TradeClosedTP", "TradeLeverageUpdate", "TradePosSizeIncrease", "TradePosSizeDecrease", "TradeOpenRefused", "TradeUpdateRefused"]
"""Kind of an entry of the history: how a position was opened, changed or closed. `TradeOpenRefused` and
`TradeUpdateRefused` are refusals that cost something, with size and pnl "0".
"""
AccountEvent = Union[AccountEventOrdersFills, AccountEventPositions, AccountEventAccount]
"""An event of the numbered log of an account."""
Seq = int
"""Place in a log or a series of messages. The first one is 1; of a log, 0 stands before it."""
AuditKind = Literal["agent_added", "agent_changed", "agent_moved_away", "agent_revoked", "agent_replaced", "key_issued", "key_replaced", "key_ended", "delegation_seen", "delegation_lost", "relay_refused", "paused", "resumed", "budget_set"]
"""Kind of a change of rights."""
WarningCode = Literal["sl_clamped", "collateral_rounded", "price_old", "closing_slippage_kept", "closing_slippage_reset", "marketable"]
"""`sl_clamped`: the contracts keep a stop loss away from the liquidation price. `collateral_rounded`: collateral
moves in steps of 0.001 of leverage. `price_old`: the price that was used is older than 10 seconds.
`closing_slippage_kept`: the contracts keep the slippage of a close with the position, and its stop loss and
take profit execute only within it. `closing_slippage_reset`: such a slippage is put back to the default of 1
percent with the stops that are set. `marketable`: the market price has reached the price of a limit or stop
order, which does not rest and executes at about the market price, `value`.
"""
NotificationType = Literal["order_filled", "order_rejected", "order_timed_out", "position_liquidated", "stop_loss_hit", "take_profit_hit", "position_update_refused", "position_update_timed_out", "agent_added", "key_issued", "agent_expiring", "agent_expired", "delegation_removed", "delegation_replaced", "chain_paused", "chain_close_only"]
"""Kind of a notification."""
NotificationSeverity = Literal["info", "warning", "critical"]
"""Urgency of a notification: `critical` asks for something to be done."""
CandleInterval = Literal["1m", "5m", "15m", "30m", "1h", "4h", "1d"]
"""Width of a candle: minutes (`m`), hours (`h`) or days (`d`)."""

StreamMessage = Union[
    PricesMessage,
    BookMessage,
    TradesMessage,
    CandlesMessage,
    OrdersMessage,
    FillsMessage,
    PositionsMessage,
    AccountMessage,
]
"""A message of the stream that carries data."""
