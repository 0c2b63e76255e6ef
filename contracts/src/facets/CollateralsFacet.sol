// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../Events.sol";

interface IDecimals {
    function decimals() external view returns (uint8);
}

/// @notice Collaterals and whether trading is on. Part of the live Diamond's trading storage.
contract CollateralsFacet is Access {
    function getCollateral(uint8 _index) external view returns (Collateral memory) {
        return appStorage().collaterals[_index];
    }

    function getCollaterals() external view returns (Collateral[] memory collaterals) {
        AppStorage storage s = appStorage();
        collaterals = new Collateral[](s.collateralsCount);
        for (uint8 i; i < collaterals.length; ++i) collaterals[i] = s.collaterals[i + 1];
    }

    function getCollateralsCount() external view returns (uint8) {
        return appStorage().collateralsCount;
    }

    function getCollateralIndex(address _collateral) external view returns (uint8) {
        return appStorage().collateralIndexOf[_collateral];
    }

    function getGToken(uint8 _collateralIndex) external view returns (address) {
        return appStorage().gTokens[_collateralIndex];
    }

    function getGnsCollateralIndex() public view returns (uint8) {
        return appStorage().collateralIndexOf[appStorage().addresses.gns];
    }

    function isCollateralActive(uint8 _index) external view returns (bool) {
        return appStorage().collaterals[_index].isActive;
    }

    function isCollateralListed(uint8 _index) external view returns (bool) {
        return appStorage().collaterals[_index].precision > 0;
    }

    function isCollateralGns(uint8 _index) external view returns (bool) {
        return _index > 0 && _index == getGnsCollateralIndex();
    }

    /// @dev Indices start at 1 and follow the order of adding.
    function addCollateral(address _collateral, address _gToken) external onlyGovOrManager {
        AppStorage storage s = appStorage();
        if (_collateral == address(0) || _gToken == address(0)) revert ZeroAddress();
        if (s.collateralIndexOf[_collateral] > 0) revert AlreadyExists();
        uint8 decimals = IDecimals(_collateral).decimals();
        uint8 index = ++s.collateralsCount;
        s.collaterals[index] = Collateral(
            _collateral,
            true,
            0,
            uint128(10 ** decimals),
            uint128(10 ** (18 - decimals))
        );
        s.gTokens[index] = _gToken;
        s.collateralIndexOf[_collateral] = index;
        emit CollateralAdded(_collateral, index, _gToken);
    }

    function toggleCollateralActiveState(uint8 _collateralIndex) external onlyGovOrManager {
        Collateral storage collateral = appStorage().collaterals[_collateralIndex];
        if (collateral.precision == 0) revert DoesntExist();
        collateral.isActive = !collateral.isActive;
        emit CollateralUpdated(_collateralIndex, collateral.isActive);
    }

    function getTradingActivated() external view returns (uint8) {
        return appStorage().tradingActivated;
    }

    function updateTradingActivated(uint8 _activated) external onlyGovOrManager {
        if (_activated > PAUSED) revert AboveMax();
        appStorage().tradingActivated = _activated;
        emit TradingActivatedUpdated(_activated);
    }
}
