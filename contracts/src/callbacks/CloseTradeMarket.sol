// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";

/// @notice The oracle's answer to a market close.
library CloseTradeMarket {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = Records.trade(o.trade.user, o.trade.index);
        if (!t.isOpen) return refuse(a.orderId, t, CANCEL_NO_TRADE);

        Funds.refreshTier(t);
        Closing.Terms memory terms = Closing.Terms(a.current, a.current, Fees.trading(t, Amounts.size(t)));
        Values memory v = Closing.quote(t, terms);
        if (Closing.isSlipped(t, v.executionPrice, o.trade.openPrice)) {
            Closing.chargeRefusal(t);
            return refuse(a.orderId, t, CANCEL_SLIPPAGE);
        }
        Closing.register(t, v, MARKET_CLOSE, terms);
        emitExecuted(a, t, v);
    }

    function refuse(Id memory orderId, Trade memory t, uint8 cancelReason) private {
        emit MarketCloseCanceled(orderId, t.user, t.pairIndex, t.index, cancelReason);
    }

    function emitExecuted(AggregatorAnswer memory a, Trade memory t, Values memory v) private {
        emit MarketExecuted(
            a.orderId,
            t.user,
            t.index,
            t,
            false,
            a.current,
            v.executionPrice,
            v.liqPrice,
            v.priceImpact,
            v.profitP,
            v.amountSentToTrader,
            v.collateralPriceUsd
        );
    }
}
