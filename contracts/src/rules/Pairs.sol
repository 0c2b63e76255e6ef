// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Constants.sol";
import "../Errors.sol";
import "../Storage.sol";

/// @notice What applies to a pair, resolved through its group and fee group.
library Pairs {
    function isListed(uint256 pairIndex) internal view returns (bool) {
        return pairIndex < appStorage().pairs.length;
    }

    function get(uint256 pairIndex) internal view returns (Pair storage) {
        if (!isListed(pairIndex)) revert PairNotListed();
        return appStorage().pairs[pairIndex];
    }

    function group(uint256 pairIndex) internal view returns (Group storage) {
        return appStorage().groups[get(pairIndex).groupIndex];
    }

    function feeGroup(uint256 pairIndex) internal view returns (FeeGroup storage) {
        return appStorage().fees[get(pairIndex).feeIndex];
    }

    function maxLeverage(uint256 pairIndex) internal view returns (uint256) {
        uint256 custom = appStorage().pairCustomMaxLeverage[pairIndex];
        return custom > 0 ? custom : group(pairIndex).maxLeverage;
    }

    function minLeverage(uint256 pairIndex) internal view returns (uint256) {
        return group(pairIndex).minLeverage;
    }

    /// @return 1e10 per percent, the pair's spread plus what this trader pays extra
    function spreadP(address trader, uint256 pairIndex) internal view returns (uint256) {
        return get(pairIndex).spreadP + uint256(appStorage().userPriceImpact[trader][pairIndex].fixedSpreadP) * 1e7;
    }

    /// @return 1e3
    function feeRateMultiplier(uint16 pairIndex, bool isCounterTrade) internal view returns (uint256) {
        if (!isCounterTrade) return 1e3;
        uint256 multiplier = appStorage().counterTradeSettings[pairIndex].feeRateMultiplier;
        return multiplier == 0 ? 1e3 : multiplier;
    }

    function effectiveFeeP(uint16 pairIndex, bool isCounterTrade) internal view returns (uint256) {
        return (feeGroup(pairIndex).totalPositionSizeFeeP * feeRateMultiplier(pairIndex, isCounterTrade)) / 1e3;
    }

    /// @return 1e18
    function minPositionSizeUsd(uint256 pairIndex) internal view returns (uint256) {
        return uint256(feeGroup(pairIndex).minPositionSizeUsd) * 1e15;
    }

    /// @return 1e18
    function minFeeUsd(uint256 pairIndex) internal view returns (uint256) {
        return (minPositionSizeUsd(pairIndex) * feeGroup(pairIndex).totalPositionSizeFeeP) / P_10 / 100;
    }

    function liquidationParams(uint256 pairIndex) internal view returns (GroupLiquidationParams memory) {
        return appStorage().groupLiquidationParams[get(pairIndex).groupIndex];
    }
}
