// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Amounts.sol";
import "./FeeTiers.sol";
import "./Pairs.sol";

/// @notice How much a trade is charged.
library Fees {
    /// @return the floor on which a fee is charged, in collateral
    function minPosition(uint8 collateralIndex, uint256 pairIndex) internal view returns (uint256) {
        return Amounts.fromUsd(collateralIndex, Pairs.minPositionSizeUsd(pairIndex));
    }

    /// @return fee of an open, a close or a part of either (the same rate), before any discount
    function raw(
        uint8 collateralIndex,
        uint16 pairIndex,
        uint256 sizeCollateral,
        bool isCounterTrade
    ) internal view returns (uint256) {
        uint256 basis = sizeCollateral * Pairs.feeRateMultiplier(pairIndex, isCounterTrade);
        uint256 floor = minPosition(collateralIndex, pairIndex) * 1e3;
        if (basis < floor) basis = floor;
        return (basis * Pairs.feeGroup(pairIndex).totalPositionSizeFeeP) / P_10 / 100 / 1e3;
    }

    /// @return fee that the trader of `t` pays on `sizeCollateral` of it
    function trading(Trade memory t, uint256 sizeCollateral) internal view returns (uint256) {
        return FeeTiers.applied(t.user, raw(t.collateralIndex, t.pairIndex, sizeCollateral, t.isCounterTrade));
    }

    function liquidation(uint16 pairIndex, uint256 collateral) internal view returns (uint256) {
        return (collateral * Pairs.feeGroup(pairIndex).totalLiqCollateralFeeP) / P_10 / 100;
    }

    /// @return what a refused request or a leverage update costs
    function minGov(Trade memory t) internal view returns (uint256) {
        uint256 fee = FeeTiers.applied(t.user, raw(t.collateralIndex, t.pairIndex, 0, false)) / 2;
        return (fee * appStorage().globalTradeFeeParams.govFeeP) / 1e3 / 100;
    }

    /// @return collateral that covers `count` minimum fees
    function minCollateral(uint8 collateralIndex, uint16 pairIndex, uint256 count) internal view returns (uint256) {
        return Amounts.fromUsd(collateralIndex, Pairs.minFeeUsd(pairIndex) * count);
    }
}
