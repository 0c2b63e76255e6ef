// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Exposure.sol";
import "../rules/Liquidation.sol";

/// @notice Liquidation price and open-interest limits. Old-style borrowing (v1) is zero: its views say so.
contract BorrowingFeesFacet {
    function getTradeLiquidationPrice(LiqPriceInput memory _input) external view returns (uint256) {
        return Liquidation.price(_input);
    }

    function getPairMaxOi(uint8 _collateralIndex, uint16 _pairIndex) external view returns (uint256) {
        return appStorage().pairMaxOi[_collateralIndex][_pairIndex];
    }

    function getPairMaxOiCollateral(uint8 _collateralIndex, uint16 _pairIndex) external view returns (uint256) {
        return Exposure.maxOiCollateral(_collateralIndex, _pairIndex);
    }

    function getBorrowingPairOiBeforeV10(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (OpenInterest memory oi) {
        oi.max = appStorage().pairMaxOi[_collateralIndex][_pairIndex];
    }

    function withinMaxBorrowingGroupOi(uint8, uint16, bool, uint256) external pure returns (bool) {
        return true;
    }

    function getPairOiBeforeV10Collateral(uint8, uint16, bool) external pure returns (uint256) {
        return 0;
    }

    function getPairOisBeforeV10Collateral(uint8, uint16) external pure returns (uint256 longOi, uint256 shortOi) {
        return (0, 0);
    }

    function getTradeBorrowingFee(BorrowingFeeInput memory) external pure returns (uint256 feeAmountCollateral) {
        return 0;
    }

    function getBorrowingPair(uint8, uint16) external pure returns (BorrowingData memory nothing) {}

    function getBorrowingGroup(uint8, uint16) external pure returns (BorrowingData memory nothing) {}

    function getBorrowingGroupOi(uint8, uint16) external pure returns (OpenInterest memory nothing) {}

    function getBorrowingPairGroupIndex(uint8, uint16) external pure returns (uint16 groupIndex) {}

    function getBorrowingInitialAccFees(
        uint8,
        address,
        uint32
    ) external pure returns (BorrowingInitialAccFees memory nothing) {}

    function getBorrowingPairPendingAccFees(
        uint8,
        uint16,
        uint256,
        uint256
    )
        external
        pure
        returns (uint64 accFeeLong, uint64 accFeeShort, uint64 pairAccFeeLongDelta, uint64 pairAccFeeShortDelta)
    {}

    function getBorrowingGroupPendingAccFees(
        uint8,
        uint16,
        uint256
    )
        external
        pure
        returns (uint64 accFeeLong, uint64 accFeeShort, uint64 groupAccFeeLongDelta, uint64 groupAccFeeShortDelta)
    {}
}
