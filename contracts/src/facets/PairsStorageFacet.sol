// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../Events.sol";
import "../rules/Pairs.sol";

/// @notice Pairs, groups, fee groups and what applies to each pair.
contract PairsStorageFacet is Access {
    function addPairs(Pair[] calldata _pairs) external onlyGovOrManager {
        AppStorage storage s = appStorage();
        for (uint256 i; i < _pairs.length; ++i) {
            Pair calldata pair = _pairs[i];
            if (s.isPairListed[pair.from][pair.to]) revert PairAlreadyListed();
            _check(pair);
            s.isPairListed[pair.from][pair.to] = true;
            emit PairAdded(s.pairs.length, pair.from, pair.to);
            s.pairs.push(pair);
        }
    }

    /// @dev Names stay; spread, group, fee group and feed change.
    function updatePairs(uint256[] calldata _pairIndices, Pair[] calldata _pairs) external onlyGovOrManager {
        if (_pairIndices.length != _pairs.length) revert WrongLength();
        for (uint256 i; i < _pairs.length; ++i) {
            Pair storage stored = Pairs.get(_pairIndices[i]);
            _check(_pairs[i]);
            stored.feed = _pairs[i].feed;
            stored.spreadP = _pairs[i].spreadP;
            stored.groupIndex = _pairs[i].groupIndex;
            stored.feeIndex = _pairs[i].feeIndex;
            emit PairUpdated(_pairIndices[i]);
        }
    }

    function _check(Pair calldata _pair) private view {
        if (_pair.groupIndex >= appStorage().groups.length) revert GroupNotListed();
        if (_pair.feeIndex >= appStorage().fees.length) revert FeeNotListed();
    }

    function addGroups(Group[] calldata _groups) external onlyGovOrManager {
        for (uint256 i; i < _groups.length; ++i) {
            if (_groups[i].minLeverage == 0 || _groups[i].minLeverage >= _groups[i].maxLeverage) revert WrongLeverages();
            emit GroupAdded(appStorage().groups.length, _groups[i].name);
            appStorage().groups.push(_groups[i]);
        }
    }

    function addFees(FeeGroup[] calldata _fees) external onlyGovOrManager {
        for (uint256 i; i < _fees.length; ++i) {
            emit FeeAdded(appStorage().fees.length, _fees[i]);
            appStorage().fees.push(_fees[i]);
        }
    }

    function setPairCustomMaxLeverages(
        uint256[] calldata _indices,
        uint256[] calldata _values
    ) external onlyGovOrManager {
        if (_indices.length != _values.length) revert WrongLength();
        for (uint256 i; i < _indices.length; ++i) {
            appStorage().pairCustomMaxLeverage[_indices[i]] = _values[i];
            emit PairCustomMaxLeverageUpdated(_indices[i], _values[i]);
        }
    }

    function setGroupLiquidationParams(
        uint256 _groupIndex,
        GroupLiquidationParams calldata _params
    ) external onlyGovOrManager {
        if (_groupIndex >= appStorage().groups.length) revert GroupNotListed();
        appStorage().groupLiquidationParams[_groupIndex] = _params;
        emit GroupLiquidationParamsUpdated(_groupIndex, _params);
    }

    function pairs(uint256 _index) external view returns (Pair memory pair) {
        if (Pairs.isListed(_index)) return appStorage().pairs[_index];
    }

    function pairsCount() external view returns (uint256) {
        return appStorage().pairs.length;
    }

    function pairJob(uint256 _pairIndex) external view returns (string memory, string memory) {
        Pair storage pair = Pairs.get(_pairIndex);
        return (pair.from, pair.to);
    }

    function isPairListed(string calldata _from, string calldata _to) external view returns (bool) {
        return appStorage().isPairListed[_from][_to];
    }

    function isPairIndexListed(uint256 _pairIndex) external view returns (bool) {
        return Pairs.isListed(_pairIndex);
    }

    function groups(uint256 _index) external view returns (Group memory group) {
        if (_index < appStorage().groups.length) return appStorage().groups[_index];
    }

    function groupsCount() external view returns (uint256) {
        return appStorage().groups.length;
    }

    function fees(uint256 _index) external view returns (FeeGroup memory fee) {
        if (_index < appStorage().fees.length) return appStorage().fees[_index];
    }

    function feesCount() external view returns (uint256) {
        return appStorage().fees.length;
    }

    function pairMaxLeverage(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.maxLeverage(_pairIndex);
    }

    function pairMinLeverage(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.minLeverage(_pairIndex);
    }

    function pairCustomMaxLeverage(uint256 _pairIndex) external view returns (uint256) {
        return appStorage().pairCustomMaxLeverage[_pairIndex];
    }

    function getAllPairsRestrictedMaxLeverage() external view returns (uint256[] memory leverages) {
        leverages = new uint256[](appStorage().pairs.length);
        for (uint256 i; i < leverages.length; ++i) leverages[i] = appStorage().pairCustomMaxLeverage[i];
    }

    function pairSpreadP(address _trader, uint256 _pairIndex) external view returns (uint256) {
        return Pairs.spreadP(_trader, _pairIndex);
    }

    function pairSpreadPArray(
        address[] calldata _trader,
        uint256[] calldata _pairIndex
    ) external view returns (uint256[] memory spreads) {
        if (_trader.length != _pairIndex.length) revert WrongLength();
        spreads = new uint256[](_trader.length);
        for (uint256 i; i < spreads.length; ++i) spreads[i] = Pairs.spreadP(_trader[i], _pairIndex[i]);
    }

    function pairTotalPositionSizeFeeP(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.feeGroup(_pairIndex).totalPositionSizeFeeP;
    }

    function pairTotalLiqCollateralFeeP(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.feeGroup(_pairIndex).totalLiqCollateralFeeP;
    }

    function pairOraclePositionSizeFeeP(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.feeGroup(_pairIndex).oraclePositionSizeFeeP;
    }

    function pairMinPositionSizeUsd(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.minPositionSizeUsd(_pairIndex);
    }

    function pairMinFeeUsd(uint256 _pairIndex) external view returns (uint256) {
        return Pairs.minFeeUsd(_pairIndex);
    }

    function getEffectiveTotalPositionSizeFeeP(uint16 _pairIndex, bool _isCounterTrade) external view returns (uint256) {
        return Pairs.effectiveFeeP(_pairIndex, _isCounterTrade);
    }

    function getGroupLiquidationParams(uint256 _groupIndex) external view returns (GroupLiquidationParams memory) {
        return appStorage().groupLiquidationParams[_groupIndex];
    }

    function getPairLiquidationParams(uint256 _pairIndex) external view returns (GroupLiquidationParams memory) {
        return Pairs.liquidationParams(_pairIndex);
    }

    function getPairCounterTradeMaxLeverage(uint16 _pairIndex) external view returns (uint24) {
        return appStorage().counterTradeSettings[_pairIndex].maxLeverage;
    }

    function getPairCounterTradeMaxLeverages(
        uint16[] calldata _pairIndex
    ) external view returns (uint24[] memory leverages) {
        leverages = new uint24[](_pairIndex.length);
        for (uint256 i; i < leverages.length; ++i) {
            leverages[i] = appStorage().counterTradeSettings[_pairIndex[i]].maxLeverage;
        }
    }

    function getPairCounterTradeFeeRateMultiplier(uint16 _pairIndex) external view returns (uint16) {
        return uint16(Pairs.feeRateMultiplier(_pairIndex, true));
    }

    function getPairCounterTradeFeeRateMultipliers(
        uint16[] calldata _pairIndex
    ) external view returns (uint16[] memory multipliers) {
        multipliers = new uint16[](_pairIndex.length);
        for (uint256 i; i < multipliers.length; ++i) {
            multipliers[i] = uint16(Pairs.feeRateMultiplier(_pairIndex[i], true));
        }
    }

    function getGlobalTradeFeeParams() external view returns (GlobalTradeFeeParams memory) {
        return appStorage().globalTradeFeeParams;
    }

    /// @dev One split for all collaterals and pairs here.
    function getTradeFeeParams(uint8, uint16) external view returns (GlobalTradeFeeParams memory) {
        return appStorage().globalTradeFeeParams;
    }
}
