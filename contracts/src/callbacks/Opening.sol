// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Positions.sol";
import "../rules/Records.sol";

/// @notice What a market open and a triggered limit or stop have in common.
library Opening {
    /// @notice Prices the trade at `oraclePrice` and runs the checks in the order in which the first hit wins.
    /// @dev `t.openPrice` is the expected price: of the request, or the trigger price.
    function check(
        Trade memory t,
        uint256 oraclePrice,
        uint256 maxSlippageP
    ) internal view returns (Values memory v) {
        uint256 size = Amounts.size(t);
        v.priceImpact = PriceImpact.onOpen(t, size, oraclePrice);
        v.executionPrice = v.priceImpact.priceAfterImpact;
        v.executionPriceRaw = oraclePrice;
        v.collateralPriceUsd = Amounts.collateralPriceUsd(t.collateralIndex);
        v.openingFeeCollateral = Fees.trading(t, size);
        uint256 expected = t.openPrice;
        t.openPrice = v.priceImpact.priceAfterImpact;
        t.positionSizeToken = uint160(v.priceImpact.positionSizeToken);
        v.liqPrice = Liquidation.beforeOpened(t, v.openingFeeCollateral);
        v.cancelReason = reason(t, v, expected, maxSlippageP);
        t.openPrice = uint64(expected);
    }

    function reason(
        Trade memory t,
        Values memory v,
        uint256 expected,
        uint256 maxSlippageP
    ) private view returns (uint8) {
        if (isSlipped(t.long, v.executionPrice, expected, maxSlippageP)) return CANCEL_SLIPPAGE;
        if (t.tp > 0 && (t.long ? v.executionPrice >= t.tp : v.executionPrice <= t.tp)) return CANCEL_TP_REACHED;
        if (t.sl > 0 && (t.long ? v.executionPriceRaw <= t.sl : v.executionPriceRaw >= t.sl)) return CANCEL_SL_REACHED;
        if (Liquidation.isReached(v.liqPrice, t.long, v.executionPriceRaw)) return CANCEL_LIQ_REACHED;
        if (!Exposure.isWithinLimits(t, Amounts.size(t), t.positionSizeToken, v.executionPriceRaw)) {
            return CANCEL_EXPOSURE_LIMITS;
        }
        if (PriceImpact.isTooHigh(v.priceImpact, t.long, t.leverage)) return CANCEL_PRICE_IMPACT;
        if (t.leverage > Pairs.maxLeverage(t.pairIndex)) return CANCEL_MAX_LEVERAGE;
        if (t.isCounterTrade && !reducesSkew(t)) return CANCEL_COUNTER_TRADE;
        return CANCEL_NONE;
    }

    function isSlipped(
        bool buy,
        uint256 executionPrice,
        uint256 expected,
        uint256 maxSlippageP
    ) internal pure returns (bool) {
        uint256 tolerance = (expected * maxSlippageP) / 100 / 1e3;
        if (buy) return executionPrice > expected + tolerance;
        return executionPrice + tolerance < expected;
    }

    /// @return whether all of a counter trade works against the skew
    function reducesSkew(Trade memory t) private view returns (bool) {
        int256 net = PriceImpact.netTokens(t.collateralIndex, t.pairIndex);
        return (net > 0) != t.long && HoldingFees.abs(net) >= t.positionSizeToken;
    }

    /// @notice Makes the checked trade a position: stored, counted, charged.
    function register(
        Trade memory t,
        Values memory v,
        uint8 orderType,
        uint64 currentPrice
    ) internal returns (Trade memory) {
        t.tradeType = TRADE;
        t.openPrice = uint64(v.executionPrice);
        t.positionSizeToken = uint160(v.priceImpact.positionSizeToken);
        t = Records.writeTrade(t, 0);
        Positions.opened(t, currentPrice);
        Records.emitStored(t);
        Funds.chargeTrade(t, v.openingFeeCollateral);
        Funds.distribute(t, Amounts.size(t), orderType, v.openingFeeCollateral);
        return t;
    }
}
