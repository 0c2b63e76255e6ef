// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Types.sol";

/// @notice No fee tiers and no referrals on this Diamond: every trader pays the raw fee and has no referrer.
contract FeeTiersFacet {
    function calculateFeeAmount(address, uint256 _normalFeeAmountCollateral) external pure returns (uint256) {
        return _normalFeeAmountCollateral;
    }

    function getFeeTiers() external pure returns (FeeTier[] memory none) {}

    function getFeeTiersCount() external pure returns (uint256) {
        return 0;
    }

    function getTraderActiveReferrer(address) external pure returns (address) {
        return address(0);
    }
}
