// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Opening.sol";

/// @notice What a market close and a triggered TP, SL or liquidation have in common.
library Closing {
    struct Terms {
        uint256 price; // of the oracle, 1e10
        uint64 currentPrice; // holding fees accrue at this one
        uint256 fee;
    }

    /// @notice Prices the whole trade; the volume impact is computed first as if the trade had no profit to protect.
    function quote(Trade memory t, Terms memory terms) internal view returns (Values memory v) {
        int256 owed = int256(terms.fee) +
            HoldingFees.ofTrade(t, terms.currentPrice).totalFeeCollateral -
            TradeValue.realized(t.user, t.index);
        v.priceImpact = PriceImpact.onClose(t, terms.price, false);
        if (valueAt(t, v.priceImpact.priceAfterImpact, owed) > t.collateralAmount) {
            v.priceImpact = PriceImpact.onClose(t, terms.price, true);
        }
        v.executionPrice = v.priceImpact.priceAfterImpact;
        v.executionPriceRaw = terms.price;
        v.profitP = TradeValue.pnlP(t, v.executionPrice);
        v.amountSentToTrader = valueAt(t, v.executionPrice, owed);
        v.liqPrice = Liquidation.ofTrade(t, terms.currentPrice);
        v.collateralPriceUsd = Amounts.collateralPriceUsd(t.collateralIndex);
    }

    function valueAt(Trade memory t, uint256 price, int256 owed) private view returns (uint256) {
        return TradeValue.value(t.collateralIndex, t.collateralAmount, TradeValue.pnlP(t, price), owed);
    }

    function isSlipped(Trade memory t, uint256 executionPrice, uint256 expected) internal view returns (bool) {
        uint256 slippageP = appStorage().tradeInfos[t.user][t.index].maxSlippageP;
        if (slippageP == 0) slippageP = DEFAULT_CLOSING_SLIPPAGE_P;
        return Opening.isSlipped(!t.long, executionPrice, expected, slippageP);
    }

    /// @notice Ends the position and pays everybody.
    function register(Trade memory t, Values memory v, uint8 orderType, Terms memory terms) internal {
        bool isPnlPositive = v.amountSentToTrader > t.collateralAmount;
        HoldingFees.store(t.collateralIndex, t.pairIndex, terms.currentPrice);
        Trade memory nothing;
        Exposure.change(t, nothing);
        PriceImpact.addVolume(t, Amounts.size(t), false, isPnlPositive);
        Funds.settle(t, v.amountSentToTrader, terms.fee);
        Funds.distribute(t, Amounts.size(t), orderType, terms.fee);
        Records.closeTrade(t, isPnlPositive);
    }

    /// @notice A refused request on an open trade leaves it as it is and charges it the minimum governance fee.
    function chargeRefusal(Trade memory t) internal {
        uint256 fee = Fees.minGov(t.collateralIndex, t.pairIndex);
        Funds.chargeTrade(t, fee);
        Funds.chargeGov(t.user, t.collateralIndex, fee);
    }
}
