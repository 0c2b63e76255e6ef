// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/FeeTiers.sol";

/// @notice Fee tiers. There are no referrals on this Diamond: nobody has a referrer.
contract FeeTiersFacet {
    function calculateFeeAmount(
        address _trader,
        uint256 _normalFeeAmountCollateral
    ) external view returns (uint256) {
        return FeeTiers.applied(_trader, _normalFeeAmountCollateral);
    }

    function getFeeTier(uint256 _feeTierIndex) external view returns (FeeTier memory tier) {
        if (_feeTierIndex < appStorage().feeTiers.length) tier = appStorage().feeTiers[_feeTierIndex];
    }

    function getFeeTiers() external view returns (FeeTier[] memory) {
        return appStorage().feeTiers;
    }

    function getFeeTiersCount() external view returns (uint256) {
        return appStorage().feeTiers.length;
    }

    function getFeeTiersTraderInfo(address _trader) external view returns (TraderInfo memory) {
        return appStorage().feeTierTraders[_trader];
    }

    function getFeeTiersTraderDailyInfo(address _trader, uint32 _day) external view returns (TraderDailyInfo memory) {
        return appStorage().feeTierDays[_trader][_day];
    }

    function getGroupVolumeMultiplier(uint256 _groupIndex) external view returns (uint256) {
        return appStorage().groupVolumeMultipliers[_groupIndex];
    }

    function getTraderFeeTiersEnrollment(address _trader) external view returns (TraderEnrollment memory) {
        return appStorage().feeTierEnrollments[_trader];
    }

    function getTraderActiveReferrer(address) external pure returns (address) {
        return address(0);
    }
}
