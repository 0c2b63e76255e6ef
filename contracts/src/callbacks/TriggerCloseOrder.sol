// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";
import "./Hit.sol";

/// @notice The oracle's answer to the trigger of a take profit, a stop loss or a liquidation.
library TriggerCloseOrder {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Hit.Candle memory candle = Hit.Candle(a.open, a.high, a.low, a.current);
        Funds.refreshTier(o.trade);
        (Trade memory t, Values memory v) = check(Id(o.trade.user, o.trade.index), o.orderType, candle);
        if (v.cancelReason != CANCEL_NONE) {
            emit TriggerOrderCanceled(a.orderId, o.user, o.orderType, v.cancelReason);
            return;
        }
        Closing.Terms memory terms = Closing.Terms(v.executionPriceRaw, a.current, feeOf(t, o.orderType));
        Closing.register(t, v, o.orderType, terms);
        emitExecuted(o, t, v);
    }

    function validate(
        Id memory tradeId,
        uint8 orderType,
        Hit.Candle memory candle
    ) external view returns (Trade memory, Values memory) {
        return check(tradeId, orderType, candle);
    }

    function check(
        Id memory tradeId,
        uint8 orderType,
        Hit.Candle memory candle
    ) private view returns (Trade memory t, Values memory v) {
        t = Records.trade(tradeId.user, tradeId.index);
        if (!t.isOpen || t.tradeType != TRADE) {
            v.cancelReason = CANCEL_NO_TRADE;
            return (t, v);
        }
        uint256 trigger = triggerPrice(t, orderType, candle.current);
        (uint256 price, bool isExact) = hit(t, orderType, candle, trigger);
        if (price == 0) {
            v.cancelReason = CANCEL_NOT_HIT;
            return (t, v);
        }
        Closing.Terms memory terms = Closing.Terms(price, candle.current, feeOf(t, orderType));
        bool isLiquidation = orderType == LIQ_CLOSE;
        v = isLiquidation ? Closing.quoteLiquidation(t, terms) : Closing.quote(t, terms);
        v.exactExecution = isExact;
        if (!isLiquidation && Closing.isSlipped(t, v.executionPrice, trigger)) v.cancelReason = CANCEL_SLIPPAGE;
    }

    function triggerPrice(Trade memory t, uint8 orderType, uint64 current) private view returns (uint256) {
        if (orderType == TP_CLOSE) return t.tp;
        return orderType == SL_CLOSE ? t.sl : Liquidation.ofTrade(t, current);
    }

    function hit(
        Trade memory t,
        uint8 orderType,
        Hit.Candle memory candle,
        uint256 trigger
    ) private view returns (uint256, bool) {
        // Liquidations compare the oracle's own price, TP and SL the market price (shifted by the skew).
        int256 skewP = orderType == LIQ_CLOSE ? int256(0) : PriceImpact.skewP(t.collateralIndex, t.pairIndex, true, 0);
        bool fromAbove = (orderType == TP_CLOSE) != t.long;
        return Hit.price(candle, trigger, skewP, fromAbove);
    }

    function feeOf(Trade memory t, uint8 orderType) private view returns (uint256) {
        if (orderType == LIQ_CLOSE) return Fees.liquidation(t.pairIndex, t.collateralAmount);
        return Fees.trading(t, Amounts.size(t));
    }

    function emitExecuted(PendingOrder memory o, Trade memory t, Values memory v) private {
        emit LimitExecuted(
            Id(o.user, o.index),
            t.user,
            t.index,
            0,
            t,
            o.user,
            o.orderType,
            v.executionPriceRaw,
            v.executionPrice,
            v.liqPrice,
            v.priceImpact,
            v.profitP,
            v.amountSentToTrader,
            v.collateralPriceUsd,
            v.exactExecution
        );
    }
}
