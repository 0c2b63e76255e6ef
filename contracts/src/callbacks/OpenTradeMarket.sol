// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Opening.sol";

/// @notice The oracle's answer to a market open.
library OpenTradeMarket {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = o.trade;
        Funds.refreshTier(t);
        Values memory v = Opening.check(t, a.current, o.maxSlippageP);
        if (v.cancelReason != CANCEL_NONE) return refund(a.orderId, t, v.cancelReason);
        t = Opening.register(t, v, MARKET_OPEN, a.current);
        emitExecuted(a, t, v);
    }

    function refund(Id memory orderId, Trade memory t, uint8 cancelReason) private {
        uint256 fee = Fees.minGov(t);
        if (fee > t.collateralAmount) fee = t.collateralAmount;
        Funds.chargeGov(t.user, t.collateralIndex, fee);
        uint256 returned = t.collateralAmount - fee;
        Funds.pay(t.collateralIndex, t.user, returned);
        emit MarketOpenCanceled(orderId, t.user, t.pairIndex, cancelReason, returned);
    }

    function emitExecuted(AggregatorAnswer memory a, Trade memory t, Values memory v) private {
        emit MarketExecuted(
            a.orderId,
            t.user,
            t.index,
            t,
            true,
            a.current,
            v.executionPrice,
            v.liqPrice,
            v.priceImpact,
            0,
            0,
            v.collateralPriceUsd
        );
    }
}
