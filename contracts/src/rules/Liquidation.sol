// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Fees.sol";
import "./HoldingFees.sol";
import "./TradeValue.sol";

/// @notice Liquidation threshold and price, and the stop loss that must stay inside them.
library Liquidation {
    uint256 private constant WHOLE = 1e18;

    /// @return share of the collateral that may be lost, 1e10 per percent
    function thresholdP(GroupLiquidationParams memory p, uint256 leverage) internal pure returns (uint256) {
        if (p.maxLiqSpreadP == 0) return LEGACY_LIQ_THRESHOLD_P;
        if (leverage <= p.startLeverage) return p.startLiqThresholdP;
        if (leverage >= p.endLeverage) return p.endLiqThresholdP;
        return
            p.startLiqThresholdP -
            ((leverage - p.startLeverage) * (p.startLiqThresholdP - p.endLiqThresholdP)) /
            (p.endLeverage - p.startLeverage);
    }

    /// @dev Public, so the formula is deployed once and called from there.
    function price(LiqPriceInput memory i) public view returns (uint256) {
        int256 delta = int256(Amounts.precisionDelta(i.collateralIndex));
        int256 openPrice = int256(uint256(i.openPrice));
        int256 lossAllowed = int256(
            (i.collateral * thresholdP(i.liquidationParams, i.leverage) * uint256(delta) * 1e3) / 100 / P_10
        );
        int256 distance = (openPrice * (lossAllowed - feesOf(i) * delta * 1e3)) /
            int256(i.collateral) /
            int256(i.leverage) /
            delta;
        uint256 spreadP = Pairs.spreadP(i.trader, i.pairIndex) / 2;
        if (spreadP > i.liquidationParams.maxLiqSpreadP) spreadP = i.liquidationParams.maxLiqSpreadP;
        distance -= (openPrice * int256(spreadP)) / int256(P_10) / 100;

        int256 liqPrice = i.long ? openPrice - distance : openPrice + distance;
        return liqPrice > 0 ? uint256(liqPrice) : 0;
    }

    /// @return closing fee (never discounted) + pending holding - realised + what the caller adds: the opening fee
    /// before the trade exists, the fee of a change
    function feesOf(LiqPriceInput memory i) private view returns (int256) {
        uint256 size = Amounts.size(i.collateral, i.leverage);
        int256 fee = int256(Fees.raw(i.collateralIndex, i.pairIndex, size, i.isCounterTrade));
        if (i.beforeOpened) return fee + i.additionalFeeCollateral;

        int256 carried = -TradeValue.realized(i.trader, i.index);
        if (i.currentPairPrice > 0) {
            Trade memory t = appStorage().trades[i.trader][i.index];
            carried += HoldingFees.ofTrade(t, i.currentPairPrice).totalFeeCollateral;
        }
        return fee + (carried * int256(i.partialCloseMultiplier)) / int256(WHOLE) + i.additionalFeeCollateral;
    }

    /// @return liquidation price of an open trade at `currentPrice`
    function ofTrade(Trade memory t, uint64 currentPrice) internal view returns (uint256) {
        return price(input(t, appStorage().liquidationParams[t.user][t.index], currentPrice, 0, false));
    }

    function beforeOpened(Trade memory t, uint256 openingFee) internal view returns (uint256) {
        return price(input(t, Pairs.liquidationParams(t.pairIndex), 0, int256(openingFee), true));
    }

    function input(
        Trade memory t,
        GroupLiquidationParams memory params,
        uint64 currentPrice,
        int256 additionalFee,
        bool isBeforeOpened
    ) internal pure returns (LiqPriceInput memory i) {
        i.collateralIndex = t.collateralIndex;
        i.trader = t.user;
        i.pairIndex = t.pairIndex;
        i.index = t.index;
        i.openPrice = t.openPrice;
        i.long = t.long;
        i.collateral = t.collateralAmount;
        i.leverage = t.leverage;
        i.additionalFeeCollateral = additionalFee;
        i.liquidationParams = params;
        i.currentPairPrice = currentPrice;
        i.isCounterTrade = t.isCounterTrade;
        i.partialCloseMultiplier = WHOLE;
        i.beforeOpened = isBeforeOpened;
    }

    function isReached(uint256 liqPrice, bool long, uint256 currentPrice) internal pure returns (bool) {
        return long ? currentPrice <= liqPrice : currentPrice >= liqPrice;
    }

    /// @return `t.sl`, moved towards the open price where it would lie too near the liquidation price; 0 = none possible
    function clampSl(Trade memory t, GroupLiquidationParams memory params) internal view returns (uint64) {
        if (t.sl == 0) return 0;
        uint256 threshold = thresholdP(params, t.leverage);
        uint256 buffer = (2 * Pairs.effectiveFeeP(t.pairIndex, t.isCounterTrade) * t.leverage) / 1e3 + SL_LIQ_BUFFER_P;
        if (buffer >= threshold) return 0;

        uint256 maxLossP = threshold - buffer;
        if (TradeValue.pnlP(t, t.sl) >= -int256(maxLossP)) return t.sl;
        uint256 distance = (uint256(t.openPrice) * maxLossP * 1e3) / t.leverage / 100 / P_10;
        if (t.long) return distance >= t.openPrice ? 0 : uint64(t.openPrice - distance);
        return uint64(t.openPrice + distance);
    }
}
