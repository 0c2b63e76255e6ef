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

    /// @notice Prices the whole trade. Beyond its liquidation price nothing is left of it, whatever closes it.
    function quote(Trade memory t, Terms memory terms) internal view returns (Values memory v) {
        v.priceImpact = impactOf(t, Amounts.size(t), terms.price, terms.currentPrice);
        v.executionPrice = v.priceImpact.priceAfterImpact;
        complete(t, terms, v);
    }

    /// @notice Prices a liquidation, which has no spread and no impact.
    function quoteLiquidation(Trade memory t, Terms memory terms) internal view returns (Values memory v) {
        v.executionPrice = terms.price;
        complete(t, terms, v);
    }

    function complete(Trade memory t, Terms memory terms, Values memory v) private view {
        v.executionPriceRaw = terms.price;
        v.profitP = TradeValue.pnlP(t, v.executionPrice);
        v.liqPrice = Liquidation.ofTrade(t, terms.currentPrice);
        v.collateralPriceUsd = Amounts.collateralPriceUsd(t.collateralIndex);
        if (Liquidation.isReached(v.liqPrice, t.long, terms.price)) return;
        v.amountSentToTrader = valueOf(t, v.profitP, terms.fee, terms.currentPrice);
    }

    /// @notice The impact of closing a part of the trade, computed first as if the trade had no profit to protect.
    /// @param sizeCollateral what closes
    function impactOf(
        Trade memory t,
        uint256 sizeCollateral,
        uint256 price,
        uint64 currentPrice
    ) internal view returns (TradePriceImpact memory impact) {
        impact = PriceImpact.onClose(t, sizeCollateral, price, false);
        int256 profitP = TradeValue.pnlP(t, impact.priceAfterImpact);
        if (valueOf(t, profitP, Fees.trading(t, Amounts.size(t)), currentPrice) <= t.collateralAmount) return impact;
        impact = PriceImpact.onClose(t, sizeCollateral, price, true);
    }

    /// @return collateral that the whole trade is worth after `fee`
    function valueOf(
        Trade memory t,
        int256 profitP,
        uint256 fee,
        uint64 currentPrice
    ) internal view returns (uint256) {
        int256 owed = int256(fee) +
            HoldingFees.ofTrade(t, currentPrice).totalFeeCollateral -
            TradeValue.realized(t.user, t.index);
        return TradeValue.value(t.collateralIndex, t.collateralAmount, profitP, owed);
    }

    function isSlipped(Trade memory t, uint256 executionPrice, uint256 expected) internal view returns (bool) {
        uint256 slippageP = appStorage().tradeInfos[t.user][t.index].maxSlippageP;
        if (slippageP == 0) slippageP = DEFAULT_CLOSING_SLIPPAGE_P;
        return Opening.isSlipped(!t.long, executionPrice, expected, slippageP);
    }

    /// @notice Ends the position and pays everybody.
    function register(Trade memory t, Values memory v, uint8 orderType, Terms memory terms) internal {
        bool isPnlPositive = v.profitP > 0;
        Positions.closed(t, isPnlPositive, terms.currentPrice);
        Records.closeTrade(t, isPnlPositive);
        Funds.transferValue(t, int256(v.amountSentToTrader), int256(Funds.held(t)) - int256(terms.fee));
        appStorage().uiRealizedPnl[t.user][t.index].realizedTradingFeesCollateral += uint128(terms.fee);
        Funds.distribute(t, Amounts.size(t), orderType, terms.fee);
    }

    /// @notice A refused request on an open trade leaves it as it is and charges it the minimum governance fee.
    function chargeRefusal(Trade memory t) internal {
        uint256 fee = Fees.minGov(t);
        Funds.chargeTrade(t, fee);
        Funds.chargeGov(t.user, t.collateralIndex, fee);
    }
}
