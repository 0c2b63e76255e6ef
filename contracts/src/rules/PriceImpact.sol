// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "./Amounts.sol";
import "./DepthBands.sol";
import "./Pairs.sol";

struct CumulVolInput {
    address trader;
    uint16 pairIndex;
    bool long;
    uint256 sizeUsd; // 1e18
    bool isPnlPositive;
    bool open;
    uint256 lastPosIncreaseBlock;
}

/// @notice Spread, volume and skew: what turns the oracle's price into an execution price. + raises the price.
library PriceImpact {
    /// @return long opens and short closes buy, the others sell
    function isBuy(bool long, bool open) internal pure returns (bool) {
        return long == open;
    }

    function signed(uint256 magnitude, bool positive) internal pure returns (int256) {
        return positive ? int256(magnitude) : -int256(magnitude);
    }

    function fixedSpreadP(address trader, uint16 pairIndex, bool buy) internal view returns (int256) {
        return signed(Pairs.spreadP(trader, pairIndex) / 2, buy);
    }

    /// @return volume of one side over the active windows, 1e18 USD
    function activeVolumeUsd(uint256 pairIndex, bool buy) internal view returns (uint256 volume) {
        OiWindowsSettings storage w = appStorage().oiWindowsSettings;
        if (w.windowsDuration == 0) return 0;
        uint256 current = currentWindowId();
        for (uint256 i; i < w.windowsCount && i <= current; ++i) {
            PairOi storage oi = appStorage().oiWindows[w.windowsDuration][pairIndex][current - i];
            volume += buy ? oi.oiLongUsd : oi.oiShortUsd;
        }
    }

    function currentWindowId() internal view returns (uint256) {
        OiWindowsSettings storage w = appStorage().oiWindowsSettings;
        return (block.timestamp - w.startTs) / w.windowsDuration;
    }

    /// @return signed, 1e10 per percent
    function cumulVolP(CumulVolInput memory i) internal view returns (int256) {
        PairFactors storage factors = appStorage().pairFactors[i.pairIndex];
        if (i.open && factors.exemptOnOpen) return 0;
        bool isProtected = isProtectedClose(i);
        if (!i.open && !isProtected && factors.exemptAfterProtectionCloseFactor) return 0;

        bool buy = isBuy(i.long, i.open);
        uint256 impactP = bandImpactP(i.pairIndex, buy, i.sizeUsd, factors.cumulativeFactor);
        uint256 factor = isProtected ? factors.protectionCloseFactor : P_10;
        uint256 userMultiplier = appStorage().userPriceImpact[i.trader][i.pairIndex].cumulVolPriceImpactMultiplier;
        if (userMultiplier > 0) factor = (factor * userMultiplier) / 1e3;
        return signed((impactP * factor) / P_10, buy);
    }

    function isProtectedClose(CumulVolInput memory i) internal view returns (bool) {
        PairFactors storage factors = appStorage().pairFactors[i.pairIndex];
        return
            !i.open &&
            i.isPnlPositive &&
            factors.protectionCloseFactor > 0 &&
            !appStorage().protectionCloseFactorWhitelist[i.trader] &&
            block.number <= i.lastPosIncreaseBlock + factors.protectionCloseFactorBlocks;
    }

    function bandImpactP(
        uint16 pairIndex,
        bool buy,
        uint256 sizeUsd,
        uint256 cumulativeFactor
    ) private view returns (uint256) {
        PairDepthBands storage bands = appStorage().pairDepthBands[pairIndex];
        DepthBands.Book memory book = DepthBands.Book(
            buy ? bands.aboveSlot1 : bands.belowSlot1,
            buy ? bands.aboveSlot2 : bands.belowSlot2,
            appStorage().depthBandsMappingSlot1,
            appStorage().depthBandsMappingSlot2
        );
        uint256 existing = (activeVolumeUsd(pairIndex, buy) * cumulativeFactor) / P_10;
        uint256 before = DepthBands.averageImpactP(book, existing);
        uint256 beyond = DepthBands.averageImpactP(book, existing + sizeUsd);
        // Truncation inside the bands can put the larger average one unit below the smaller one.
        return beyond > before ? before + (beyond - before) / 2 : before;
    }

    function netTokens(uint8 collateralIndex, uint16 pairIndex) internal view returns (int256) {
        PairOiToken storage oi = appStorage().oiToken[collateralIndex][pairIndex];
        return int256(uint256(oi.oiLongToken)) - int256(uint256(oi.oiShortToken));
    }

    /// @return signed, 1e10 per percent; a trade that reduces the skew gets a better price
    function skewP(
        uint8 collateralIndex,
        uint16 pairIndex,
        bool buy,
        uint256 positionSizeToken
    ) internal view returns (int256) {
        uint256 depth = appStorage().pairSkewDepth[collateralIndex][pairIndex];
        if (depth == 0) return 0;
        int256 net = netTokens(collateralIndex, pairIndex) + signed(positionSizeToken, buy) / 2;
        return (net * int256(P_10)) / int256(depth) / 2;
    }

    function shift(uint256 price, int256 impactP) internal pure returns (uint64) {
        int256 shifted = int256(price) + (int256(price) * impactP) / int256(P_10) / 100;
        if (shifted < 1 || shifted > int256(uint256(type(uint64).max))) revert Overflow();
        return uint64(uint256(shifted));
    }

    /// @param t the trade, or the part of it that opens; only pair, side, collateral and user count
    function onOpen(
        Trade memory t,
        uint256 sizeCollateral,
        uint256 price
    ) internal view returns (TradePriceImpact memory impact) {
        bool buy = isBuy(t.long, true);
        impact.fixedSpreadP = fixedSpreadP(t.user, t.pairIndex, buy);
        impact.cumulVolPriceImpactP = cumulVolP(
            CumulVolInput(
                t.user,
                t.pairIndex,
                t.long,
                Amounts.toUsd(t.collateralIndex, sizeCollateral),
                false,
                true,
                0
            )
        );
        uint256 beforeSkew = shift(price, impact.fixedSpreadP + impact.cumulVolPriceImpactP);
        impact.positionSizeToken = Amounts.toTokens(t.collateralIndex, sizeCollateral, beforeSkew);
        addSkew(impact, t, buy, price);
    }

    /// @param sizeCollateral what closes of the trade
    function onClose(
        Trade memory t,
        uint256 sizeCollateral,
        uint256 price,
        bool isPnlPositive
    ) internal view returns (TradePriceImpact memory impact) {
        bool buy = isBuy(t.long, false);
        impact.positionSizeToken = (sizeCollateral * t.positionSizeToken) / Amounts.size(t);
        impact.fixedSpreadP = fixedSpreadP(t.user, t.pairIndex, buy);
        impact.cumulVolPriceImpactP = cumulVolP(
            CumulVolInput(
                t.user,
                t.pairIndex,
                t.long,
                Amounts.toUsd(t.collateralIndex, sizeCollateral),
                isPnlPositive,
                false,
                appStorage().tradeInfos[t.user][t.index].lastPosIncreaseBlock
            )
        );
        addSkew(impact, t, buy, price);
    }

    function addSkew(TradePriceImpact memory impact, Trade memory t, bool buy, uint256 price) private view {
        impact.skewPriceImpactP = skewP(t.collateralIndex, t.pairIndex, buy, impact.positionSizeToken);
        impact.totalPriceImpactP = impact.fixedSpreadP + impact.cumulVolPriceImpactP + impact.skewPriceImpactP;
        impact.priceAfterImpact = shift(price, impact.totalPriceImpactP);
    }

    /// @return whether spread and volume impact (skew not counted) cost too much of the collateral
    function isTooHigh(TradePriceImpact memory impact, bool long, uint256 leverage) internal pure returns (bool) {
        int256 lossP = ((impact.fixedSpreadP + impact.cumulVolPriceImpactP) * int256(leverage)) / 1e3;
        return (long ? lossP : -lossP) > int256(MAX_IMPACT_LOSS_P);
    }

    /// @notice Remembers the volume: opens on their own side, closes on the opposite one.
    function addVolume(Trade memory t, uint256 sizeCollateral, bool open, bool isPnlPositive) internal {
        OiWindowsSettings storage w = appStorage().oiWindowsSettings;
        if (w.windowsDuration == 0 || sizeCollateral == 0) return;
        uint256 usd = Amounts.toUsd(t.collateralIndex, sizeCollateral);
        if (!open && !isPnlPositive) usd = (usd * appStorage().negPnlCumulVolMultiplier) / P_10;

        uint256 windowId = currentWindowId();
        PairOi storage oi = appStorage().oiWindows[w.windowsDuration][t.pairIndex][windowId];
        bool buy = isBuy(t.long, open);
        if (buy) oi.oiLongUsd += uint128(usd);
        else oi.oiShortUsd += uint128(usd);
        emit PriceImpactOpenInterestAdded(
            OiWindowUpdate(
                t.user,
                t.index,
                w.windowsDuration,
                t.pairIndex,
                windowId,
                buy,
                open,
                isPnlPositive,
                uint128(usd)
            )
        );
    }
}
