"""Every operation of the interface. Made from its OpenAPI document by `npm run reference`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Union, cast

from . import types
from .calls import Caller, Operation, run_now


OPERATIONS: dict[str, Operation] = {
    "getIndex": Operation("getIndex", "GET", "/", "none", (200,)),
    "health": Operation("health", "GET", "/health", "none", (200,)),
    "ready": Operation("ready", "GET", "/ready", "none", (200, 503,)),
    "getTime": Operation("getTime", "GET", "/v1/time", "none", (200,)),
    "getChainInfo": Operation("getChainInfo", "GET", "/v1/{chain}", "none", (200,)),
    "listMarkets": Operation("listMarkets", "GET", "/v1/{chain}/markets", "none", (200,)),
    "getMarket": Operation("getMarket", "GET", "/v1/{chain}/markets/{symbol}", "none", (200,)),
    "getOrderBook": Operation("getOrderBook", "GET", "/v1/{chain}/markets/{symbol}/book", "none", (200,)),
    "getFunding": Operation("getFunding", "GET", "/v1/{chain}/markets/{symbol}/funding", "none", (200,)),
    "getPrices": Operation("getPrices", "GET", "/v1/{chain}/prices", "none", (200,)),
    "getRecentTrades": Operation("getRecentTrades", "GET", "/v1/{chain}/markets/{symbol}/trades", "none", (200,)),
    "getCandles": Operation("getCandles", "GET", "/v1/{chain}/markets/{symbol}/candles", "none", (200,)),
    "createAgent": Operation("createAgent", "POST", "/v1/{chain}/agents", "none", (201,)),
    "getAgent": Operation("getAgent", "GET", "/v1/{chain}/agents/{address}", "none", (200,)),
    "revokeAgent": Operation("revokeAgent", "DELETE", "/v1/{chain}/agents/{address}", "none", (200,)),
    "issueApiKey": Operation("issueApiKey", "POST", "/v1/{chain}/api-keys", "none", (200,)),
    "listApiKeys": Operation("listApiKeys", "GET", "/v1/{chain}/api-keys", "agent", (200,)),
    "revokeApiKey": Operation("revokeApiKey", "DELETE", "/v1/{chain}/api-keys/{label}", "agent", (200,)),
    "getAccount": Operation("getAccount", "GET", "/v1/{chain}/account/{address}", "agent_or_key", (200,)),
    "listPositions": Operation("listPositions", "GET", "/v1/{chain}/account/{address}/positions", "agent_or_key", (200,)),
    "listOpenOrders": Operation("listOpenOrders", "GET", "/v1/{chain}/account/{address}/orders", "agent_or_key", (200,)),
    "listOrderHistory": Operation("listOrderHistory", "GET", "/v1/{chain}/account/{address}/orders/history", "agent_or_key", (200,)),
    "listFills": Operation("listFills", "GET", "/v1/{chain}/account/{address}/fills", "agent_or_key", (200,)),
    "listEvents": Operation("listEvents", "GET", "/v1/{chain}/account/{address}/events", "agent_or_key", (200,)),
    "listAudit": Operation("listAudit", "GET", "/v1/{chain}/account/{address}/audit", "agent_or_key", (200,)),
    "previewOrder": Operation("previewOrder", "GET", "/v1/{chain}/account/{address}/preview/order", "agent_or_key", (200,)),
    "previewClose": Operation("previewClose", "GET", "/v1/{chain}/account/{address}/preview/close/{id}", "agent_or_key", (200,)),
    "previewPosition": Operation("previewPosition", "GET", "/v1/{chain}/account/{address}/preview/position/{id}", "agent_or_key", (200,)),
    "getOrder": Operation("getOrder", "GET", "/v1/{chain}/orders/{id}", "agent_or_key", (200,)),
    "updateOrder": Operation("updateOrder", "PATCH", "/v1/{chain}/orders/{id}", "agent", (200,)),
    "cancelOrder": Operation("cancelOrder", "DELETE", "/v1/{chain}/orders/{id}", "agent", (200,)),
    "getOrderByClientId": Operation("getOrderByClientId", "GET", "/v1/{chain}/orders", "agent_or_key", (200,)),
    "createOrder": Operation("createOrder", "POST", "/v1/{chain}/orders", "agent", (200, 201,)),
    "cancelAllOrders": Operation("cancelAllOrders", "DELETE", "/v1/{chain}/orders", "agent", (200,)),
    "submitOrder": Operation("submitOrder", "POST", "/v1/{chain}/orders/{id}/submit", "agent", (200,)),
    "getPosition": Operation("getPosition", "GET", "/v1/{chain}/positions/{id}", "agent_or_key", (200,)),
    "updatePosition": Operation("updatePosition", "PATCH", "/v1/{chain}/positions/{id}", "agent", (200,)),
    "closePosition": Operation("closePosition", "POST", "/v1/{chain}/positions/{id}/close", "agent", (200,)),
    "cancelPositionUpdate": Operation("cancelPositionUpdate", "DELETE", "/v1/{chain}/positions/{id}/pending-update", "agent", (200,)),
    "closeAllPositions": Operation("closeAllPositions", "POST", "/v1/{chain}/positions/close-all", "agent", (200,)),
    "flatten": Operation("flatten", "POST", "/v1/{chain}/flatten", "agent", (200,)),
    "listNotifications": Operation("listNotifications", "GET", "/api/notifications/{address}", "none", (200,)),
    "dismissNotification": Operation("dismissNotification", "POST", "/api/notifications/{address}/dismiss", "agent_or_key", (200,)),
    "hlInfo": Operation("hlInfo", "POST", "/hl/{chain}/info", "none", (200,)),
    "hlExchange": Operation("hlExchange", "POST", "/hl/{chain}/exchange", "none", (200,)),
}


class Api:
    """Every operation, one method each. Calls block."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_index(
        self,
    ) -> types.Index:
        """Lists the chains of this deployment and the paths to begin with.

        One address for people and programs: a request whose `Accept` prefers `text/html` to `application/json`, as
        that of a browser does, gets the console, or is led to the documentation where there is none. It needs neither
        chain nor store.
        """
        return cast("types.Index", run_now(self._caller.call(OPERATIONS["getIndex"])))

    def health(
        self,
    ) -> types.Health:
        """Reports that the process is alive, and the chains that it serves.

        It needs neither chain nor store. Whether a chain can be used is in `/ready`.
        """
        return cast("types.Health", run_now(self._caller.call(OPERATIONS["health"])))

    def ready(
        self,
    ) -> types.Readiness:
        """Reports whether every chain can be used now.

        Answers 200 when every chain is ready, else 503 in the same shape. While a chain is not, its `reason` says
        what it waits for: ask again after a pause.
        """
        return cast("types.Readiness", run_now(self._caller.call(OPERATIONS["ready"])))

    def get_time(
        self,
    ) -> types.ServerTime:
        """Reads the time of the service.

        It needs neither chain nor store. When signed requests answer TIMESTAMP_OUT_OF_WINDOW, compare your clock with
        it.
        """
        return cast("types.ServerTime", run_now(self._caller.call(OPERATIONS["getTime"])))

    def get_chain_info(
        self,
    ) -> types.ChainInfo:
        """Reads the chain data that a client needs for signing.

        Read it once before the first signature: another deployment or chain has another domain. `signing.fields` is
        the struct of signed requests, `signing.types` has those that the wallet of the trader signs.
        """
        return cast("types.ChainInfo", run_now(self._caller.call(OPERATIONS["getChainInfo"])))

    def list_markets(
        self,
    ) -> types.MarketList:
        """Lists every market that can be traded.

        Fails only while the markets are not loaded or the price feed as a whole is silent: ask again after a pause.
        """
        return cast("types.MarketList", run_now(self._caller.call(OPERATIONS["listMarkets"])))

    def get_market(
        self,
        symbol: str,
    ) -> types.Market:
        """Reads one market.

        Gives the bounds, precisions, fees and rates that an order has to fit. For an unknown symbol `details.nearest`
        is the one that was probably meant.
        """
        return cast("types.Market", run_now(self._caller.call(OPERATIONS["getMarket"], path={"symbol": symbol})))

    def get_order_book(
        self,
        symbol: str,
        *,
        levels: Union[int, None] = None,
    ) -> types.OrderBook:
        """Reads the depth of a market around its mark price, outside the spread.

        The levels come from the depth bands of the contracts; they are not orders of other traders. The best ask is
        what a small buy pays and the best bid what a small sell gets, skew apart. A market whose price does not move
        with volume has one level on each side, a closed one has none.

        `levels`: The most levels of each side.
        """
        return cast("types.OrderBook", run_now(self._caller.call(OPERATIONS["getOrderBook"], path={"symbol": symbol}, query={"levels": levels})))

    def get_funding(
        self,
        symbol: str,
    ) -> types.MarketFunding:
        """Reads the funding and borrowing rates and the open interest of a market.

        Rates are in percent per hour; positive is paid by that side. They hold for the default collateral of the
        chain.
        """
        return cast("types.MarketFunding", run_now(self._caller.call(OPERATIONS["getFunding"], path={"symbol": symbol})))

    def get_prices(
        self,
    ) -> types.PriceList:
        """Lists the mark and index price of every market.

        Fails only while the price feed as a whole is silent; a quiet market keeps its last price, and `updatedAt`
        tells its age. The channel `prices` of the WebSocket sends each change.
        """
        return cast("types.PriceList", run_now(self._caller.call(OPERATIONS["getPrices"])))

    def get_recent_trades(
        self,
        symbol: str,
        *,
        limit: Union[int, None] = None,
    ) -> types.RecentTradeList:
        """Lists the executed trades of a market, newest first.

        It also answers while the price feed is silent. It weighs 1 for every 100 entries of its `limit`, or part of
        them.

        `limit`: The most entries of the answer.
        """
        return cast("types.RecentTradeList", run_now(self._caller.call(OPERATIONS["getRecentTrades"], path={"symbol": symbol}, query={"limit": limit})))

    def get_candles(
        self,
        symbol: str,
        *,
        interval: Union[types.CandleInterval, None] = None,
        from_: Union[types.Timestamp, None] = None,
        to: Union[types.Timestamp, None] = None,
    ) -> types.CandleList:
        """Lists the candles of the mark price of a market, oldest first.

        A range of more than 5,000 candles is refused: ask for it in parts. It also answers while the price feed is
        silent; UPSTREAM_UNAVAILABLE means that the history behind the service did not answer: ask again. A range of
        candles that have ended has an `ETag`. It weighs 1 for every 500 candles, or part of them.

        `interval`: Width of a candle.
        `from_`: Time of the earliest candle, in epoch milliseconds, at most 5000 candles before `to`. Default: 500
        intervals before `to`.
        `to`: Time of the latest candle, in epoch milliseconds. Default: now.
        """
        return cast("types.CandleList", run_now(self._caller.call(OPERATIONS["getCandles"], path={"symbol": symbol}, query={"interval": interval, "from": from_, "to": to})))

    def create_agent(
        self,
        body: types.CreateAgentRequest,
    ) -> types.AgentAnswer:
        """Authorises an agent, or changes its name or scope.

        The trader then sends `delegationTx` once per chain; until it is mined, requests of the agent answer
        AGENT_NOT_DELEGATED. TRADER_MISMATCH means that the agent serves another trader: send `agentSignature`, or use
        another key.
        """
        return cast("types.AgentAnswer", run_now(self._caller.call(OPERATIONS["createAgent"], body=body)))

    def get_agent(
        self,
        address: str,
    ) -> types.AgentAnswer:
        """Reads an agent and its status.

        While its status is `pending_delegation`, the trader has to send `delegationTx`.
        """
        return cast("types.AgentAnswer", run_now(self._caller.call(OPERATIONS["getAgent"], path={"address": address})))

    def revoke_agent(
        self,
        address: str,
        body: types.RevokeAgentRequest,
    ) -> types.RevokeAgentAnswer:
        """Revokes an agent.

        The service refuses the agent from now on. `revocationTx` is the transaction that the trader sends to revoke
        it on the chain too. What the relayer had not sent for it yet is never sent; `mayStillBeMined` names the rest.
        """
        return cast("types.RevokeAgentAnswer", run_now(self._caller.call(OPERATIONS["revokeAgent"], path={"address": address}, body=body)))

    def issue_api_key(
        self,
        body: types.IssueApiKeyRequest,
    ) -> types.ApiKeyAnswer:
        """Issues a read-only API key.

        The key is shown only once. A second key with the same label replaces the first; a trader has at most 20.
        """
        return cast("types.ApiKeyAnswer", run_now(self._caller.call(OPERATIONS["issueApiKey"], body=body)))

    def list_api_keys(
        self,
    ) -> types.ApiKeyList:
        """Lists the trader's read-only API keys.

        Signed by the trader's own wallet, with its address as the agent's and without any registration, or by an
        agent of the trader. The keys themselves are not kept.
        """
        return cast("types.ApiKeyList", run_now(self._caller.call(OPERATIONS["listApiKeys"])))

    def revoke_api_key(
        self,
        label: str,
    ) -> types.RevokeApiKeyAnswer:
        """Ends a read-only API key.

        Signed by the trader's own wallet, with its address as the agent's. Agents can't end keys: a stolen agent must
        not end the keys that watch it.
        """
        return cast("types.RevokeApiKeyAnswer", run_now(self._caller.call(OPERATIONS["revokeApiKey"], path={"label": label})))

    def get_account(
        self,
        *,
        address: Union[str, None] = None,
    ) -> types.Account:
        """Reads the balances, allowances and agents of an account.

        Balances and allowances are as of a recent block. An opening needs `balance` and `allowance` for its
        collateral.
        """
        return cast("types.Account", run_now(self._caller.call(OPERATIONS["getAccount"], path={"address": address})))

    def list_positions(
        self,
        *,
        address: Union[str, None] = None,
        market: Union[types.MarketSymbol, None] = None,
        since: Union[int, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.PositionList:
        """Lists the open positions, with profit and liquidation price as of now, oldest first.

        A quiet market hides nothing: its position is valued with the last mark, and `priceAt` tells how old that is.
        Without parameters the answer has all of them. With `limit` it is a page: go on with `cursor` until
        `nextCursor` is null. MARKET_NOT_FOUND means that the chain never had the market. It weighs 1 for every 100
        entries of its `limit`, or part of them.

        `market`: Symbol of the only market that is wanted; `BTC-USD` is the same as `BTC%2FUSD`. Default: all
        markets.
        `since`: Earliest time at which a position was opened, in epoch milliseconds. One from before the known
        history counts as opened at its begin. Default 0.
        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer, which then has `nextCursor`. Default: all of them; 50 with `cursor`.
        """
        return cast("types.PositionList", run_now(self._caller.call(OPERATIONS["listPositions"], path={"address": address}, query={"market": market, "since": since, "cursor": cursor, "limit": limit})))

    def list_open_orders(
        self,
        *,
        address: Union[str, None] = None,
        market: Union[types.MarketSymbol, None] = None,
        status: Union[Literal["prepared", "pending", "open", "timed_out"], None] = None,
        since: Union[int, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.OrderList:
        """Lists the orders that are pending, open, timed out and not reclaimed, or prepared and not expired, newest
        first.

        After a lost answer, look here before you send an order again. Without parameters the answer has all of them.
        With `limit` it is a page: go on with `cursor` until `nextCursor` is null. MARKET_NOT_FOUND means that the
        chain never had the market. It weighs 1 for every 100 entries of its `limit`, or part of them.

        `market`: Symbol of the only market that is wanted; `BTC-USD` is the same as `BTC%2FUSD`. Default: all
        markets.
        `status`: State of the orders that are wanted. Default: all four.
        `since`: Earliest `createdAt` of an order, in epoch milliseconds. Default 0.
        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer, which then has `nextCursor`. Default: all of them; 50 with `cursor`.
        """
        return cast("types.OrderList", run_now(self._caller.call(OPERATIONS["listOpenOrders"], path={"address": address}, query={"market": market, "status": status, "since": since, "cursor": cursor, "limit": limit})))

    def list_order_history(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.OrderPage:
        """Lists all orders, newest first.

        Also those that ended, and those of executions that nobody asked for here: stops, liquidations, trades made
        elsewhere. Read page after page with `cursor` until `nextCursor` is null. It weighs 1 for every 100 entries of
        its `limit`, or part of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.OrderPage", run_now(self._caller.call(OPERATIONS["listOrderHistory"], path={"address": address}, query={"cursor": cursor, "limit": limit})))

    def list_fills(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.FillPage:
        """Lists the executions, and the refusals that cost something, newest first.

        The books of the account: fees, funding, deposits and payouts of each entry add up to the last unit. Read page
        after page with `cursor` until `nextCursor` is null. It weighs 1 for every 100 entries of its `limit`, or part
        of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.FillPage", run_now(self._caller.call(OPERATIONS["listFills"], path={"address": address}, query={"cursor": cursor, "limit": limit})))

    def list_events(
        self,
        *,
        address: Union[str, None] = None,
        after: Union[int, None] = None,
        limit: Union[int, None] = None,
    ) -> types.EventPage:
        """Lists the events of an account, oldest first.

        It is the log behind the private channels of the WebSocket: every change of an order, a position or the
        account, numbered without a hole. Ask with `after` the last number that you know. It weighs 1 for every 100
        entries of its `limit`, or part of them.

        `after`: `seq` of the last event that the caller knows; the answer starts after it.
        `limit`: The most entries of the answer.
        """
        return cast("types.EventPage", run_now(self._caller.call(OPERATIONS["listEvents"], path={"address": address}, query={"after": after, "limit": limit})))

    def list_audit(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.AuditPage:
        """Lists the changes of rights on the account, newest first.

        Agents that were added, changed or ended, API keys, delegations that were seen or lost, actions that the
        relayer refused for their gas, and pauses by the operator. It weighs 1 for every 100 entries of its `limit`,
        or part of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.AuditPage", run_now(self._caller.call(OPERATIONS["listAudit"], path={"address": address}, query={"cursor": cursor, "limit": limit})))

    def preview_order(
        self,
        *,
        address: Union[str, None] = None,
        market: types.MarketSymbol,
        side: types.Side,
        type: types.OrderType,
        size: types.Numeric,
        leverage: types.Numeric,
        price: Union[types.Numeric, None] = None,
        collateral: Union[str, None] = None,
        sl: Union[types.Numeric, None] = None,
        tp: Union[types.Numeric, None] = None,
        reduce_only: Union[bool, None] = None,
        slippage: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.OrderPreview:
        """Says what an order would cost and do now, without making it.

        The query has the fields of `createOrder`. The answer has the price with spread and impact, the fee, the
        collateral, the size that will fill, the liquidation price, what is missing with its remedies, and the spend
        of the day afterwards. It is made by the functions that prepare and settle the order, so while prices stand
        still the fill has these numbers to the last unit. What the rules of createOrder refuse is refused here too,
        except for a missing allowance, balance or right of the agent, which `missing` lists. A stop on the wrong side
        of the price of the order is SIMULATION_REVERTED, as there; what else only the contracts refuse is told by
        `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`. It weighs 5 with
        `simulate=true`.

        `market`: Symbol of the market.
        `side`: Side to trade.
        `type`: Kind of the order.
        `size`: Size in base units, above 0, with at most the market's `sizePrecision` decimals. Size x price is the
        notional in USD.
        `leverage`: Leverage, a multiple of the collateral, between the market's `minLeverage` and `maxLeverage`, with
        at most 3 decimals. The collateral is derived from it.
        `price`: Price in the quote currency, above 0, with at most the market's `pricePrecision` decimals. Required
        for a limit or stop order, which it triggers. For a market order, the price that `slippage` is measured from.
        Default for a market order: the mark.
        `collateral`: Symbol of the token that pays. Default: USDC where the chain has it, else the chain's only
        active collateral; with `reduceOnly` that of the oldest position.
        `sl`: Stop loss in the quote currency, with at most the market's `pricePrecision` decimals. Default: none; "0"
        is none too.
        `tp`: Take profit in the quote currency, with at most the market's `pricePrecision` decimals. Default: none;
        "0" is none too.
        `reduce_only`: True to close positions of the other side, oldest first, and never open one. Market orders
        only, without `sl` and `tp`. Default false.
        `slippage`: Greatest difference between the expected and the execution price, in percent: `1` is 1 %. From
        0.001 to 65.535, with at most 3 decimals. Default 1.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.OrderPreview", run_now(self._caller.call(OPERATIONS["previewOrder"], path={"address": address}, query={"market": market, "side": side, "type": type, "size": size, "leverage": leverage, "price": price, "collateral": collateral, "sl": sl, "tp": tp, "reduceOnly": reduce_only, "slippage": slippage, "simulate": simulate, "agent": agent})))

    def preview_close(
        self,
        id: str,
        *,
        address: Union[str, None] = None,
        size: Union[types.Numeric, None] = None,
        slippage: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.OrderPreview:
        """Says what the close of a position would pay and cost now, without making it.

        The query has the fields of `closePosition`; without `size` all of the position closes. The answer has the
        price with spread and impact, the profit, all fees, the payout and, where a part is left, its liquidation
        price. What the rules of closePosition refuse is refused here too, except for a missing right of the agent,
        which `missing` lists; what only the contracts refuse, such as a close while another request of the position
        waits, is told by `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`. It weighs 5
        with `simulate=true`.

        `size`: Size to close in base units, with at most the market's `sizePrecision` decimals; the position's own
        size always passes. Default: all of it.
        `slippage`: Greatest difference between the mark and the execution price, in percent: `1` is 1 %. From 0.001
        to 65.535, with at most 3 decimals. It stays with what is left of the position. Default 1.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.OrderPreview", run_now(self._caller.call(OPERATIONS["previewClose"], path={"address": address, "id": id}, query={"size": size, "slippage": slippage, "simulate": simulate, "agent": agent})))

    def preview_position(
        self,
        id: str,
        *,
        address: Union[str, None] = None,
        sl: Union[types.Numeric, None] = None,
        tp: Union[types.Numeric, None] = None,
        leverage: Union[types.Numeric, None] = None,
        add_collateral: Union[types.Numeric, None] = None,
        remove_collateral: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.PositionPreview:
        """Says what a change of a position would cost and make of it now, without making it.

        The query has one kind of change, as `updatePosition`: `sl` and `tp`, or `leverage`, or collateral. The answer
        has the position after it: stops, leverage, collateral, liquidation price, the fee, and what leaves or reaches
        the wallet. What the rules of updatePosition refuse is refused here too, except for a missing allowance,
        balance or right of the agent, which `missing` lists; what only the contracts refuse, such as a change while
        another request of the position waits, is told by `simulate=true`. Nothing is stored and no node is asked,
        unless `simulate=true`. It weighs 5 with `simulate=true`.

        `sl`: New stop loss in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
        Default: unchanged.
        `tp`: New take profit in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears
        it. Default: unchanged.
        `leverage`: New leverage, a multiple of the collateral, from 0.1 to the market's `maxLeverage`, with at most 3
        decimals. The size stays, so the collateral changes. Not together with other fields. Default: unchanged.
        `add_collateral`: Collateral to add, in whole tokens; the size stays.
        `remove_collateral`: Collateral to take out, in whole tokens; the size stays.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.PositionPreview", run_now(self._caller.call(OPERATIONS["previewPosition"], path={"address": address, "id": id}, query={"sl": sl, "tp": tp, "leverage": leverage, "addCollateral": add_collateral, "removeCollateral": remove_collateral, "simulate": simulate, "agent": agent})))

    def get_order(
        self,
        id: str,
    ) -> types.Order:
        """Reads one order.

        Read it until `status` is one that stays, or follow the channel `orders` of the WebSocket. Another trader's
        order is answered like one that does not exist.
        """
        return cast("types.Order", run_now(self._caller.call(OPERATIONS["getOrder"], path={"id": id})))

    def update_order(
        self,
        id: str,
        body: types.UpdateOrderRequest,
    ) -> types.PreparedOrder:
        """Prepares a change of a resting limit or stop order.

        Sign and send the transaction; the order keeps its id and shows the change when it is mined. A new `size`, and
        most new prices, cancel and place again in one transaction, which needs the allowance for the whole collateral
        again. A market request and an order that is not `open` are ORDER_NOT_MODIFIABLE.
        """
        return cast("types.PreparedOrder", run_now(self._caller.call(OPERATIONS["updateOrder"], path={"id": id}, body=body)))

    def cancel_order(
        self,
        id: str,
    ) -> types.PreparedOrder:
        """Prepares the cancellation of a resting order or the reclaim of a timed-out one, or withdraws a prepared one.

        A `prepared` order ends at once, without a transaction. For an `open` or `timed_out` one, sign and send the
        transaction; the order is `canceled` when it is mined. Any other state is ORDER_NOT_MODIFIABLE: read the order
        again.
        """
        return cast("types.PreparedOrder", run_now(self._caller.call(OPERATIONS["cancelOrder"], path={"id": id})))

    def get_order_by_client_id(
        self,
        *,
        client_id: str,
    ) -> types.Order:
        """Reads the order that was created with one of the trader's idempotency keys.

        A key belongs to one trader on one chain, and to one order for ever. ORDER_NOT_FOUND after a lost answer of
        createOrder means that nothing was stored under the key: send the order again.

        `client_id`: Idempotency key of the order, 1 to 64 characters.
        """
        return cast("types.Order", run_now(self._caller.call(OPERATIONS["getOrderByClientId"], query={"clientId": client_id})))

    def create_order(
        self,
        body: types.CreateOrderRequest,
    ) -> types.PreparedOrder:
        """Prepares an order.

        Checks the order, simulates its transaction and answers with it: the agent signs and sends that unchanged
        before `expiresAt` and may report its hash (submitOrder). Nothing is on the chain before that, and a refusal
        leaves nothing behind. Answers with 201 and the path of the order in `Location`, or with 200 and the earlier
        order when the trader has already used `clientId` for the same order. Its `transaction` is null from the first
        reported hash on, until it is out of date: it may still be mined.
        """
        return cast("types.PreparedOrder", run_now(self._caller.call(OPERATIONS["createOrder"], body=body)))

    def cancel_all_orders(
        self,
        *,
        market: Union[types.MarketSymbol, None] = None,
        next: Union[str, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the cancellation of all resting orders and the reclaim of all timed-out ones, and withdraws prepared
        ones.

        Looks at up to 20 orders, oldest first, and prepares one transaction for them; `next` leads to the following
        ones. An order that can not be ended, because it waits for the oracle, the contracts would revert or the scope
        does not name its market, is left out and named, and the others go on without it. The whole page counts as one
        write.

        `market`: Only what belongs to this market. Default: all markets. `BTC-USD` is the same as `BTC%2FUSD`.
        `next`: `next` of the previous answer, to go on where it ended. Default: from the beginning.
        """
        return cast("types.PreparedBatch", run_now(self._caller.call(OPERATIONS["cancelAllOrders"], query={"market": market, "next": next})))

    def submit_order(
        self,
        id: str,
        body: types.SubmitOrderRequest,
    ) -> types.Order:
        """Reports the hash of the transaction that was sent for an order.

        Optional: the service watches the chain too. SUBMISSION_MISMATCH leaves the order as it was: report the
        transaction that was prepared for it. Replaces any hash reported before. A hash that no node knows after 10
        seconds leaves the order `prepared`, with its `txHash` shown.
        """
        return cast("types.Order", run_now(self._caller.call(OPERATIONS["submitOrder"], path={"id": id}, body=body)))

    def get_position(
        self,
        id: str,
    ) -> types.Position:
        """Reads one open position, with profit and liquidation price as of now.

        A position that is closed, or another trader's, is answered like one that does not exist. The executions of a
        closed one are in listFills, under its `positionId`.
        """
        return cast("types.Position", run_now(self._caller.call(OPERATIONS["getPosition"], path={"id": id})))

    def update_position(
        self,
        id: str,
        body: types.UpdatePositionRequest,
    ) -> types.PreparedPosition:
        """Prepares a change of stop loss, take profit, leverage or collateral.

        Takes `sl` and `tp`, or `leverage`, or `collateral`; it makes no order. Sign and send the transaction, then
        read the position: `sl` and `tp` hold when it is mined, a change of leverage or collateral waits for the
        oracle as `pendingUpdate`.
        """
        return cast("types.PreparedPosition", run_now(self._caller.call(OPERATIONS["updatePosition"], path={"id": id}, body=body)))

    def close_position(
        self,
        id: str,
        body: Union[types.ClosePositionRequest, None] = None,
    ) -> types.PreparedOrder:
        """Prepares the closing of a position at market, in full or in part.

        Answers with an order of its own, `reduceOnly` and on the other side: sign and send its transaction, then
        follow the order. While a change of the position waits for the oracle the contracts refuse a close
        (SIMULATION_REVERTED with `details.pendingUpdate`).
        """
        return cast("types.PreparedOrder", run_now(self._caller.call(OPERATIONS["closePosition"], path={"id": id}, body=body)))

    def cancel_position_update(
        self,
        id: str,
    ) -> types.PreparedPosition:
        """Prepares the reclaim of a change of leverage or collateral that the oracle has not answered in time.

        Sign and send the transaction: the collateral of the change returns to the wallet. Before block
        `timesOutAtBlock`, and when nothing is pending, it is ORDER_NOT_MODIFIABLE with both blocks in `details`. It
        works for a position that was closed meanwhile too.
        """
        return cast("types.PreparedPosition", run_now(self._caller.call(OPERATIONS["cancelPositionUpdate"], path={"id": id})))

    def close_all_positions(
        self,
        body: Union[types.FlattenRequest, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the closing of all positions at market.

        Makes one order for each of up to 20 positions, oldest first, and one transaction for all of them; `next`
        leads to the following ones. A position that can not be closed, because its market is closed, another request
        of it waits, the contracts would revert or the scope does not name its market, is left out and named, and the
        others go on without it. The whole page counts as one write and as one prepared order. Report the hash for any
        of its orders: it counts for all.
        """
        return cast("types.PreparedBatch", run_now(self._caller.call(OPERATIONS["closeAllPositions"], body=body)))

    def flatten(
        self,
        body: Union[types.FlattenRequest, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the end of all orders, then of all positions.

        Does what `cancelAllOrders` and then `closeAllPositions` do, page by page: send the transaction of each page
        and ask again with its `next` until that is null. Without `next` it begins again, and prepared orders of
        earlier pages expire. Orders that wait for the oracle can still open a position: look at `leftOut`, and repeat
        until the account is flat.
        """
        return cast("types.PreparedBatch", run_now(self._caller.call(OPERATIONS["flatten"], body=body)))

    def list_notifications(
        self,
        *,
        address: Union[str, None] = None,
    ) -> types.NotificationList:
        """Lists the current notifications of a wallet on all chains, newest first.

        The text says what to do. A notification goes when its cause does, or when it is dismissed.
        """
        return cast("types.NotificationList", run_now(self._caller.call(OPERATIONS["listNotifications"], path={"address": address})))

    def dismiss_notification(
        self,
        body: types.DismissNotificationRequest,
        *,
        address: Union[str, None] = None,
    ) -> types.DismissNotificationAnswer:
        """Dismisses a notification, so that it is not shown again.

        An agent signs for any chain on which it is registered for this wallet.
        """
        return cast("types.DismissNotificationAnswer", run_now(self._caller.call(OPERATIONS["dismissNotification"], path={"address": address}, body=body)))

    def hl_info(
        self,
        body: Mapping[str, Any],
    ) -> Any:
        """Answers a read of the exchange-shaped facade, chosen by the `type` in its body.

        A list weighs 1 for every 200 rows, or part of them, and has at most 2000. Everything else weighs 1.
        """
        return run_now(self._caller.call(OPERATIONS["hlInfo"], body=body))

    def hl_exchange(
        self,
        body: Mapping[str, Any],
    ) -> types.ExchangeAnswer:
        """Executes an action of the exchange-shaped facade, in an envelope signed as on that exchange.

        Refusals of an action are answers with `status` `err` and a text; a malformed envelope is 422 in plain text.
        `delegationTx` is there while the trader has to send it.
        """
        return cast("types.ExchangeAnswer", run_now(self._caller.call(OPERATIONS["hlExchange"], body=body)))


class AsyncApi:
    """Every operation, one method each. Calls are awaited."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get_index(
        self,
    ) -> types.Index:
        """Lists the chains of this deployment and the paths to begin with.

        One address for people and programs: a request whose `Accept` prefers `text/html` to `application/json`, as
        that of a browser does, gets the console, or is led to the documentation where there is none. It needs neither
        chain nor store.
        """
        return cast("types.Index", await self._caller.call(OPERATIONS["getIndex"]))

    async def health(
        self,
    ) -> types.Health:
        """Reports that the process is alive, and the chains that it serves.

        It needs neither chain nor store. Whether a chain can be used is in `/ready`.
        """
        return cast("types.Health", await self._caller.call(OPERATIONS["health"]))

    async def ready(
        self,
    ) -> types.Readiness:
        """Reports whether every chain can be used now.

        Answers 200 when every chain is ready, else 503 in the same shape. While a chain is not, its `reason` says
        what it waits for: ask again after a pause.
        """
        return cast("types.Readiness", await self._caller.call(OPERATIONS["ready"]))

    async def get_time(
        self,
    ) -> types.ServerTime:
        """Reads the time of the service.

        It needs neither chain nor store. When signed requests answer TIMESTAMP_OUT_OF_WINDOW, compare your clock with
        it.
        """
        return cast("types.ServerTime", await self._caller.call(OPERATIONS["getTime"]))

    async def get_chain_info(
        self,
    ) -> types.ChainInfo:
        """Reads the chain data that a client needs for signing.

        Read it once before the first signature: another deployment or chain has another domain. `signing.fields` is
        the struct of signed requests, `signing.types` has those that the wallet of the trader signs.
        """
        return cast("types.ChainInfo", await self._caller.call(OPERATIONS["getChainInfo"]))

    async def list_markets(
        self,
    ) -> types.MarketList:
        """Lists every market that can be traded.

        Fails only while the markets are not loaded or the price feed as a whole is silent: ask again after a pause.
        """
        return cast("types.MarketList", await self._caller.call(OPERATIONS["listMarkets"]))

    async def get_market(
        self,
        symbol: str,
    ) -> types.Market:
        """Reads one market.

        Gives the bounds, precisions, fees and rates that an order has to fit. For an unknown symbol `details.nearest`
        is the one that was probably meant.
        """
        return cast("types.Market", await self._caller.call(OPERATIONS["getMarket"], path={"symbol": symbol}))

    async def get_order_book(
        self,
        symbol: str,
        *,
        levels: Union[int, None] = None,
    ) -> types.OrderBook:
        """Reads the depth of a market around its mark price, outside the spread.

        The levels come from the depth bands of the contracts; they are not orders of other traders. The best ask is
        what a small buy pays and the best bid what a small sell gets, skew apart. A market whose price does not move
        with volume has one level on each side, a closed one has none.

        `levels`: The most levels of each side.
        """
        return cast("types.OrderBook", await self._caller.call(OPERATIONS["getOrderBook"], path={"symbol": symbol}, query={"levels": levels}))

    async def get_funding(
        self,
        symbol: str,
    ) -> types.MarketFunding:
        """Reads the funding and borrowing rates and the open interest of a market.

        Rates are in percent per hour; positive is paid by that side. They hold for the default collateral of the
        chain.
        """
        return cast("types.MarketFunding", await self._caller.call(OPERATIONS["getFunding"], path={"symbol": symbol}))

    async def get_prices(
        self,
    ) -> types.PriceList:
        """Lists the mark and index price of every market.

        Fails only while the price feed as a whole is silent; a quiet market keeps its last price, and `updatedAt`
        tells its age. The channel `prices` of the WebSocket sends each change.
        """
        return cast("types.PriceList", await self._caller.call(OPERATIONS["getPrices"]))

    async def get_recent_trades(
        self,
        symbol: str,
        *,
        limit: Union[int, None] = None,
    ) -> types.RecentTradeList:
        """Lists the executed trades of a market, newest first.

        It also answers while the price feed is silent. It weighs 1 for every 100 entries of its `limit`, or part of
        them.

        `limit`: The most entries of the answer.
        """
        return cast("types.RecentTradeList", await self._caller.call(OPERATIONS["getRecentTrades"], path={"symbol": symbol}, query={"limit": limit}))

    async def get_candles(
        self,
        symbol: str,
        *,
        interval: Union[types.CandleInterval, None] = None,
        from_: Union[types.Timestamp, None] = None,
        to: Union[types.Timestamp, None] = None,
    ) -> types.CandleList:
        """Lists the candles of the mark price of a market, oldest first.

        A range of more than 5,000 candles is refused: ask for it in parts. It also answers while the price feed is
        silent; UPSTREAM_UNAVAILABLE means that the history behind the service did not answer: ask again. A range of
        candles that have ended has an `ETag`. It weighs 1 for every 500 candles, or part of them.

        `interval`: Width of a candle.
        `from_`: Time of the earliest candle, in epoch milliseconds, at most 5000 candles before `to`. Default: 500
        intervals before `to`.
        `to`: Time of the latest candle, in epoch milliseconds. Default: now.
        """
        return cast("types.CandleList", await self._caller.call(OPERATIONS["getCandles"], path={"symbol": symbol}, query={"interval": interval, "from": from_, "to": to}))

    async def create_agent(
        self,
        body: types.CreateAgentRequest,
    ) -> types.AgentAnswer:
        """Authorises an agent, or changes its name or scope.

        The trader then sends `delegationTx` once per chain; until it is mined, requests of the agent answer
        AGENT_NOT_DELEGATED. TRADER_MISMATCH means that the agent serves another trader: send `agentSignature`, or use
        another key.
        """
        return cast("types.AgentAnswer", await self._caller.call(OPERATIONS["createAgent"], body=body))

    async def get_agent(
        self,
        address: str,
    ) -> types.AgentAnswer:
        """Reads an agent and its status.

        While its status is `pending_delegation`, the trader has to send `delegationTx`.
        """
        return cast("types.AgentAnswer", await self._caller.call(OPERATIONS["getAgent"], path={"address": address}))

    async def revoke_agent(
        self,
        address: str,
        body: types.RevokeAgentRequest,
    ) -> types.RevokeAgentAnswer:
        """Revokes an agent.

        The service refuses the agent from now on. `revocationTx` is the transaction that the trader sends to revoke
        it on the chain too. What the relayer had not sent for it yet is never sent; `mayStillBeMined` names the rest.
        """
        return cast("types.RevokeAgentAnswer", await self._caller.call(OPERATIONS["revokeAgent"], path={"address": address}, body=body))

    async def issue_api_key(
        self,
        body: types.IssueApiKeyRequest,
    ) -> types.ApiKeyAnswer:
        """Issues a read-only API key.

        The key is shown only once. A second key with the same label replaces the first; a trader has at most 20.
        """
        return cast("types.ApiKeyAnswer", await self._caller.call(OPERATIONS["issueApiKey"], body=body))

    async def list_api_keys(
        self,
    ) -> types.ApiKeyList:
        """Lists the trader's read-only API keys.

        Signed by the trader's own wallet, with its address as the agent's and without any registration, or by an
        agent of the trader. The keys themselves are not kept.
        """
        return cast("types.ApiKeyList", await self._caller.call(OPERATIONS["listApiKeys"]))

    async def revoke_api_key(
        self,
        label: str,
    ) -> types.RevokeApiKeyAnswer:
        """Ends a read-only API key.

        Signed by the trader's own wallet, with its address as the agent's. Agents can't end keys: a stolen agent must
        not end the keys that watch it.
        """
        return cast("types.RevokeApiKeyAnswer", await self._caller.call(OPERATIONS["revokeApiKey"], path={"label": label}))

    async def get_account(
        self,
        *,
        address: Union[str, None] = None,
    ) -> types.Account:
        """Reads the balances, allowances and agents of an account.

        Balances and allowances are as of a recent block. An opening needs `balance` and `allowance` for its
        collateral.
        """
        return cast("types.Account", await self._caller.call(OPERATIONS["getAccount"], path={"address": address}))

    async def list_positions(
        self,
        *,
        address: Union[str, None] = None,
        market: Union[types.MarketSymbol, None] = None,
        since: Union[int, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.PositionList:
        """Lists the open positions, with profit and liquidation price as of now, oldest first.

        A quiet market hides nothing: its position is valued with the last mark, and `priceAt` tells how old that is.
        Without parameters the answer has all of them. With `limit` it is a page: go on with `cursor` until
        `nextCursor` is null. MARKET_NOT_FOUND means that the chain never had the market. It weighs 1 for every 100
        entries of its `limit`, or part of them.

        `market`: Symbol of the only market that is wanted; `BTC-USD` is the same as `BTC%2FUSD`. Default: all
        markets.
        `since`: Earliest time at which a position was opened, in epoch milliseconds. One from before the known
        history counts as opened at its begin. Default 0.
        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer, which then has `nextCursor`. Default: all of them; 50 with `cursor`.
        """
        return cast("types.PositionList", await self._caller.call(OPERATIONS["listPositions"], path={"address": address}, query={"market": market, "since": since, "cursor": cursor, "limit": limit}))

    async def list_open_orders(
        self,
        *,
        address: Union[str, None] = None,
        market: Union[types.MarketSymbol, None] = None,
        status: Union[Literal["prepared", "pending", "open", "timed_out"], None] = None,
        since: Union[int, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.OrderList:
        """Lists the orders that are pending, open, timed out and not reclaimed, or prepared and not expired, newest
        first.

        After a lost answer, look here before you send an order again. Without parameters the answer has all of them.
        With `limit` it is a page: go on with `cursor` until `nextCursor` is null. MARKET_NOT_FOUND means that the
        chain never had the market. It weighs 1 for every 100 entries of its `limit`, or part of them.

        `market`: Symbol of the only market that is wanted; `BTC-USD` is the same as `BTC%2FUSD`. Default: all
        markets.
        `status`: State of the orders that are wanted. Default: all four.
        `since`: Earliest `createdAt` of an order, in epoch milliseconds. Default 0.
        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer, which then has `nextCursor`. Default: all of them; 50 with `cursor`.
        """
        return cast("types.OrderList", await self._caller.call(OPERATIONS["listOpenOrders"], path={"address": address}, query={"market": market, "status": status, "since": since, "cursor": cursor, "limit": limit}))

    async def list_order_history(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.OrderPage:
        """Lists all orders, newest first.

        Also those that ended, and those of executions that nobody asked for here: stops, liquidations, trades made
        elsewhere. Read page after page with `cursor` until `nextCursor` is null. It weighs 1 for every 100 entries of
        its `limit`, or part of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.OrderPage", await self._caller.call(OPERATIONS["listOrderHistory"], path={"address": address}, query={"cursor": cursor, "limit": limit}))

    async def list_fills(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.FillPage:
        """Lists the executions, and the refusals that cost something, newest first.

        The books of the account: fees, funding, deposits and payouts of each entry add up to the last unit. Read page
        after page with `cursor` until `nextCursor` is null. It weighs 1 for every 100 entries of its `limit`, or part
        of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.FillPage", await self._caller.call(OPERATIONS["listFills"], path={"address": address}, query={"cursor": cursor, "limit": limit}))

    async def list_events(
        self,
        *,
        address: Union[str, None] = None,
        after: Union[int, None] = None,
        limit: Union[int, None] = None,
    ) -> types.EventPage:
        """Lists the events of an account, oldest first.

        It is the log behind the private channels of the WebSocket: every change of an order, a position or the
        account, numbered without a hole. Ask with `after` the last number that you know. It weighs 1 for every 100
        entries of its `limit`, or part of them.

        `after`: `seq` of the last event that the caller knows; the answer starts after it.
        `limit`: The most entries of the answer.
        """
        return cast("types.EventPage", await self._caller.call(OPERATIONS["listEvents"], path={"address": address}, query={"after": after, "limit": limit}))

    async def list_audit(
        self,
        *,
        address: Union[str, None] = None,
        cursor: Union[str, None] = None,
        limit: Union[int, None] = None,
    ) -> types.AuditPage:
        """Lists the changes of rights on the account, newest first.

        Agents that were added, changed or ended, API keys, delegations that were seen or lost, actions that the
        relayer refused for their gas, and pauses by the operator. It weighs 1 for every 100 entries of its `limit`,
        or part of them.

        `cursor`: `nextCursor` of the previous page. Default: the first page.
        `limit`: The most entries of the answer.
        """
        return cast("types.AuditPage", await self._caller.call(OPERATIONS["listAudit"], path={"address": address}, query={"cursor": cursor, "limit": limit}))

    async def preview_order(
        self,
        *,
        address: Union[str, None] = None,
        market: types.MarketSymbol,
        side: types.Side,
        type: types.OrderType,
        size: types.Numeric,
        leverage: types.Numeric,
        price: Union[types.Numeric, None] = None,
        collateral: Union[str, None] = None,
        sl: Union[types.Numeric, None] = None,
        tp: Union[types.Numeric, None] = None,
        reduce_only: Union[bool, None] = None,
        slippage: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.OrderPreview:
        """Says what an order would cost and do now, without making it.

        The query has the fields of `createOrder`. The answer has the price with spread and impact, the fee, the
        collateral, the size that will fill, the liquidation price, what is missing with its remedies, and the spend
        of the day afterwards. It is made by the functions that prepare and settle the order, so while prices stand
        still the fill has these numbers to the last unit. What the rules of createOrder refuse is refused here too,
        except for a missing allowance, balance or right of the agent, which `missing` lists. A stop on the wrong side
        of the price of the order is SIMULATION_REVERTED, as there; what else only the contracts refuse is told by
        `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`. It weighs 5 with
        `simulate=true`.

        `market`: Symbol of the market.
        `side`: Side to trade.
        `type`: Kind of the order.
        `size`: Size in base units, above 0, with at most the market's `sizePrecision` decimals. Size x price is the
        notional in USD.
        `leverage`: Leverage, a multiple of the collateral, between the market's `minLeverage` and `maxLeverage`, with
        at most 3 decimals. The collateral is derived from it.
        `price`: Price in the quote currency, above 0, with at most the market's `pricePrecision` decimals. Required
        for a limit or stop order, which it triggers. For a market order, the price that `slippage` is measured from.
        Default for a market order: the mark.
        `collateral`: Symbol of the token that pays. Default: USDC where the chain has it, else the chain's only
        active collateral; with `reduceOnly` that of the oldest position.
        `sl`: Stop loss in the quote currency, with at most the market's `pricePrecision` decimals. Default: none; "0"
        is none too.
        `tp`: Take profit in the quote currency, with at most the market's `pricePrecision` decimals. Default: none;
        "0" is none too.
        `reduce_only`: True to close positions of the other side, oldest first, and never open one. Market orders
        only, without `sl` and `tp`. Default false.
        `slippage`: Greatest difference between the expected and the execution price, in percent: `1` is 1 %. From
        0.001 to 65.535, with at most 3 decimals. Default 1.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.OrderPreview", await self._caller.call(OPERATIONS["previewOrder"], path={"address": address}, query={"market": market, "side": side, "type": type, "size": size, "leverage": leverage, "price": price, "collateral": collateral, "sl": sl, "tp": tp, "reduceOnly": reduce_only, "slippage": slippage, "simulate": simulate, "agent": agent}))

    async def preview_close(
        self,
        id: str,
        *,
        address: Union[str, None] = None,
        size: Union[types.Numeric, None] = None,
        slippage: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.OrderPreview:
        """Says what the close of a position would pay and cost now, without making it.

        The query has the fields of `closePosition`; without `size` all of the position closes. The answer has the
        price with spread and impact, the profit, all fees, the payout and, where a part is left, its liquidation
        price. What the rules of closePosition refuse is refused here too, except for a missing right of the agent,
        which `missing` lists; what only the contracts refuse, such as a close while another request of the position
        waits, is told by `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`. It weighs 5
        with `simulate=true`.

        `size`: Size to close in base units, with at most the market's `sizePrecision` decimals; the position's own
        size always passes. Default: all of it.
        `slippage`: Greatest difference between the mark and the execution price, in percent: `1` is 1 %. From 0.001
        to 65.535, with at most 3 decimals. It stays with what is left of the position. Default 1.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.OrderPreview", await self._caller.call(OPERATIONS["previewClose"], path={"address": address, "id": id}, query={"size": size, "slippage": slippage, "simulate": simulate, "agent": agent}))

    async def preview_position(
        self,
        id: str,
        *,
        address: Union[str, None] = None,
        sl: Union[types.Numeric, None] = None,
        tp: Union[types.Numeric, None] = None,
        leverage: Union[types.Numeric, None] = None,
        add_collateral: Union[types.Numeric, None] = None,
        remove_collateral: Union[types.Numeric, None] = None,
        simulate: Union[bool, None] = None,
        agent: Union[types.Address, None] = None,
    ) -> types.PositionPreview:
        """Says what a change of a position would cost and make of it now, without making it.

        The query has one kind of change, as `updatePosition`: `sl` and `tp`, or `leverage`, or collateral. The answer
        has the position after it: stops, leverage, collateral, liquidation price, the fee, and what leaves or reaches
        the wallet. What the rules of updatePosition refuse is refused here too, except for a missing allowance,
        balance or right of the agent, which `missing` lists; what only the contracts refuse, such as a change while
        another request of the position waits, is told by `simulate=true`. Nothing is stored and no node is asked,
        unless `simulate=true`. It weighs 5 with `simulate=true`.

        `sl`: New stop loss in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears it.
        Default: unchanged.
        `tp`: New take profit in the quote currency, with at most the market's `pricePrecision` decimals; "0" clears
        it. Default: unchanged.
        `leverage`: New leverage, a multiple of the collateral, from 0.1 to the market's `maxLeverage`, with at most 3
        decimals. The size stays, so the collateral changes. Not together with other fields. Default: unchanged.
        `add_collateral`: Collateral to add, in whole tokens; the size stays.
        `remove_collateral`: Collateral to take out, in whole tokens; the size stays.
        `simulate`: True to simulate the transaction on the latest block too, in one round trip to the node. It reads
        balance, allowance, delegation and recent volume anew.
        `agent`: Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs,
        which must be the delegate already; with a read-only key none.
        """
        return cast("types.PositionPreview", await self._caller.call(OPERATIONS["previewPosition"], path={"address": address, "id": id}, query={"sl": sl, "tp": tp, "leverage": leverage, "addCollateral": add_collateral, "removeCollateral": remove_collateral, "simulate": simulate, "agent": agent}))

    async def get_order(
        self,
        id: str,
    ) -> types.Order:
        """Reads one order.

        Read it until `status` is one that stays, or follow the channel `orders` of the WebSocket. Another trader's
        order is answered like one that does not exist.
        """
        return cast("types.Order", await self._caller.call(OPERATIONS["getOrder"], path={"id": id}))

    async def update_order(
        self,
        id: str,
        body: types.UpdateOrderRequest,
    ) -> types.PreparedOrder:
        """Prepares a change of a resting limit or stop order.

        Sign and send the transaction; the order keeps its id and shows the change when it is mined. A new `size`, and
        most new prices, cancel and place again in one transaction, which needs the allowance for the whole collateral
        again. A market request and an order that is not `open` are ORDER_NOT_MODIFIABLE.
        """
        return cast("types.PreparedOrder", await self._caller.call(OPERATIONS["updateOrder"], path={"id": id}, body=body))

    async def cancel_order(
        self,
        id: str,
    ) -> types.PreparedOrder:
        """Prepares the cancellation of a resting order or the reclaim of a timed-out one, or withdraws a prepared one.

        A `prepared` order ends at once, without a transaction. For an `open` or `timed_out` one, sign and send the
        transaction; the order is `canceled` when it is mined. Any other state is ORDER_NOT_MODIFIABLE: read the order
        again.
        """
        return cast("types.PreparedOrder", await self._caller.call(OPERATIONS["cancelOrder"], path={"id": id}))

    async def get_order_by_client_id(
        self,
        *,
        client_id: str,
    ) -> types.Order:
        """Reads the order that was created with one of the trader's idempotency keys.

        A key belongs to one trader on one chain, and to one order for ever. ORDER_NOT_FOUND after a lost answer of
        createOrder means that nothing was stored under the key: send the order again.

        `client_id`: Idempotency key of the order, 1 to 64 characters.
        """
        return cast("types.Order", await self._caller.call(OPERATIONS["getOrderByClientId"], query={"clientId": client_id}))

    async def create_order(
        self,
        body: types.CreateOrderRequest,
    ) -> types.PreparedOrder:
        """Prepares an order.

        Checks the order, simulates its transaction and answers with it: the agent signs and sends that unchanged
        before `expiresAt` and may report its hash (submitOrder). Nothing is on the chain before that, and a refusal
        leaves nothing behind. Answers with 201 and the path of the order in `Location`, or with 200 and the earlier
        order when the trader has already used `clientId` for the same order. Its `transaction` is null from the first
        reported hash on, until it is out of date: it may still be mined.
        """
        return cast("types.PreparedOrder", await self._caller.call(OPERATIONS["createOrder"], body=body))

    async def cancel_all_orders(
        self,
        *,
        market: Union[types.MarketSymbol, None] = None,
        next: Union[str, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the cancellation of all resting orders and the reclaim of all timed-out ones, and withdraws prepared
        ones.

        Looks at up to 20 orders, oldest first, and prepares one transaction for them; `next` leads to the following
        ones. An order that can not be ended, because it waits for the oracle, the contracts would revert or the scope
        does not name its market, is left out and named, and the others go on without it. The whole page counts as one
        write.

        `market`: Only what belongs to this market. Default: all markets. `BTC-USD` is the same as `BTC%2FUSD`.
        `next`: `next` of the previous answer, to go on where it ended. Default: from the beginning.
        """
        return cast("types.PreparedBatch", await self._caller.call(OPERATIONS["cancelAllOrders"], query={"market": market, "next": next}))

    async def submit_order(
        self,
        id: str,
        body: types.SubmitOrderRequest,
    ) -> types.Order:
        """Reports the hash of the transaction that was sent for an order.

        Optional: the service watches the chain too. SUBMISSION_MISMATCH leaves the order as it was: report the
        transaction that was prepared for it. Replaces any hash reported before. A hash that no node knows after 10
        seconds leaves the order `prepared`, with its `txHash` shown.
        """
        return cast("types.Order", await self._caller.call(OPERATIONS["submitOrder"], path={"id": id}, body=body))

    async def get_position(
        self,
        id: str,
    ) -> types.Position:
        """Reads one open position, with profit and liquidation price as of now.

        A position that is closed, or another trader's, is answered like one that does not exist. The executions of a
        closed one are in listFills, under its `positionId`.
        """
        return cast("types.Position", await self._caller.call(OPERATIONS["getPosition"], path={"id": id}))

    async def update_position(
        self,
        id: str,
        body: types.UpdatePositionRequest,
    ) -> types.PreparedPosition:
        """Prepares a change of stop loss, take profit, leverage or collateral.

        Takes `sl` and `tp`, or `leverage`, or `collateral`; it makes no order. Sign and send the transaction, then
        read the position: `sl` and `tp` hold when it is mined, a change of leverage or collateral waits for the
        oracle as `pendingUpdate`.
        """
        return cast("types.PreparedPosition", await self._caller.call(OPERATIONS["updatePosition"], path={"id": id}, body=body))

    async def close_position(
        self,
        id: str,
        body: Union[types.ClosePositionRequest, None] = None,
    ) -> types.PreparedOrder:
        """Prepares the closing of a position at market, in full or in part.

        Answers with an order of its own, `reduceOnly` and on the other side: sign and send its transaction, then
        follow the order. While a change of the position waits for the oracle the contracts refuse a close
        (SIMULATION_REVERTED with `details.pendingUpdate`).
        """
        return cast("types.PreparedOrder", await self._caller.call(OPERATIONS["closePosition"], path={"id": id}, body=body))

    async def cancel_position_update(
        self,
        id: str,
    ) -> types.PreparedPosition:
        """Prepares the reclaim of a change of leverage or collateral that the oracle has not answered in time.

        Sign and send the transaction: the collateral of the change returns to the wallet. Before block
        `timesOutAtBlock`, and when nothing is pending, it is ORDER_NOT_MODIFIABLE with both blocks in `details`. It
        works for a position that was closed meanwhile too.
        """
        return cast("types.PreparedPosition", await self._caller.call(OPERATIONS["cancelPositionUpdate"], path={"id": id}))

    async def close_all_positions(
        self,
        body: Union[types.FlattenRequest, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the closing of all positions at market.

        Makes one order for each of up to 20 positions, oldest first, and one transaction for all of them; `next`
        leads to the following ones. A position that can not be closed, because its market is closed, another request
        of it waits, the contracts would revert or the scope does not name its market, is left out and named, and the
        others go on without it. The whole page counts as one write and as one prepared order. Report the hash for any
        of its orders: it counts for all.
        """
        return cast("types.PreparedBatch", await self._caller.call(OPERATIONS["closeAllPositions"], body=body))

    async def flatten(
        self,
        body: Union[types.FlattenRequest, None] = None,
    ) -> types.PreparedBatch:
        """Prepares the end of all orders, then of all positions.

        Does what `cancelAllOrders` and then `closeAllPositions` do, page by page: send the transaction of each page
        and ask again with its `next` until that is null. Without `next` it begins again, and prepared orders of
        earlier pages expire. Orders that wait for the oracle can still open a position: look at `leftOut`, and repeat
        until the account is flat.
        """
        return cast("types.PreparedBatch", await self._caller.call(OPERATIONS["flatten"], body=body))

    async def list_notifications(
        self,
        *,
        address: Union[str, None] = None,
    ) -> types.NotificationList:
        """Lists the current notifications of a wallet on all chains, newest first.

        The text says what to do. A notification goes when its cause does, or when it is dismissed.
        """
        return cast("types.NotificationList", await self._caller.call(OPERATIONS["listNotifications"], path={"address": address}))

    async def dismiss_notification(
        self,
        body: types.DismissNotificationRequest,
        *,
        address: Union[str, None] = None,
    ) -> types.DismissNotificationAnswer:
        """Dismisses a notification, so that it is not shown again.

        An agent signs for any chain on which it is registered for this wallet.
        """
        return cast("types.DismissNotificationAnswer", await self._caller.call(OPERATIONS["dismissNotification"], path={"address": address}, body=body))

    async def hl_info(
        self,
        body: Mapping[str, Any],
    ) -> Any:
        """Answers a read of the exchange-shaped facade, chosen by the `type` in its body.

        A list weighs 1 for every 200 rows, or part of them, and has at most 2000. Everything else weighs 1.
        """
        return await self._caller.call(OPERATIONS["hlInfo"], body=body)

    async def hl_exchange(
        self,
        body: Mapping[str, Any],
    ) -> types.ExchangeAnswer:
        """Executes an action of the exchange-shaped facade, in an envelope signed as on that exchange.

        Refusals of an action are answers with `status` `err` and a text; a malformed envelope is 422 in plain text.
        `delegationTx` is there while the trader has to send it.
        """
        return cast("types.ExchangeAnswer", await self._caller.call(OPERATIONS["hlExchange"], body=body))
