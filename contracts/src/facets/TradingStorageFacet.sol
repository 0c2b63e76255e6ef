// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../rules/Records.sol";

/// @notice Trades, pending orders and counters, as stored.
contract TradingStorageFacet is Access {
    function getTrade(address _trader, uint32 _index) external view returns (Trade memory) {
        return appStorage().trades[_trader][_index];
    }

    function getTradeInfo(address _trader, uint32 _index) external view returns (TradeInfo memory) {
        return appStorage().tradeInfos[_trader][_index];
    }

    function getTrades(address _trader) external view returns (Trade[] memory) {
        return getAllTradesForTraders(_only(_trader), 0, 0);
    }

    function getTradeInfos(address _trader) external view returns (TradeInfo[] memory) {
        return getAllTradeInfosForTraders(_only(_trader), 0, 0);
    }

    function getTradesLiquidationParams(address _trader) external view returns (GroupLiquidationParams[] memory) {
        return getAllTradesLiquidationParamsForTraders(_only(_trader), 0, 0);
    }

    function getPendingOrders(address _user) external view returns (PendingOrder[] memory) {
        return getAllPendingOrdersForTraders(_only(_user), 0, 0);
    }

    /// @dev Offset and limit are positions in the list of traders, both included; limit 0 = to the end.
    function getAllTrades(uint256 _offset, uint256 _limit) external view returns (Trade[] memory) {
        return getAllTradesForTraders(appStorage().traders, _offset, _limit);
    }

    function getAllTradeInfos(uint256 _offset, uint256 _limit) external view returns (TradeInfo[] memory) {
        return getAllTradeInfosForTraders(appStorage().traders, _offset, _limit);
    }

    function getAllPendingOrders(uint256 _offset, uint256 _limit) external view returns (PendingOrder[] memory) {
        return getAllPendingOrdersForTraders(appStorage().traders, _offset, _limit);
    }

    function getAllTradesForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (Trade[] memory trades) {
        Id[] memory ids = _openIds(_slice(_traders, _offset, _limit), COUNTER_TRADE_INDEX);
        trades = new Trade[](ids.length);
        for (uint256 i; i < ids.length; ++i) trades[i] = appStorage().trades[ids[i].user][ids[i].index];
    }

    function getAllTradeInfosForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (TradeInfo[] memory infos) {
        Id[] memory ids = _openIds(_slice(_traders, _offset, _limit), COUNTER_TRADE_INDEX);
        infos = new TradeInfo[](ids.length);
        for (uint256 i; i < ids.length; ++i) infos[i] = appStorage().tradeInfos[ids[i].user][ids[i].index];
    }

    function getAllTradesLiquidationParamsForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (GroupLiquidationParams[] memory params) {
        Id[] memory ids = _openIds(_slice(_traders, _offset, _limit), COUNTER_TRADE_INDEX);
        params = new GroupLiquidationParams[](ids.length);
        for (uint256 i; i < ids.length; ++i) params[i] = appStorage().liquidationParams[ids[i].user][ids[i].index];
    }

    function getAllPendingOrdersForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (PendingOrder[] memory orders) {
        Id[] memory ids = _openIds(_slice(_traders, _offset, _limit), COUNTER_PENDING_ORDER);
        orders = new PendingOrder[](ids.length);
        for (uint256 i; i < ids.length; ++i) orders[i] = appStorage().pendingOrders[ids[i].user][ids[i].index];
    }

    function _only(address _trader) private pure returns (address[] memory traders) {
        traders = new address[](1);
        traders[0] = _trader;
    }

    function _slice(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) private pure returns (address[] memory part) {
        uint256 end = _limit == 0 || _limit >= _traders.length ? _traders.length : _limit + 1;
        if (_offset >= end) return part;
        part = new address[](end - _offset);
        for (uint256 i; i < part.length; ++i) part[i] = _traders[_offset + i];
    }

    function _openIds(address[] memory _traders, uint8 _type) private view returns (Id[] memory ids) {
        AppStorage storage s = appStorage();
        uint256 count;
        for (uint256 i; i < _traders.length; ++i) count += s.counters[_traders[i]][_type].openCount;
        ids = new Id[](count);
        count = 0;
        for (uint256 i; i < _traders.length; ++i) {
            uint32[] storage open = _type == COUNTER_TRADE_INDEX
                ? s.openTradeIndices[_traders[i]]
                : s.openPendingIndices[_traders[i]];
            for (uint256 j; j < open.length; ++j) ids[count++] = Id(_traders[i], open[j]);
        }
    }

    function getPendingOrder(Id memory _orderId) external view returns (PendingOrder memory) {
        return appStorage().pendingOrders[_orderId.user][_orderId.index];
    }

    function getTradePendingOrderBlock(Id memory _tradeId, uint8 _orderType) external view returns (uint256) {
        return appStorage().tradePendingOrderBlock[_tradeId.user][_tradeId.index][_orderType];
    }

    function getCounters(address _trader, uint8 _type) external view returns (Counter memory) {
        return appStorage().counters[_trader][_type];
    }

    function getCountersForTraders(
        address[] calldata _traders,
        uint8 _type
    ) external view returns (Counter[] memory counters) {
        counters = new Counter[](_traders.length);
        for (uint256 i; i < _traders.length; ++i) counters[i] = appStorage().counters[_traders[i]][_type];
    }

    function getTradeLiquidationParams(
        address _trader,
        uint32 _index
    ) external view returns (GroupLiquidationParams memory) {
        return appStorage().liquidationParams[_trader][_index];
    }

    function getCurrentContractsVersion() external pure returns (uint8) {
        return VERSION_V10;
    }

    function getTradeContractsVersion(address _trader, uint32 _index) external view returns (uint8) {
        return appStorage().tradeInfos[_trader][_index].contractsVersion;
    }

    function getTraderStored(address _trader) external view returns (bool) {
        return appStorage().traderStored[_trader];
    }

    function getTraders(uint32 _offset, uint32 _limit) external view returns (address[] memory) {
        return _slice(appStorage().traders, _offset, _limit);
    }

    function getTradersCount() external view returns (uint256) {
        return appStorage().traders.length;
    }

    function getLookbackFromBlock(address _trader, uint32 _index, uint8 _orderType) external view returns (uint32) {
        return Records.lookbackFromBlock(_trader, _index, _orderType);
    }
}
