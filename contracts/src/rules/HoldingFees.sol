// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "./BorrowingV1.sol";
import "./PriceImpact.sol";

/// @notice Funding, borrowing of both generations, and what a trade owes of them.
/// @dev `ofTrade` is public, so the formulas are deployed once and called from there.
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
    ) private pure returns (int256) {
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
    ) private pure returns (int256 rate, int256 average) {
        if (p.absoluteRatePerSecondCap == 0) return (0, 0);
        if (velocity == 0 || elapsedS == 0) return (lastRate, lastRate);
        int256 cap = PriceImpact.signed(uint256(p.absoluteRatePerSecondCap) * 1e8, velocity > 0);
        if (lastRate == cap) return (cap, cap);

        int256 toCapS = ((cap - lastRate) * SECONDS_PER_YEAR) / velocity / 1e8;
        // Negative where the cap was lowered under a rate that grows: that rate is never brought back.
        if (toCapS >= 0 && elapsedS > toCapS) {
            average = (((lastRate + cap) / 2) * toCapS + cap * (elapsedS - toCapS)) / elapsedS;
            return (cap, average);
        }
        rate = lastRate + (elapsedS * velocity * 1e8) / SECONDS_PER_YEAR;
        average = (lastRate + rate) / 2;
    }

    /// @return m what each side's accumulator is scaled by; the earning side shares what the other pays
    function multipliers(
        FundingFeeParams memory p,
        PairOiToken memory oi,
        bool longsPay
    ) private pure returns (Side memory m) {
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
        if (!p.fundingFeesEnabled || data.lastFundingUpdateTs == 0) return next;

        int256 velocity = velocityPerYear(
            p,
            PriceImpact.netTokens(collateralIndex, pairIndex),
            price,
            Amounts.collateralPriceUsd(collateralIndex)
        );
        PairOiToken memory oi = appStorage().oiToken[collateralIndex][pairIndex];
        int256 elapsedS = int256(block.timestamp - data.lastFundingUpdateTs);
        int256 last = next.rate;
        int256 average;
        (next.rate, average) = rates(p, last, velocity, elapsedS);
        if (p.aprMultiplierEnabled && ((last < 0 && next.rate > 0) || (last > 0 && next.rate < 0))) {
            // The payer changes on the way: the part until the rate is zero, then the rest at half of the rate now,
            // also where the rate has met its cap in between.
            int256 toZeroS = (-last * SECONDS_PER_YEAR) / velocity / 1e8;
            accrue(next, multipliers(p, oi, last > 0), last / 2, toZeroS, price);
            (average, elapsedS) = (next.rate / 2, elapsedS - toZeroS);
        }
        accrue(next, multipliers(p, oi, average > 0), average, elapsedS, price);
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

    /// @return the pair's borrowing accumulator (second generation) as of this block, 1e20
    function pendingBorrowing(uint8 collateralIndex, uint16 pairIndex, uint256 price) internal view returns (uint128) {
        PairBorrowingFeeData memory data = appStorage().borrowingData[collateralIndex][pairIndex];
        if (data.lastBorrowingUpdateTs == 0) return data.accBorrowingFeeP;
        uint256 rate = appStorage().borrowingParams[collateralIndex][pairIndex].borrowingRatePerSecondP;
        return uint128(data.accBorrowingFeeP + rate * (block.timestamp - data.lastBorrowingUpdateTs) * price);
    }

    /// @notice Brings the accumulators of the trade's pair up to this block, from which on the trade owes. Due before
    /// every change of open interest.
    function restart(Trade memory t, uint64 price) internal {
        Pending memory next = pendingFunding(t.collateralIndex, t.pairIndex, price);
        uint128 accBorrowing = pendingBorrowing(t.collateralIndex, t.pairIndex, price);

        PairFundingFeeData storage funding = appStorage().fundingData[t.collateralIndex][t.pairIndex];
        funding.accFundingFeeLongP = int128(next.accLong);
        funding.accFundingFeeShortP = int128(next.accShort);
        funding.lastFundingRatePerSecondP = int56(next.rate);
        funding.lastFundingUpdateTs = uint32(block.timestamp);
        emit PendingAccFundingFeesStored(t.collateralIndex, t.pairIndex, funding);

        PairBorrowingFeeData storage borrowing = appStorage().borrowingData[t.collateralIndex][t.pairIndex];
        borrowing.accBorrowingFeeP = accBorrowing;
        borrowing.lastBorrowingUpdateTs = uint32(block.timestamp);
        emit PendingAccBorrowingFeesStored(t.collateralIndex, t.pairIndex, borrowing);

        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        data.initialAccFundingFeeP = t.long ? funding.accFundingFeeLongP : funding.accFundingFeeShortP;
        data.initialAccBorrowingFeeP = accBorrowing;
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

    /// @return fees that the trade owes since its last change; none for a resting order
    function ofTrade(Trade memory t, uint256 price) public view returns (TradeHoldingFees memory fees) {
        if (t.openPrice == 0 || t.tradeType != TRADE) return fees;
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        Pending memory next = pendingFunding(t.collateralIndex, t.pairIndex, price);
        int256 size = int256(Amounts.size(t));
        int256 fundingDelta = (t.long ? next.accLong : next.accShort) - data.initialAccFundingFeeP;
        fees.fundingFeeCollateral = (size * fundingDelta) / int256(uint256(t.openPrice)) / int256(P_10) / 100;
        uint256 borrowingDelta = pendingBorrowing(t.collateralIndex, t.pairIndex, price) - data.initialAccBorrowingFeeP;
        fees.borrowingFeeCollateral = (uint256(size) * borrowingDelta) / t.openPrice / P_10 / 100;
        fees.borrowingFeeCollateral_old = BorrowingV1.ofTrade(
            BorrowingFeeInput(
                t.collateralIndex,
                t.user,
                t.pairIndex,
                t.index,
                t.long,
                t.collateralAmount,
                t.leverage,
                price
            )
        );
        fees.totalFeeCollateral =
            fees.fundingFeeCollateral +
            int256(fees.borrowingFeeCollateral + fees.borrowingFeeCollateral_old);
    }

    function abs(int256 value) internal pure returns (uint256) {
        return value < 0 ? uint256(-value) : uint256(value);
    }
}
