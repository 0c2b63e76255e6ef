// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./HoldingFees.sol";

/// @notice Open interest of the pairs, kept in collateral and in tokens, and its limits.
library Exposure {
    /// @notice Adds to the open interest of the trade's side, or takes from it what opened earlier.
    /// @dev The caller has stored the holding fees of the pair first, which accrue on the open interest as it was.
    function move(Trade memory t, uint256 sizeDelta, uint256 tokenDelta, bool open) internal {
        PairOiCollateral storage oiCollateral = appStorage().oiCollateral[t.collateralIndex][t.pairIndex];
        PairOiToken storage oiToken = appStorage().oiToken[t.collateralIndex][t.pairIndex];
        if (t.long) {
            oiCollateral.oiLongCollateral = moved(oiCollateral.oiLongCollateral, sizeDelta, open);
            oiToken.oiLongToken = moved(oiToken.oiLongToken, tokenDelta, open);
        } else {
            oiCollateral.oiShortCollateral = moved(oiCollateral.oiShortCollateral, sizeDelta, open);
            oiToken.oiShortToken = moved(oiToken.oiShortToken, tokenDelta, open);
        }
        TradeInfo storage info = appStorage().tradeInfos[t.user][t.index];
        info.lastOiUpdateTs = uint48(block.timestamp);
        info.collateralPriceUsd = uint48(Amounts.collateralPriceUsd(t.collateralIndex));
        emit PairOiAfterV10Updated(
            t.collateralIndex,
            t.pairIndex,
            sizeDelta,
            tokenDelta,
            open,
            t.long,
            oiCollateral,
            oiToken
        );
    }

    function moved(uint128 oi, uint256 delta, bool open) private pure returns (uint128) {
        if (open) return uint128(oi + delta);
        return oi > delta ? uint128(oi - delta) : 0;
    }

    /// @return open interest of one side in collateral, tokens valued at `price`
    function atPrice(
        uint8 collateralIndex,
        uint16 pairIndex,
        bool long,
        uint256 price
    ) private view returns (uint256) {
        PairOiToken storage oi = appStorage().oiToken[collateralIndex][pairIndex];
        uint256 tokens = long ? oi.oiLongToken : oi.oiShortToken;
        return uint256(Amounts.fromTokens(collateralIndex, int256(tokens), price));
    }

    function maxOiCollateral(uint8 collateralIndex, uint16 pairIndex) internal view returns (uint256) {
        uint256 precision = appStorage().collaterals[collateralIndex].precision;
        return (uint256(appStorage().pairMaxOi[collateralIndex][pairIndex]) * precision) / P_10;
    }

    /// @return whether `sizeCollateral` more on the trade's side stays inside the limits of the pair and its group
    function isWithinLimits(
        Trade memory t,
        uint256 sizeCollateral,
        uint256 sizeToken,
        uint256 price
    ) internal view returns (bool) {
        uint256 oi = atPrice(t.collateralIndex, t.pairIndex, t.long, price);
        if (oi + sizeCollateral > maxOiCollateral(t.collateralIndex, t.pairIndex)) return false;
        if (!BorrowingV1.isWithinGroupLimit(t.collateralIndex, t.pairIndex, t.long, sizeCollateral)) return false;
        return isSkewWithinLimit(t, sizeToken, price);
    }

    function isSkewWithinLimit(Trade memory t, uint256 sizeToken, uint256 price) private view returns (bool) {
        uint256 cap = appStorage().pairGlobalParams[t.collateralIndex][t.pairIndex].maxSkewCollateral;
        if (cap == 0) return true;
        cap = (cap * appStorage().collaterals[t.collateralIndex].precision) / P_10;

        int256 tokens = PriceImpact.netTokens(t.collateralIndex, t.pairIndex);
        int256 tokensAfter = tokens + PriceImpact.signed(sizeToken, t.long);
        uint256 skewAfter = HoldingFees.abs(Amounts.fromTokens(t.collateralIndex, tokensAfter, price));
        bool reduces = (tokens > 0) == (tokensAfter > 0) && HoldingFees.abs(tokensAfter) < HoldingFees.abs(tokens);
        return skewAfter <= cap || reduces;
    }
}
