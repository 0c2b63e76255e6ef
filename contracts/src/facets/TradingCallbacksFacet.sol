// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../callbacks/TriggerCloseOrder.sol";
import "../callbacks/TriggerOpenOrder.sol";

/// @notice Views on the callbacks: what a trigger would do, and how long one is waited for.
contract TradingCallbacksFacet is Access {
    function validateTriggerOpenOrderCallback(
        Id memory _tradeId,
        uint8 _orderType,
        uint64 _open,
        uint64 _high,
        uint64 _low,
        uint64 _currentPairPrice
    ) external view returns (Trade memory t, Values memory v) {
        return TriggerOpenOrder.validate(_tradeId, _orderType, Hit.Candle(_open, _high, _low, _currentPairPrice));
    }

    function validateTriggerCloseOrderCallback(
        Id memory _tradeId,
        uint8 _orderType,
        uint64 _open,
        uint64 _high,
        uint64 _low,
        uint64 _currentPairPrice
    ) external view returns (Trade memory t, Values memory v) {
        return TriggerCloseOrder.validate(_tradeId, _orderType, Hit.Candle(_open, _high, _low, _currentPairPrice));
    }

    function getTriggerTimeoutBlocks() external view returns (uint16) {
        return appStorage().triggerTimeoutBlocks;
    }

    function updateTriggerTimeoutBlocks(uint16 _timeoutBlocks) external onlyGovOrManager {
        if (_timeoutBlocks == 0) revert TimeoutBlocksZero();
        appStorage().triggerTimeoutBlocks = _timeoutBlocks;
        emit TriggerTimeoutBlocksUpdated(_timeoutBlocks);
    }

    function hasActiveOrder(uint256 _orderBlock) external view returns (bool) {
        return Records.isTriggerActive(_orderBlock);
    }

    function getPendingGovFeesCollateral(uint8 _collateralIndex) external view returns (uint256) {
        return appStorage().pendingGovFees[_collateralIndex];
    }
}
