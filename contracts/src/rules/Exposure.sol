// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./HoldingFees.sol";

/// @notice Open interest is the sum of the open positions, kept in collateral and in tokens, and limited per pair.
library Exposure {
    /// @notice Moves the pair's open interest from the position as it was to the position as it is now.
    /// @dev Either side may be empty (collateral 0): a position that opens or closes. The caller has stored the holding
    /// fees of the pair first, which accrue on the open interest as it was.
    function change(Trade memory from, Trade memory to) internal {
        Trade memory t = from.collateralAmount == 0 ? to : from;
        uint256 sizeFrom = Amounts.size(from);
        uint256 sizeTo = Amounts.size(to);
        PairOiCollateral storage oiCollateral = appStorage().oiCollateral[t.collateralIndex][t.pairIndex];
        PairOiToken storage oiToken = appStorage().oiToken[t.collateralIndex][t.pairIndex];
        if (t.long) {
            oiCollateral.oiLongCollateral = uint128(oiCollateral.oiLongCollateral + sizeTo - sizeFrom);
            oiToken.oiLongToken = uint128(oiToken.oiLongToken + to.positionSizeToken - from.positionSizeToken);
        } else {
            oiCollateral.oiShortCollateral = uint128(oiCollateral.oiShortCollateral + sizeTo - sizeFrom);
            oiToken.oiShortToken = uint128(oiToken.oiShortToken + to.positionSizeToken - from.positionSizeToken);
        }
        appStorage().tradeInfos[t.user][t.index].lastOiUpdateTs = uint48(block.timestamp);
        emit PairOiAfterV10Updated(
            t.collateralIndex,
            t.pairIndex,
            sizeTo > sizeFrom ? sizeTo - sizeFrom : sizeFrom - sizeTo,
            distance(to.positionSizeToken, from.positionSizeToken),
            sizeTo >= sizeFrom,
            t.long,
            oiCollateral,
            oiToken
        );
    }

    function distance(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : b - a;
    }

    /// @return open interest of one side in collateral, tokens valued at `price`
    function atPrice(uint8 collateralIndex, uint16 pairIndex, bool long, uint256 price) internal view returns (uint256) {
        PairOiToken storage oi = appStorage().oiToken[collateralIndex][pairIndex];
        uint256 tokens = long ? oi.oiLongToken : oi.oiShortToken;
        return uint256(Amounts.fromTokens(collateralIndex, int256(tokens), price));
    }

    function maxOiCollateral(uint8 collateralIndex, uint16 pairIndex) internal view returns (uint256) {
        uint256 precision = appStorage().collaterals[collateralIndex].precision;
        return (uint256(appStorage().pairMaxOi[collateralIndex][pairIndex]) * precision) / P_10;
    }

    /// @return whether `sizeCollateral` more on the trade's side stays inside the pair's limits
    function isWithinLimits(
        Trade memory t,
        uint256 sizeCollateral,
        uint256 sizeToken,
        uint256 price
    ) internal view returns (bool) {
        uint256 oi = atPrice(t.collateralIndex, t.pairIndex, t.long, price);
        if (oi + sizeCollateral > maxOiCollateral(t.collateralIndex, t.pairIndex)) return false;
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
