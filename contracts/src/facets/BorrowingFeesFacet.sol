// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Exposure.sol";
import "../rules/Liquidation.sol";

/// @notice Borrowing of the first generation, liquidation price and open-interest limits. No trade is older than v10,
/// so open interest from before it is zero.
contract BorrowingFeesFacet {
    function getTradeLiquidationPrice(LiqPriceInput memory _input) external view returns (uint256) {
        return Liquidation.price(_input);
    }

    function getTradeBorrowingFee(BorrowingFeeInput memory _input) external view returns (uint256 feeAmountCollateral) {
        return BorrowingV1.ofTrade(_input);
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
    ) external view returns (OpenInterest memory) {
        return _pairOi(_collateralIndex, _pairIndex);
    }

    function _pairOi(uint8 _collateralIndex, uint16 _pairIndex) private view returns (OpenInterest memory oi) {
        oi.max = appStorage().pairMaxOi[_collateralIndex][_pairIndex];
    }

    function getPairOiBeforeV10Collateral(uint8, uint16, bool) external pure returns (uint256) {
        return 0;
    }

    function getPairOisBeforeV10Collateral(uint8, uint16) external pure returns (uint256 longOi, uint256 shortOi) {
        return (0, 0);
    }

    function withinMaxBorrowingGroupOi(
        uint8 _collateralIndex,
        uint16 _pairIndex,
        bool _long,
        uint256 _positionSizeCollateral
    ) external view returns (bool) {
        return BorrowingV1.isWithinGroupLimit(_collateralIndex, _pairIndex, _long, _positionSizeCollateral);
    }

    function getBorrowingPair(uint8 _collateralIndex, uint16 _pairIndex) external view returns (BorrowingData memory) {
        return appStorage().borrowingPairs[_collateralIndex][_pairIndex];
    }

    function getBorrowingGroup(
        uint8 _collateralIndex,
        uint16 _groupIndex
    ) external view returns (BorrowingData memory) {
        return appStorage().borrowingGroups[_collateralIndex][_groupIndex];
    }

    function getBorrowingGroupOi(
        uint8 _collateralIndex,
        uint16 _groupIndex
    ) external view returns (OpenInterest memory) {
        return appStorage().borrowingGroupOis[_collateralIndex][_groupIndex];
    }

    function getBorrowingGroups(
        uint8 _collateralIndex,
        uint16[] calldata _indices
    ) external view returns (BorrowingData[] memory groups, OpenInterest[] memory ois) {
        groups = new BorrowingData[](_indices.length);
        ois = new OpenInterest[](_indices.length);
        for (uint256 i; i < _indices.length; ++i) {
            groups[i] = appStorage().borrowingGroups[_collateralIndex][_indices[i]];
            ois[i] = appStorage().borrowingGroupOis[_collateralIndex][_indices[i]];
        }
    }

    function getBorrowingPairGroups(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (BorrowingPairGroup[] memory) {
        return appStorage().borrowingPairGroups[_collateralIndex][_pairIndex];
    }

    function getAllBorrowingPairs(
        uint8 _collateralIndex
    )
        external
        view
        returns (BorrowingData[] memory pairs, OpenInterest[] memory ois, BorrowingPairGroup[][] memory groups)
    {
        uint16 count = uint16(appStorage().pairs.length);
        pairs = new BorrowingData[](count);
        ois = new OpenInterest[](count);
        groups = new BorrowingPairGroup[][](count);
        for (uint16 i; i < count; ++i) {
            pairs[i] = appStorage().borrowingPairs[_collateralIndex][i];
            ois[i] = _pairOi(_collateralIndex, i);
            groups[i] = appStorage().borrowingPairGroups[_collateralIndex][i];
        }
    }

    function getBorrowingPairGroupIndex(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (uint16 groupIndex) {
        return BorrowingV1.groupIndexOf(_collateralIndex, _pairIndex);
    }

    function getBorrowingInitialAccFees(
        uint8 _collateralIndex,
        address _trader,
        uint32 _index
    ) external view returns (BorrowingInitialAccFees memory) {
        return BorrowingV1.initialOf(_collateralIndex, _trader, _index);
    }

    function getBorrowingFeePerBlockCap() external view returns (BorrowingFeePerBlockCap memory) {
        return appStorage().borrowingFeePerBlockCap;
    }

    function getBorrowingPairFeePerBlockCap(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (BorrowingFeePerBlockCap memory) {
        return BorrowingV1.capOf(_collateralIndex, _pairIndex);
    }

    function getBorrowingPairPendingAccFees(
        uint8 _collateralIndex,
        uint16 _pairIndex,
        uint256 _currentBlock,
        uint256 _currentPairPrice
    )
        external
        view
        returns (uint64 accFeeLong, uint64 accFeeShort, uint64 pairAccFeeLongDelta, uint64 pairAccFeeShortDelta)
    {
        (BorrowingV1.Acc memory next, BorrowingV1.Acc memory gained) = BorrowingV1.pendingPair(
            _collateralIndex,
            _pairIndex,
            _currentBlock,
            _currentPairPrice
        );
        return (next.long, next.short, gained.long, gained.short);
    }

    function getBorrowingGroupPendingAccFees(
        uint8 _collateralIndex,
        uint16 _groupIndex,
        uint256 _currentBlock
    )
        external
        view
        returns (uint64 accFeeLong, uint64 accFeeShort, uint64 groupAccFeeLongDelta, uint64 groupAccFeeShortDelta)
    {
        (BorrowingV1.Acc memory next, BorrowingV1.Acc memory gained) = BorrowingV1.pendingGroup(
            _collateralIndex,
            _groupIndex,
            _currentBlock
        );
        return (next.long, next.short, gained.long, gained.short);
    }
}
