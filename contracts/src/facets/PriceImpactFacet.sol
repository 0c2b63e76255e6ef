// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/PriceImpact.sol";

/// @notice Depth bands, skew, volume windows and open interest.
contract PriceImpactFacet {
    function getTradeCumulVolPriceImpactP(
        address _trader,
        uint16 _pairIndex,
        bool _long,
        uint256 _tradeOpenInterestUsd,
        bool _isPnlPositive,
        bool _open,
        uint256 _lastPosIncreaseBlock
    ) external view returns (int256 priceImpactP) {
        CumulVolInput memory input = CumulVolInput(
            _trader,
            _pairIndex,
            _long,
            _tradeOpenInterestUsd,
            _isPnlPositive,
            _open,
            _lastPosIncreaseBlock
        );
        return PriceImpact.cumulVolP(input);
    }

    function getTradeSkewPriceImpactP(
        uint8 _collateralIndex,
        uint16 _pairIndex,
        bool _long,
        uint256 _positionSizeToken,
        bool _open
    ) external view returns (int256 priceImpactP) {
        return PriceImpact.skewP(_collateralIndex, _pairIndex, PriceImpact.isBuy(_long, _open), _positionSizeToken);
    }

    function getPairDepthBands(uint256 _pairIndex) external view returns (PairDepthBands memory) {
        return appStorage().pairDepthBands[_pairIndex];
    }

    function getPairDepthBandsArray(
        uint256[] calldata _indices
    ) external view returns (PairDepthBands[] memory bands) {
        bands = new PairDepthBands[](_indices.length);
        for (uint256 i; i < bands.length; ++i) bands[i] = appStorage().pairDepthBands[_indices[i]];
    }

    function getPairDepthBandsDecoded(
        uint256 _pairIndex
    )
        external
        view
        returns (
            uint256 totalDepthAboveUsd,
            uint256 totalDepthBelowUsd,
            uint16[] memory bandsAbove,
            uint16[] memory bandsBelow
        )
    {
        PairDepthBands storage bands = appStorage().pairDepthBands[_pairIndex];
        totalDepthAboveUsd = DepthBands.totalDepthUsd(bands.aboveSlot1);
        totalDepthBelowUsd = DepthBands.totalDepthUsd(bands.belowSlot1);
        bandsAbove = DepthBands.decode(bands.aboveSlot1, bands.aboveSlot2);
        bandsBelow = DepthBands.decode(bands.belowSlot1, bands.belowSlot2);
    }

    function getDepthBandsMapping() external view returns (uint256 slot1, uint256 slot2) {
        return (appStorage().depthBandsMappingSlot1, appStorage().depthBandsMappingSlot2);
    }

    function getDepthBandsMappingDecoded() external view returns (uint16[] memory bands) {
        return DepthBands.decode(appStorage().depthBandsMappingSlot1, appStorage().depthBandsMappingSlot2);
    }

    function getPairSkewDepth(uint8 _collateralIndex, uint16 _pairIndex) external view returns (uint256) {
        return appStorage().pairSkewDepth[_collateralIndex][_pairIndex];
    }

    function getPairSkewDepths(
        uint8[] calldata _collateralIndices,
        uint16[] calldata _pairIndices
    ) external view returns (uint256[] memory depths) {
        _requireSameLength(_collateralIndices, _pairIndices);
        depths = new uint256[](_pairIndices.length);
        for (uint256 i; i < depths.length; ++i) {
            depths[i] = appStorage().pairSkewDepth[_collateralIndices[i]][_pairIndices[i]];
        }
    }

    function getPairFactors(uint256[] calldata _indices) external view returns (PairFactors[] memory factors) {
        factors = new PairFactors[](_indices.length);
        for (uint256 i; i < factors.length; ++i) factors[i] = appStorage().pairFactors[_indices[i]];
    }

    function getOiWindowsSettings() external view returns (OiWindowsSettings memory) {
        return appStorage().oiWindowsSettings;
    }

    function getOiWindow(
        uint48 _windowsDuration,
        uint256 _pairIndex,
        uint256 _windowId
    ) external view returns (PairOi memory) {
        return appStorage().oiWindows[_windowsDuration][_pairIndex][_windowId];
    }

    function getOiWindows(
        uint48 _windowsDuration,
        uint256 _pairIndex,
        uint256[] calldata _windowIds
    ) external view returns (PairOi[] memory windows) {
        windows = new PairOi[](_windowIds.length);
        for (uint256 i; i < windows.length; ++i) {
            windows[i] = appStorage().oiWindows[_windowsDuration][_pairIndex][_windowIds[i]];
        }
    }

    function getPriceImpactOi(uint256 _pairIndex, bool _long) external view returns (uint256 activeOi) {
        return PriceImpact.activeVolumeUsd(_pairIndex, _long);
    }

    function getNegPnlCumulVolMultiplier() external view returns (uint48) {
        return appStorage().negPnlCumulVolMultiplier;
    }

    function getUserPriceImpact(address _trader, uint256 _pairIndex) external view returns (UserPriceImpact memory) {
        return appStorage().userPriceImpact[_trader][_pairIndex];
    }

    function getProtectionCloseFactorWhitelist(address _trader) external view returns (bool) {
        return appStorage().protectionCloseFactorWhitelist[_trader];
    }

    function getPairOiAfterV10Collateral(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (PairOiCollateral memory) {
        return appStorage().oiCollateral[_collateralIndex][_pairIndex];
    }

    function getPairOiAfterV10Token(
        uint8 _collateralIndex,
        uint16 _pairIndex
    ) external view returns (PairOiToken memory) {
        return appStorage().oiToken[_collateralIndex][_pairIndex];
    }

    function getPairOisAfterV10Collateral(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (PairOiCollateral[] memory ois) {
        _requireSameLength(_collateralIndex, _pairIndex);
        ois = new PairOiCollateral[](_pairIndex.length);
        for (uint256 i; i < ois.length; ++i) ois[i] = appStorage().oiCollateral[_collateralIndex[i]][_pairIndex[i]];
    }

    function getPairOisAfterV10Token(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (PairOiToken[] memory ois) {
        _requireSameLength(_collateralIndex, _pairIndex);
        ois = new PairOiToken[](_pairIndex.length);
        for (uint256 i; i < ois.length; ++i) ois[i] = appStorage().oiToken[_collateralIndex[i]][_pairIndex[i]];
    }

    function _requireSameLength(uint8[] calldata _a, uint16[] calldata _b) private pure {
        if (_a.length != _b.length) revert WrongLength();
    }
}
