// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/HoldingFees.sol";
import "../rules/TradeValue.sol";

/// @notice Funding and borrowing (v2) of pairs and trades, and what a trade has realised.
contract FundingFeesFacet {
    function getPairFundingFeeParams(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (FundingFeeParams[] memory params) {
        params = new FundingFeeParams[](_lengthOf(_collateralIndex, _pairIndex));
        for (uint256 i; i < params.length; ++i) {
            params[i] = appStorage().fundingParams[_collateralIndex[i]][_pairIndex[i]];
        }
    }

    function getPairFundingFeeData(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (PairFundingFeeData[] memory data) {
        data = new PairFundingFeeData[](_lengthOf(_collateralIndex, _pairIndex));
        for (uint256 i; i < data.length; ++i) data[i] = appStorage().fundingData[_collateralIndex[i]][_pairIndex[i]];
    }

    function getPairBorrowingFeeParams(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (BorrowingFeeParams[] memory params) {
        params = new BorrowingFeeParams[](_lengthOf(_collateralIndex, _pairIndex));
        for (uint256 i; i < params.length; ++i) {
            params[i] = appStorage().borrowingParams[_collateralIndex[i]][_pairIndex[i]];
        }
    }

    function getPairBorrowingFeeData(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (PairBorrowingFeeData[] memory data) {
        data = new PairBorrowingFeeData[](_lengthOf(_collateralIndex, _pairIndex));
        for (uint256 i; i < data.length; ++i) {
            data[i] = appStorage().borrowingData[_collateralIndex[i]][_pairIndex[i]];
        }
    }

    function getPairGlobalParamsArray(
        uint8[] calldata _collateralIndex,
        uint16[] calldata _pairIndex
    ) external view returns (PairGlobalParams[] memory params) {
        params = new PairGlobalParams[](_lengthOf(_collateralIndex, _pairIndex));
        for (uint256 i; i < params.length; ++i) {
            params[i] = appStorage().pairGlobalParams[_collateralIndex[i]][_pairIndex[i]];
        }
    }

    function _lengthOf(uint8[] calldata _a, uint16[] calldata _b) private pure returns (uint256) {
        if (_a.length != _b.length) revert WrongLength();
        return _a.length;
    }

    function getMaxSkewCollateral(uint8 _collateralIndex, uint16 _pairIndex) external view returns (uint80) {
        return appStorage().pairGlobalParams[_collateralIndex][_pairIndex].maxSkewCollateral;
    }

    function getPairPendingAccFundingFees(
        uint8 _collateralIndex,
        uint16 _pairIndex,
        uint64 _currentPairPrice
    )
        external
        view
        returns (int128 accFundingFeeLongP, int128 accFundingFeeShortP, int56 currentFundingRatePerSecondP)
    {
        HoldingFees.Pending memory next = HoldingFees.pendingFunding(_collateralIndex, _pairIndex, _currentPairPrice);
        return (int128(next.accLong), int128(next.accShort), int56(next.rate));
    }

    function getPairPendingAccBorrowingFees(
        uint8 _collateralIndex,
        uint16 _pairIndex,
        uint64 _currentPairPrice
    ) external view returns (uint128 accBorrowingFeeP) {
        return HoldingFees.pendingBorrowing(_collateralIndex, _pairIndex, _currentPairPrice);
    }

    function getTradeFundingFeesCollateral(
        address _trader,
        uint32 _index,
        uint64 _currentPairPrice
    ) external view returns (int256) {
        return _holdingFees(_trader, _index, _currentPairPrice).fundingFeeCollateral;
    }

    function getTradeBorrowingFeesCollateral(
        address _trader,
        uint32 _index,
        uint64 _currentPairPrice
    ) external view returns (uint256) {
        return _holdingFees(_trader, _index, _currentPairPrice).borrowingFeeCollateral;
    }

    function getTradePendingHoldingFeesCollateral(
        address _trader,
        uint32 _index,
        uint64 _currentPairPrice
    ) external view returns (TradeHoldingFees memory tradeHoldingFees) {
        return _holdingFees(_trader, _index, _currentPairPrice);
    }

    function _holdingFees(
        address _trader,
        uint32 _index,
        uint64 _price
    ) private view returns (TradeHoldingFees memory) {
        return HoldingFees.ofTrade(appStorage().trades[_trader][_index], _price);
    }

    function getTradeRealizedPnlCollateral(
        address _trader,
        uint32 _index
    )
        external
        view
        returns (int256 realizedPnlCollateral, uint256 realizedTradingFeesCollateral, int256 totalRealizedPnlCollateral)
    {
        TradeFeesData storage data = appStorage().tradeFeesData[_trader][_index];
        return (
            data.realizedPnlCollateral,
            data.realizedTradingFeesCollateral,
            TradeValue.realized(_trader, _index)
        );
    }

    function getTradeRealizedTradingFeesCollateral(address _trader, uint32 _index) external view returns (uint256) {
        return appStorage().tradeFeesData[_trader][_index].realizedTradingFeesCollateral;
    }

    function getTradeManuallyRealizedNegativePnlCollateral(
        address _trader,
        uint32 _index
    ) external view returns (uint256) {
        return appStorage().tradeFeesData[_trader][_index].manuallyRealizedNegativePnlCollateral;
    }

    function getTradeFeesData(address _trader, uint32 _index) external view returns (TradeFeesData memory) {
        return appStorage().tradeFeesData[_trader][_index];
    }

    function getTradeFeesDataArray(
        address[] calldata _trader,
        uint32[] calldata _index
    ) external view returns (TradeFeesData[] memory data) {
        if (_trader.length != _index.length) revert WrongLength();
        data = new TradeFeesData[](_trader.length);
        for (uint256 i; i < data.length; ++i) data[i] = appStorage().tradeFeesData[_trader[i]][_index[i]];
    }

    function getTradeUiRealizedPnlDataArray(
        address[] calldata _trader,
        uint32[] calldata _index
    ) external view returns (UiRealizedPnlData[] memory data) {
        if (_trader.length != _index.length) revert WrongLength();
        data = new UiRealizedPnlData[](_trader.length);
        for (uint256 i; i < data.length; ++i) data[i] = appStorage().uiRealizedPnl[_trader[i]][_index[i]];
    }
}
