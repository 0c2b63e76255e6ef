// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Liquidation.sol";

/// @notice Trades and pending orders: stored, changed and closed here and nowhere else.
library Records {
    // Trades

    function trade(address user, uint32 index) internal view returns (Trade memory) {
        return appStorage().trades[user][index];
    }

    /// @notice A resting order gets the user's next trade index.
    function storeOrder(Trade memory t, uint16 maxSlippageP) internal returns (Trade memory) {
        t = writeTrade(t, maxSlippageP);
        emitStored(t);
        return t;
    }

    /// @dev `TradeStored` of a position comes after the events of its fees and open interest, which need it stored. It
    /// tells the info as it was before them: without the time and the collateral's price that they note.
    function emitStored(Trade memory t) internal {
        TradeInfo memory info = appStorage().tradeInfos[t.user][t.index];
        info.lastOiUpdateTs = 0;
        info.collateralPriceUsd = 0;
        emit TradeStored(t.user, t.index, t, info, appStorage().liquidationParams[t.user][t.index]);
    }

    function writeTrade(Trade memory t, uint16 maxSlippageP) internal returns (Trade memory) {
        AppStorage storage s = appStorage();
        t.index = nextIndex(t.user, COUNTER_TRADE_INDEX);
        t.isOpen = true;
        s.openTradeIndices[t.user].push(t.index);

        uint32 current = uint32(block.number);
        TradeInfo memory info = TradeInfo({
            createdBlock: current,
            tpLastUpdatedBlock: current,
            slLastUpdatedBlock: current,
            maxSlippageP: maxSlippageP,
            lastOiUpdateTs: 0,
            collateralPriceUsd: 0,
            contractsVersion: VERSION_V10,
            lastPosIncreaseBlock: current,
            __placeholder: 0
        });
        GroupLiquidationParams memory params = Pairs.liquidationParams(t.pairIndex);
        t.sl = Liquidation.clampSl(t, params);
        s.trades[t.user][t.index] = t;
        s.tradeInfos[t.user][t.index] = info;
        s.liquidationParams[t.user][t.index] = params;
        return t;
    }

    function closeTrade(Trade memory t, bool isPnlPositive) internal {
        AppStorage storage s = appStorage();
        s.trades[t.user][t.index].isOpen = false;
        s.counters[t.user][COUNTER_TRADE_INDEX].openCount--;
        remove(s.openTradeIndices[t.user], t.index);
        emit TradeClosed(t.user, t.index, isPnlPositive);
    }

    function updateTp(Trade memory t, uint64 tp) internal {
        appStorage().trades[t.user][t.index].tp = tp;
        appStorage().tradeInfos[t.user][t.index].tpLastUpdatedBlock = uint32(block.number);
        emit TradeTpUpdated(t.user, t.index, tp);
    }

    function updateSl(Trade memory t, uint64 sl) internal {
        t.sl = sl;
        sl = Liquidation.clampSl(t, appStorage().liquidationParams[t.user][t.index]);
        appStorage().trades[t.user][t.index].sl = sl;
        appStorage().tradeInfos[t.user][t.index].slLastUpdatedBlock = uint32(block.number);
        emit TradeSlUpdated(t.user, t.index, sl);
    }

    function updateOpenOrder(Trade memory t, uint16 maxSlippageP) internal {
        Trade storage stored = appStorage().trades[t.user][t.index];
        t.sl = Liquidation.clampSl(t, appStorage().liquidationParams[t.user][t.index]);
        stored.openPrice = t.openPrice;
        stored.tp = t.tp;
        stored.sl = t.sl;
        TradeInfo storage info = appStorage().tradeInfos[t.user][t.index];
        info.maxSlippageP = maxSlippageP;
        info.createdBlock = uint32(block.number);
        info.tpLastUpdatedBlock = uint32(block.number);
        info.slLastUpdatedBlock = uint32(block.number);
        emit OpenOrderDetailsUpdated(t.user, t.index, t.openPrice, t.tp, t.sl, maxSlippageP);
    }

    /// @notice Writes a changed position (collateral, leverage, open price, tokens); its stop loss is clamped anew. From
    /// now on triggers look back no further than this block: prices from before the change say nothing about it.
    function updatePosition(Trade memory t, uint8 orderType, bool isPnlPositive) internal {
        AppStorage storage s = appStorage();
        TradeInfo storage info = s.tradeInfos[t.user][t.index];
        info.createdBlock = uint32(block.number);
        info.tpLastUpdatedBlock = uint32(block.number);
        info.slLastUpdatedBlock = uint32(block.number);
        if (orderType == MARKET_PARTIAL_OPEN) {
            s.liquidationParams[t.user][t.index] = Pairs.liquidationParams(t.pairIndex);
            info.lastPosIncreaseBlock = uint32(block.number);
        }
        t.sl = Liquidation.clampSl(t, s.liquidationParams[t.user][t.index]);
        s.trades[t.user][t.index] = t;
        emit TradePositionUpdated(
            t.user,
            t.index,
            t.collateralAmount,
            t.leverage,
            t.openPrice,
            t.sl,
            t.positionSizeToken,
            orderType,
            isPnlPositive
        );
    }

    // Pending orders

    function storePendingOrder(PendingOrder memory o) internal returns (PendingOrder memory) {
        AppStorage storage s = appStorage();
        o.index = nextIndex(o.user, COUNTER_PENDING_ORDER);
        o.isOpen = true;
        o.createdBlock = uint32(block.number);
        s.openPendingIndices[o.user].push(o.index);
        s.pendingOrders[o.user][o.index] = o;
        if (o.orderType != MARKET_OPEN) {
            s.tradePendingOrderBlock[o.trade.user][o.trade.index][o.orderType] = block.number;
        }
        emit PendingOrderStored(o);
        return o;
    }

    function closePendingOrder(PendingOrder memory o) internal {
        AppStorage storage s = appStorage();
        s.pendingOrders[o.user][o.index].isOpen = false;
        s.counters[o.user][COUNTER_PENDING_ORDER].openCount--;
        remove(s.openPendingIndices[o.user], o.index);
        if (o.orderType != MARKET_OPEN) {
            // A later trigger of the same kind may have taken over after this one timed out.
            mapping(uint8 => uint256) storage orderBlock = s.tradePendingOrderBlock[o.trade.user][o.trade.index];
            if (orderBlock[o.orderType] == o.createdBlock) delete orderBlock[o.orderType];
        }
        emit PendingOrderClosed(Id(o.user, o.index));
    }

    /// @return whether a trigger sent in `orderBlock` still waits for its answer
    function isTriggerActive(uint256 orderBlock) internal view returns (bool) {
        return orderBlock > 0 && block.number - orderBlock < appStorage().triggerTimeoutBlocks;
    }

    function requireNoTrigger(address user, uint32 index, uint8 orderType) internal view {
        if (isTriggerActive(appStorage().tradePendingOrderBlock[user][index][orderType])) revert PendingTrigger();
    }

    function requireNoMarketOrder(address user, uint32 index) internal view {
        mapping(uint8 => uint256) storage orderBlock = appStorage().tradePendingOrderBlock[user][index];
        if (orderBlock[MARKET_CLOSE] > 0) revert ConflictingPendingOrder(MARKET_CLOSE);
        for (uint8 orderType = UPDATE_LEVERAGE; orderType <= MARKET_PARTIAL_CLOSE; ++orderType) {
            if (orderBlock[orderType] > 0) revert ConflictingPendingOrder(orderType);
        }
    }

    function lookbackFromBlock(address user, uint32 index, uint8 orderType) internal view returns (uint32) {
        TradeInfo storage info = appStorage().tradeInfos[user][index];
        if (orderType == TP_CLOSE) return info.tpLastUpdatedBlock;
        if (orderType == SL_CLOSE) return info.slLastUpdatedBlock;
        return info.createdBlock;
    }

    // Counters

    function nextIndex(address user, uint8 counterType) private returns (uint32 index) {
        AppStorage storage s = appStorage();
        if (!s.traderStored[user]) {
            s.traderStored[user] = true;
            s.traders.push(user);
        }
        Counter storage counter = s.counters[user][counterType];
        index = counter.currentIndex++;
        counter.openCount++;
    }

    /// @dev Keeps the ascending order, so that lists read in the order of creation.
    function remove(uint32[] storage indices, uint32 index) private {
        uint256 last = indices.length - 1;
        uint256 i;
        while (indices[i] != index) ++i;
        for (; i < last; ++i) indices[i] = indices[i + 1];
        indices.pop();
    }
}
