// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "./Amounts.sol";
import "./PriceImpact.sol";

/// @notice Funding and borrowing (v2). Old-style borrowing (v1) is zero on this Diamond.
library HoldingFees {
    int256 private constant MULTIPLIER_ONE = 1e20;
    uint256 private constant MAX_APR_MULTIPLIER = 100;

    struct Side {
        int256 long;
        int256 short;
    }

    struct Pending {
        int256 accLong;
        int256 accShort;
        int256 rate; // 1e18
    }

    /// @return change of the funding rate per year, 1e10, signed by the skew
    /// @param collateralPriceUsd 1e8: tokens are counted in collateral, the threshold in USD
    function velocityPerYear(
        FundingFeeParams memory p,
        int256 netTokens,
        uint256 price,
        uint256 collateralPriceUsd
    ) internal pure returns (int256) {
        uint256 net = abs(netTokens);
        uint256 netUsd = (((net * price) / 1e18) * collateralPriceUsd) / 1e8; // 1e10
        if (netUsd < uint256(p.thetaThresholdUsd) * P_10) return 0;
        uint256 velocity = (net * p.skewCoefficientPerYear) / 1e34;
        uint256 cap = uint256(p.absoluteVelocityPerYearCap) * 1e3;
        return PriceImpact.signed(velocity < cap ? velocity : cap, netTokens >= 0);
    }

    /// @return rate after `elapsedS` and its time-weighted average on the way, both 1e18 per second
    function rates(
        FundingFeeParams memory p,
        int256 lastRate,
        int256 velocity,
        int256 elapsedS
    ) internal pure returns (int256 rate, int256 average) {
        int256 cap = int256(uint256(p.absoluteRatePerSecondCap)) * 1e8;
        rate = lastRate + (elapsedS * velocity * 1e8) / SECONDS_PER_YEAR;
        if (rate >= -cap && rate <= cap) return (rate, (lastRate + rate) / 2);

        int256 capped = rate > 0 ? cap : -cap;
        int256 toCapS = velocity == 0 ? int256(0) : ((capped - lastRate) * SECONDS_PER_YEAR) / (velocity * 1e8);
        if (toCapS < 0) toCapS = 0;
        average = (((lastRate + capped) / 2) * toCapS + capped * (elapsedS - toCapS)) / elapsedS;
        return (capped, average);
    }

    /// @return m what each side's accumulator is scaled by; the earning side shares what the other pays
    function multipliers(
        FundingFeeParams memory p,
        PairOiToken memory oi,
        bool longsPay
    ) internal pure returns (Side memory m) {
        m.long = oi.oiLongToken == 0 ? int256(0) : MULTIPLIER_ONE;
        m.short = oi.oiShortToken == 0 ? int256(0) : MULTIPLIER_ONE;
        if (!p.aprMultiplierEnabled) return m;
        if (longsPay && m.short > 0) m.short = shareOf(oi.oiLongToken, oi.oiShortToken);
        if (!longsPay && m.long > 0) m.long = shareOf(oi.oiShortToken, oi.oiLongToken);
    }

    function shareOf(uint256 otherOi, uint256 ownOi) private pure returns (int256) {
        uint256 one = uint256(MULTIPLIER_ONE);
        uint256 ratio = (otherOi * one) / ownOi;
        return int256(ratio > MAX_APR_MULTIPLIER * one ? MAX_APR_MULTIPLIER * one : ratio);
    }

    /// @return next the pair's funding accumulators and rate as of this block
    function pendingFunding(
        uint8 collateralIndex,
        uint16 pairIndex,
        uint256 price
    ) internal view returns (Pending memory next) {
        FundingFeeParams memory p = appStorage().fundingParams[collateralIndex][pairIndex];
        PairFundingFeeData memory data = appStorage().fundingData[collateralIndex][pairIndex];
        next = Pending(data.accFundingFeeLongP, data.accFundingFeeShortP, data.lastFundingRatePerSecondP);
        int256 elapsedS = int256(block.timestamp - data.lastFundingUpdateTs);
        if (!p.fundingFeesEnabled || data.lastFundingUpdateTs == 0 || elapsedS == 0) return next;

        int256 velocity = velocityPerYear(
            p,
            PriceImpact.netTokens(collateralIndex, pairIndex),
            price,
            Amounts.collateralPriceUsd(collateralIndex)
        );
        PairOiToken memory oi = appStorage().oiToken[collateralIndex][pairIndex];
        int256 toZeroS = secondsToZero(next.rate, velocity);
        if (toZeroS > 0 && toZeroS < elapsedS) {
            // The payer changes on the way: the part until the rate is zero, then the rest from zero.
            (, int256 first) = rates(p, next.rate, velocity, toZeroS);
            accrue(next, multipliers(p, oi, next.rate > 0), first, toZeroS, price);
            next.rate = 0;
            elapsedS -= toZeroS;
        }
        (int256 rate, int256 average) = rates(p, next.rate, velocity, elapsedS);
        accrue(next, multipliers(p, oi, average > 0), average, elapsedS, price);
        next.rate = rate;
    }

    function secondsToZero(int256 rate, int256 velocity) private pure returns (int256) {
        if (rate == 0 || velocity == 0 || (rate > 0) == (velocity > 0)) return 0;
        return (-rate * SECONDS_PER_YEAR) / (velocity * 1e8);
    }

    function accrue(
        Pending memory next,
        Side memory m,
        int256 average,
        int256 elapsedS,
        uint256 price
    ) private pure {
        int256 delta = (average * elapsedS * int256(price)) / 1e8;
        next.accLong += (delta * m.long) / MULTIPLIER_ONE;
        next.accShort -= (delta * m.short) / MULTIPLIER_ONE;
    }

    /// @return the pair's borrowing accumulator as of this block, 1e20
    function pendingBorrowing(uint8 collateralIndex, uint16 pairIndex, uint256 price) internal view returns (uint128) {
        PairBorrowingFeeData memory data = appStorage().borrowingData[collateralIndex][pairIndex];
        if (data.lastBorrowingUpdateTs == 0) return data.accBorrowingFeeP;
        uint256 rate = appStorage().borrowingParams[collateralIndex][pairIndex].borrowingRatePerSecondP;
        return uint128(data.accBorrowingFeeP + rate * (block.timestamp - data.lastBorrowingUpdateTs) * price);
    }

    /// @notice Brings the accumulators up to this block; due before every change of open interest.
    function store(uint8 collateralIndex, uint16 pairIndex, uint256 price) internal {
        Pending memory next = pendingFunding(collateralIndex, pairIndex, price);
        uint128 accBorrowing = pendingBorrowing(collateralIndex, pairIndex, price);

        PairFundingFeeData storage funding = appStorage().fundingData[collateralIndex][pairIndex];
        funding.accFundingFeeLongP = int128(next.accLong);
        funding.accFundingFeeShortP = int128(next.accShort);
        funding.lastFundingRatePerSecondP = int56(next.rate);
        funding.lastFundingUpdateTs = uint32(block.timestamp);
        emit PendingAccFundingFeesStored(collateralIndex, pairIndex, funding);

        PairBorrowingFeeData storage borrowing = appStorage().borrowingData[collateralIndex][pairIndex];
        borrowing.accBorrowingFeeP = accBorrowing;
        borrowing.lastBorrowingUpdateTs = uint32(block.timestamp);
        emit PendingAccBorrowingFeesStored(collateralIndex, pairIndex, borrowing);
    }

    /// @notice From here on the trade owes only what accrues after this block.
    function resetTrade(Trade memory t, uint64 price) internal {
        PairFundingFeeData storage funding = appStorage().fundingData[t.collateralIndex][t.pairIndex];
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        data.initialAccFundingFeeP = t.long ? funding.accFundingFeeLongP : funding.accFundingFeeShortP;
        data.initialAccBorrowingFeeP = appStorage().borrowingData[t.collateralIndex][t.pairIndex].accBorrowingFeeP;
        emit TradeInitialAccFeesStored(
            t.user,
            t.index,
            t.collateralIndex,
            t.pairIndex,
            t.long,
            price,
            data.initialAccFundingFeeP,
            data.initialAccBorrowingFeeP
        );
    }

    function ofTrade(Trade memory t, uint256 price) internal view returns (TradeHoldingFees memory fees) {
        if (t.openPrice == 0 || t.tradeType != TRADE) return fees;
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        Pending memory next = pendingFunding(t.collateralIndex, t.pairIndex, price);
        int256 size = int256(Amounts.size(t));
        int256 fundingDelta = (t.long ? next.accLong : next.accShort) - data.initialAccFundingFeeP;
        fees.fundingFeeCollateral = (size * fundingDelta) / int256(uint256(t.openPrice)) / int256(P_10) / 100;
        uint256 borrowingDelta = pendingBorrowing(t.collateralIndex, t.pairIndex, price) - data.initialAccBorrowingFeeP;
        fees.borrowingFeeCollateral = (uint256(size) * borrowingDelta) / t.openPrice / P_10 / 100;
        fees.totalFeeCollateral = fees.fundingFeeCollateral + int256(fees.borrowingFeeCollateral);
    }

    /// @notice Turns the pending holding fees of an open trade into realised PnL (a change of the position follows).
    function realize(Trade memory t, uint64 price) internal {
        TradeHoldingFees memory fees = ofTrade(t, price);
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        data.realizedPnlCollateral -= int128(fees.totalFeeCollateral);
        UiRealizedPnlData storage ui = appStorage().uiRealizedPnl[t.user][t.index];
        ui.realizedFundingFeesCollateral -= int128(fees.fundingFeeCollateral);
        ui.realizedNewBorrowingFeesCollateral += uint128(fees.borrowingFeeCollateral);
        emit HoldingFeesRealizedOnTrade(
            t.collateralIndex,
            t.user,
            t.index,
            price,
            fees,
            data.realizedPnlCollateral
        );
        resetTrade(t, price);
    }

    function abs(int256 value) internal pure returns (uint256) {
        return value < 0 ? uint256(-value) : uint256(value);
    }
}
