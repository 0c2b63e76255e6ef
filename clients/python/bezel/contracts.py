"""The chains and the functions of the Diamond. Made from the project's tables by `npm run reference`: do not edit."""

from __future__ import annotations

from typing import NamedTuple

from .abi import Function


class Chain(NamedTuple):
    """A chain and its live Diamond."""

    chain_id: int
    diamond: str



CHAINS: dict[str, Chain] = {
    "arbitrum": Chain(42161, "0xFF162c694eAA571f685030649814282eA457f169"),
    "base": Chain(8453, "0x6cD5aC19a07518A8092eEFfDA4f1174C72704eeb"),
    "polygon": Chain(137, "0x209A9A01980377916851af2cA075C2b170452018"),
    "megaeth": Chain(4326, "0x2D5B1ba6E2093a5b927Fe5bF8C049B107de31eaF"),
    "arbitrum-sepolia": Chain(421614, "0xd659a15812064C79E189fd950A189b15c75d3186"),
}

DIAMOND: dict[str, Function] = {
    "openTrade": Function("openTrade((address,uint32,uint16,uint24,bool,bool,uint8,uint8,uint120,uint64,uint64,uint64,bool,uint160,uint24),uint16,address)"),
    "updateOpenOrder": Function("updateOpenOrder(uint32,uint64,uint64,uint64,uint16)"),
    "cancelOpenOrder": Function("cancelOpenOrder(uint32)"),
    "cancelOrderAfterTimeout": Function("cancelOrderAfterTimeout(uint32)"),
    "closeTradeMarket": Function("closeTradeMarket(uint32,uint64)"),
    "decreasePositionSize": Function("decreasePositionSize(uint32,uint120,uint24,uint64)"),
    "updateMaxClosingSlippageP": Function("updateMaxClosingSlippageP(uint32,uint16)"),
    "updateSl": Function("updateSl(uint32,uint64)"),
    "updateTp": Function("updateTp(uint32,uint64)"),
    "updateLeverage": Function("updateLeverage(uint32,uint24)"),
    "delegatedTradingAction": Function("delegatedTradingAction(address,bytes)->bytes"),
    "multicall": Function("multicall(bytes[])->bytes[]"),
    "setTradingDelegate": Function("setTradingDelegate(address)"),
    "removeTradingDelegate": Function("removeTradingDelegate()"),
    "getTrades": Function("getTrades(address)->(address,uint32,uint16,uint24,bool,bool,uint8,uint8,uint120,uint64,uint64,uint64,bool,uint160,uint24)[]"),
    "getTradeInfos": Function("getTradeInfos(address)->(uint32,uint32,uint32,uint16,uint48,uint48,uint8,uint32,uint8)[]"),
    "getPendingOrders": Function("getPendingOrders(address)->((address,uint32,uint16,uint24,bool,bool,uint8,uint8,uint120,uint64,uint64,uint64,bool,uint160,uint24),address,uint32,bool,uint8,uint32,uint16)[]"),
    "getCollaterals": Function("getCollaterals()->(address,bool,uint88,uint128,uint128)[]"),
    "getCollateralPriceUsd": Function("getCollateralPriceUsd(uint8)->uint256"),
    "pairs": Function("pairs(uint256)->(string,string,(address,address,uint8,uint256),uint256,uint256,uint256)"),
    "pairSpreadP": Function("pairSpreadP(address,uint256)->uint256"),
    "pairMinFeeUsd": Function("pairMinFeeUsd(uint256)->uint256"),
    "getTradeCumulVolPriceImpactP": Function("getTradeCumulVolPriceImpactP(address,uint16,bool,uint256,bool,bool,uint256)->int256"),
}

TRADE_FIELDS = ("user", "index", "pairIndex", "leverage", "long", "isOpen", "collateralIndex", "tradeType", "collateralAmount", "openPrice", "tp", "sl", "isCounterTrade", "positionSizeToken", "__placeholder")
TRADE_INFO_FIELDS = ("createdBlock", "tpLastUpdatedBlock", "slLastUpdatedBlock", "maxSlippageP", "lastOiUpdateTs", "collateralPriceUsd", "contractsVersion", "lastPosIncreaseBlock", "__placeholder")
PENDING_ORDER_FIELDS = ("trade", "user", "index", "isOpen", "orderType", "createdBlock", "maxSlippageP")

TRADE_TYPES = {"TRADE": 0, "LIMIT": 1, "STOP": 2}
PENDING_ORDER_TYPES = {"MARKET_OPEN": 0, "MARKET_CLOSE": 1, "LIMIT_OPEN": 2, "STOP_OPEN": 3, "TP_CLOSE": 4, "SL_CLOSE": 5, "LIQ_CLOSE": 6, "UPDATE_LEVERAGE": 7, "MARKET_PARTIAL_OPEN": 8, "MARKET_PARTIAL_CLOSE": 9, "PARAM_UPDATE": 10, "PNL_WITHDRAWAL": 11, "MANUAL_HOLDING_FEES_REALIZATION": 12, "MANUAL_NEGATIVE_PNL_REALIZATION": 13}
