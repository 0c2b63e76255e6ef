// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Hit.sol";
import "./Opening.sol";

/// @notice The oracle's answer to the trigger of a limit or stop order.
library TriggerOpenOrder {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Hit.Candle memory candle = Hit.Candle(a.open, a.high, a.low, a.current);
        Funds.refreshTier(o.trade);
        (Trade memory t, Values memory v) = check(Id(o.trade.user, o.trade.index), o.orderType, candle);
        if (v.cancelReason != CANCEL_NONE) {
            emit TriggerOrderCanceled(a.orderId, o.user, o.orderType, v.cancelReason);
            return;
        }
        Records.closeTrade(t, false);
        t = Opening.register(t, v, o.orderType, a.current);
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
        if (!t.isOpen || t.tradeType != (orderType == LIMIT_OPEN ? LIMIT : STOP)) {
            v.cancelReason = CANCEL_NO_TRADE;
            return (t, v);
        }
        int256 skewP = PriceImpact.skewP(t.collateralIndex, t.pairIndex, true, 0);
        // A limit buys at or below its trigger and sells at or above; a stop the reverse.
        bool fromAbove = (t.tradeType == LIMIT) == t.long;
        (uint256 price, bool isExact) = Hit.price(candle, t.openPrice, skewP, fromAbove);
        if (price == 0) {
            v.cancelReason = CANCEL_NOT_HIT;
            return (t, v);
        }
        v = Opening.check(t, price, appStorage().tradeInfos[t.user][t.index].maxSlippageP);
        v.exactExecution = isExact;
        v.limitIndex = t.index;
    }

    function emitExecuted(PendingOrder memory o, Trade memory t, Values memory v) private {
        emit LimitExecuted(
            Id(o.user, o.index),
            t.user,
            t.index,
            v.limitIndex,
            t,
            o.user,
            o.orderType,
            v.executionPriceRaw,
            v.executionPrice,
            v.liqPrice,
            v.priceImpact,
            0,
            0,
            v.collateralPriceUsd,
            v.exactExecution
        );
    }
}
