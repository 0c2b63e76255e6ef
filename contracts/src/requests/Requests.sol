// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Funds.sol";
import "./OracleRequest.sol";
import "./PositionRequests.sol";

/// @notice Orders: placed, edited, cancelled, triggered, reclaimed. Checks come in the live Diamond's order.
library Requests {
    struct OrderTerms {
        uint64 price;
        uint64 tp;
        uint64 sl;
        uint16 maxSlippageP;
    }

    function openTrade(address sender, Trade memory t, uint16 maxSlippageP) internal {
        t.user = sender;
        t.index = 0;
        t.isOpen = false;
        t.positionSizeToken = 0;
        t.__placeholder = 0;
        // Nothing below can be computed without these two; the live Diamond meets them later.
        if (appStorage().collaterals[t.collateralIndex].precision == 0) revert InvalidCollateralIndex();
        if (!Pairs.isListed(t.pairIndex)) revert TradePairNotListed();
        checkSize(t);
        Funds.pull(t.collateralIndex, sender, t.collateralAmount);
        if (Amounts.size(t) == 0) revert TradePositionSizeZero();
        if (!appStorage().collaterals[t.collateralIndex].isActive) revert InvalidCollateralIndex();
        checkTerms(t, maxSlippageP);
        if (t.tradeType == TRADE) return requestMarketOpen(t, maxSlippageP);

        t = Records.storeOrder(t, maxSlippageP);
        emit OpenOrderPlaced(t.user, t.pairIndex, t.index);
    }

    function checkSize(Trade memory t) private view {
        if (t.tradeType > STOP) revert WrongTradeType();
        uint256 minCollateral = Fees.minCollateral(t.collateralIndex, t.pairIndex, MIN_COLLATERAL_FEES_ON_OPEN);
        if (t.collateralAmount < minCollateral) revert InsufficientCollateral();
        if (t.leverage < Pairs.minLeverage(t.pairIndex) || t.leverage > Pairs.maxLeverage(t.pairIndex)) {
            revert WrongLeverage();
        }
        uint256 counterMaxLeverage = appStorage().counterTradeSettings[t.pairIndex].maxLeverage;
        if (t.isCounterTrade && t.leverage > counterMaxLeverage) revert WrongTradeType();
        if (t.openPrice == 0) revert TradeOpenPriceZero(); // there is no impact on no price
        TradePriceImpact memory impact = PriceImpact.onOpen(t, Amounts.size(t), t.openPrice);
        if (PriceImpact.isTooHigh(impact, t.long, t.leverage)) revert PriceImpactTooHigh();
    }

    function checkTerms(Trade memory t, uint16 maxSlippageP) private pure {
        if (t.openPrice == 0) revert TradeOpenPriceZero();
        if (t.tp > 0 && (t.long ? t.tp <= t.openPrice : t.tp >= t.openPrice)) revert TradeTpInvalid();
        if (t.sl > 0 && (t.long ? t.sl >= t.openPrice : t.sl <= t.openPrice)) revert TradeSlInvalid();
        if (maxSlippageP == 0) revert MaxSlippageZero();
    }

    function requestMarketOpen(Trade memory t, uint16 maxSlippageP) private {
        PendingOrder memory o;
        o.trade = t;
        o.user = t.user;
        o.orderType = MARKET_OPEN;
        o.maxSlippageP = maxSlippageP;
        Id memory id = OracleRequest.send(o, Amounts.size(t));
        emit MarketOrderInitiated(id, t.user, t.pairIndex, true);
    }

    function requireNoOpenTrigger(Trade memory t) private view {
        if (t.tradeType != TRADE) Records.requireNoTrigger(t.user, t.index, t.tradeType == LIMIT ? LIMIT_OPEN : STOP_OPEN);
    }

    function updateOpenOrder(address sender, uint32 index, OrderTerms memory terms) internal {
        Trade memory t = Records.trade(sender, index);
        requireNoOpenTrigger(t);
        if (!t.isOpen) revert DoesntExist();
        if (t.tradeType == TRADE) revert WrongTradeType();
        t.openPrice = terms.price;
        t.tp = terms.tp;
        t.sl = terms.sl;
        checkTerms(t, terms.maxSlippageP);
        Records.updateOpenOrder(t, terms.maxSlippageP);
        emit OpenLimitUpdated(sender, t.pairIndex, index, terms.price, terms.tp, terms.sl, terms.maxSlippageP);
    }

    function cancelOpenOrder(address sender, uint32 index) internal {
        Trade memory t = Records.trade(sender, index);
        if (t.isOpen && t.tradeType == TRADE) revert WrongTradeType();
        requireNoOpenTrigger(t);
        if (!t.isOpen) revert DoesntExist();
        Records.closeTrade(t, false);
        Funds.pay(t.collateralIndex, sender, t.collateralAmount);
        emit OpenLimitCanceled(sender, t.pairIndex, index);
    }

    function trigger(address caller, uint8 orderType, address trader, uint32 index) internal {
        if (orderType < LIMIT_OPEN || orderType > LIQ_CLOSE) revert WrongOrderType();
        Trade memory t = Records.trade(trader, index);
        if (!t.isOpen) revert NoTrade();
        Records.requireNoTrigger(trader, index, orderType);
        checkTriggerType(t, orderType);
        bool byPass = appStorage().byPassTriggerLink[caller];
        if (!byPass && !IToken(appStorage().linkToken).transferFrom(caller, address(this), TRIGGER_LINK_FEE)) {
            revert InsufficientBalance();
        }
        PendingOrder memory o;
        o.trade = t;
        o.user = caller;
        o.orderType = orderType;
        Id memory id = OracleRequest.send(o, Amounts.size(t));
        emit TriggerOrderInitiated(id, trader, t.pairIndex, byPass);
    }

    function checkTriggerType(Trade memory t, uint8 orderType) private pure {
        if (orderType == SL_CLOSE && t.sl == 0) revert NoSl();
        if (orderType == TP_CLOSE && t.tp == 0) revert NoTp();
        uint8 expected = orderType == LIMIT_OPEN ? LIMIT : orderType == STOP_OPEN ? STOP : TRADE;
        if (t.tradeType != expected) revert WrongTradeType();
    }

    /// @notice Ends a market request the oracles never answered, and returns the collateral it brought.
    function cancelAfterTimeout(address sender, uint32 orderIndex) internal {
        PendingOrder memory o = appStorage().pendingOrders[sender][orderIndex];
        if (!o.isOpen) revert NoOrder();
        if (Funds.isTrigger(o.orderType)) revert WrongOrderType();
        if (block.number < uint256(o.createdBlock) + appStorage().marketOrdersTimeoutBlocks) revert WaitTimeout();

        Records.closePendingOrder(o);
        uint256 returned = broughtCollateral(o);
        Id memory id = Id(sender, orderIndex);
        if (returned > 0) {
            Funds.pay(o.trade.collateralIndex, sender, returned);
            emit CollateralReturnedAfterTimeout(id, o.trade.collateralIndex, sender, returned);
        }
        emit ChainlinkCallbackTimeout(id, o.trade.pairIndex);
    }

    function broughtCollateral(PendingOrder memory o) private view returns (uint256) {
        if (o.orderType == MARKET_OPEN || o.orderType == MARKET_PARTIAL_OPEN) return o.trade.collateralAmount;
        if (o.orderType != UPDATE_LEVERAGE) return 0;
        bool isIncrease = o.trade.leverage > Records.trade(o.trade.user, o.trade.index).leverage;
        return isIncrease ? 0 : o.trade.collateralAmount;
    }
}
