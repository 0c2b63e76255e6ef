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

    function getTrades(address _trader) external view returns (Trade[] memory trades) {
        uint256 count = _openCount(_trader, COUNTER_TRADE_INDEX);
        if (count > 0) trades = getAllTradesForTraders(_only(_trader), 0, count - 1);
    }

    function getTradeInfos(address _trader) external view returns (TradeInfo[] memory infos) {
        uint256 count = _openCount(_trader, COUNTER_TRADE_INDEX);
        if (count > 0) infos = getAllTradeInfosForTraders(_only(_trader), 0, count - 1);
    }

    function getTradesLiquidationParams(address _trader) external view returns (GroupLiquidationParams[] memory params) {
        uint256 count = _openCount(_trader, COUNTER_TRADE_INDEX);
        if (count > 0) params = getAllTradesLiquidationParamsForTraders(_only(_trader), 0, count - 1);
    }

    function getPendingOrders(address _user) external view returns (PendingOrder[] memory orders) {
        uint256 count = _openCount(_user, COUNTER_PENDING_ORDER);
        if (count > 0) orders = getAllPendingOrdersForTraders(_only(_user), 0, count - 1);
    }

    /// @dev Lists of all traders and of some count entries, not traders: from `_offset` to `_limit`, both included. A
    /// list always has that many entries; where less is open, the last ones are empty.
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
        (Id[] memory ids, uint256 count) = _openIds(_traders, COUNTER_TRADE_INDEX, _offset, _limit);
        trades = new Trade[](ids.length);
        for (uint256 i; i < count; ++i) trades[i] = appStorage().trades[ids[i].user][ids[i].index];
    }

    function getAllTradeInfosForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (TradeInfo[] memory infos) {
        (Id[] memory ids, uint256 count) = _openIds(_traders, COUNTER_TRADE_INDEX, _offset, _limit);
        infos = new TradeInfo[](ids.length);
        for (uint256 i; i < count; ++i) infos[i] = appStorage().tradeInfos[ids[i].user][ids[i].index];
    }

    function getAllTradesLiquidationParamsForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (GroupLiquidationParams[] memory params) {
        (Id[] memory ids, uint256 count) = _openIds(_traders, COUNTER_TRADE_INDEX, _offset, _limit);
        params = new GroupLiquidationParams[](ids.length);
        for (uint256 i; i < count; ++i) params[i] = appStorage().liquidationParams[ids[i].user][ids[i].index];
    }

    function getAllPendingOrdersForTraders(
        address[] memory _traders,
        uint256 _offset,
        uint256 _limit
    ) public view returns (PendingOrder[] memory orders) {
        (Id[] memory ids, uint256 count) = _openIds(_traders, COUNTER_PENDING_ORDER, _offset, _limit);
        orders = new PendingOrder[](ids.length);
        for (uint256 i; i < count; ++i) orders[i] = appStorage().pendingOrders[ids[i].user][ids[i].index];
    }

    function _only(address _trader) private pure returns (address[] memory traders) {
        traders = new address[](1);
        traders[0] = _trader;
    }

    function _openCount(address _trader, uint8 _type) private view returns (uint256) {
        return appStorage().counters[_trader][_type].openCount;
    }

    /// @return ids entries `_offset` to `_limit` of what these traders have open; a zero address has nothing
    /// @return count number of entries that are not empty
    function _openIds(
        address[] memory _traders,
        uint8 _type,
        uint256 _offset,
        uint256 _limit
    ) private view returns (Id[] memory ids, uint256 count) {
        ids = new Id[](_limit - _offset + 1);
        uint256 entry;
        for (uint256 i; i < _traders.length && entry <= _limit; ++i) {
            uint256 openCount = _openCount(_traders[i], _type);
            if (entry + openCount <= _offset) {
                entry += openCount;
                continue;
            }
            uint32[] storage open = _type == COUNTER_TRADE_INDEX
                ? appStorage().openTradeIndices[_traders[i]]
                : appStorage().openPendingIndices[_traders[i]];
            for (uint256 j; j < openCount && entry <= _limit; ++j) {
                if (entry++ >= _offset) ids[count++] = Id(_traders[i], open[j]);
            }
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

    /// @dev Looks at the traders from `_offset` to `_limit`, both included; a limit of 0 or beyond the last means the
    /// last. Those without anything open are left out, and the list is filled up with zero addresses.
    function getTraders(uint32 _offset, uint32 _limit) external view returns (address[] memory traders) {
        address[] storage all = appStorage().traders;
        if (all.length == 0) return traders;
        if (_limit == 0 || _limit >= all.length) _limit = uint32(all.length - 1);
        traders = new address[](_limit - _offset + 1);
        uint256 count;
        for (uint256 i = _offset; i <= _limit; ++i) {
            address trader = all[i];
            bool isActive = _openCount(trader, COUNTER_TRADE_INDEX) > 0 || _openCount(trader, COUNTER_PENDING_ORDER) > 0;
            if (isActive) traders[count++] = trader;
        }
    }

    function getTradersCount() external view returns (uint256) {
        return appStorage().traders.length;
    }

    function getLookbackFromBlock(address _trader, uint32 _index, uint8 _orderType) external view returns (uint32) {
        return Records.lookbackFromBlock(_trader, _index, _orderType);
    }
}
