// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";
import "./Effective.sol";

/// @notice The oracle's answer to a size increase, by collateral and leverage or by leverage only.
library IncreasePositionSize {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = Records.trade(o.trade.user, o.trade.index);
        IncreasePositionSizeValues memory v;
        uint8 cancelReason = CANCEL_NO_TRADE;
        if (t.isOpen) {
            Funds.refreshTier(t);
            Trade memory next = Records.trade(t.user, t.index);
            v = quote(t, next, o.trade, a.current);
            cancelReason = reason(t, next, v, o, a.current);
            if (cancelReason == CANCEL_NONE) register(t, next, v, a.current);
            else Closing.chargeRefusal(t);
        }
        if (cancelReason != CANCEL_NONE) Funds.pay(t.collateralIndex, t.user, o.trade.collateralAmount);
        emitExecuted(a, o, t, v, cancelReason);
    }

    /// @dev Writes the changed trade into `next`.
    function quote(
        Trade memory t,
        Trade memory next,
        Trade memory request,
        uint64 price
    ) private view returns (IncreasePositionSizeValues memory v) {
        uint256 base = request.collateralAmount > 0 ? request.collateralAmount : t.collateralAmount;
        v.existingPositionSizeCollateral = Amounts.size(t);
        v.newCollateralAmount = uint256(t.collateralAmount) + request.collateralAmount;
        uint256 asked = v.existingPositionSizeCollateral + Amounts.size(base, request.leverage);
        v.newLeverage = (asked * 1e3) / v.newCollateralAmount;
        // The leverage is truncated, and with it the size.
        v.newPositionSizeCollateral = Amounts.size(v.newCollateralAmount, v.newLeverage);
        if (v.newPositionSizeCollateral <= v.existingPositionSizeCollateral) return v;
        v.positionSizeCollateralDelta = v.newPositionSizeCollateral - v.existingPositionSizeCollateral;
        v.priceImpact = PriceImpact.onOpen(t, v.positionSizeCollateralDelta, price);
        v.openingFeesCollateral = Fees.trading(t, v.positionSizeCollateralDelta);
        v.isCounterTradeValidated = t.isCounterTrade;
        quoteOpenPrice(t, v);

        next.collateralAmount = uint120(v.newCollateralAmount);
        // Beyond its field it stays at the largest one, which no pair allows.
        next.leverage = v.newLeverage > type(uint24).max ? type(uint24).max : uint24(v.newLeverage);
        next.openPrice = uint64(v.newOpenPrice);
        next.positionSizeToken = uint160(t.positionSizeToken + v.priceImpact.positionSizeToken);
        quoteRisk(t, next, v, price);
    }

    /// @notice The old size with its PnL at the execution price and the new part there, averaged against the trader.
    function quoteOpenPrice(Trade memory t, IncreasePositionSizeValues memory v) private pure {
        v.existingPnlCollateral =
            (int256(uint256(t.collateralAmount)) * TradeValue.pnlP(t, v.priceImpact.priceAfterImpact)) /
            int256(P_10) /
            100;
        int256 pnl = t.long ? v.existingPnlCollateral : -v.existingPnlCollateral;
        v.oldPosSizePlusPnlCollateral = uint256(int256(v.existingPositionSizeCollateral) + pnl);
        uint256 weight = v.oldPosSizePlusPnlCollateral + v.positionSizeCollateralDelta;
        uint256 sum = v.oldPosSizePlusPnlCollateral *
            t.openPrice +
            v.positionSizeCollateralDelta *
            v.priceImpact.priceAfterImpact;
        v.newOpenPrice = (t.long ? sum + weight - 1 : sum) / weight;
    }

    function quoteRisk(
        Trade memory t,
        Trade memory next,
        IncreasePositionSizeValues memory v,
        uint64 price
    ) private view {
        v.existingLiqPrice = Liquidation.ofTrade(t, price);
        v.newLiqPrice = Liquidation.price(
            Liquidation.input(
                next,
                Pairs.liquidationParams(t.pairIndex),
                price,
                int256(v.openingFeesCollateral),
                false
            )
        );
        v.newEffectiveLeverage = Effective.leverage(next, price, v.openingFeesCollateral);
    }

    function reason(
        Trade memory t,
        Trade memory next,
        IncreasePositionSizeValues memory v,
        PendingOrder memory o,
        uint64 price
    ) private view returns (uint8) {
        if (v.positionSizeCollateralDelta == 0) return CANCEL_WRONG_TRADE;
        if (Opening.isSlipped(t.long, v.priceImpact.priceAfterImpact, o.trade.openPrice, o.maxSlippageP)) {
            return CANCEL_SLIPPAGE;
        }
        if (t.tp > 0 && (t.long ? price >= t.tp : price <= t.tp)) return CANCEL_TP_REACHED;
        if (t.sl > 0 && (t.long ? price <= t.sl : price >= t.sl)) return CANCEL_SL_REACHED;
        if (
            Liquidation.isReached(v.existingLiqPrice, t.long, price) ||
            Liquidation.isReached(v.newLiqPrice, t.long, price)
        ) return CANCEL_LIQ_REACHED;
        if (!Exposure.isWithinLimits(t, v.positionSizeCollateralDelta, v.priceImpact.positionSizeToken, price)) {
            return CANCEL_EXPOSURE_LIMITS;
        }
        if (PriceImpact.isTooHigh(v.priceImpact, t.long, next.leverage)) return CANCEL_PRICE_IMPACT;
        if (v.newEffectiveLeverage > Pairs.maxLeverage(t.pairIndex)) return CANCEL_MAX_LEVERAGE;
        return CANCEL_NONE;
    }

    function register(
        Trade memory t,
        Trade memory next,
        IncreasePositionSizeValues memory v,
        uint64 price
    ) private {
        Positions.changed(
            t,
            Positions.Change(v.positionSizeCollateralDelta, v.priceImpact.positionSizeToken, true, false, price)
        );
        Records.updatePosition(next, MARKET_PARTIAL_OPEN, false);
        Funds.chargeTrade(next, v.openingFeesCollateral);
        Funds.distribute(next, v.positionSizeCollateralDelta, MARKET_PARTIAL_OPEN, v.openingFeesCollateral);
    }

    function emitExecuted(
        AggregatorAnswer memory a,
        PendingOrder memory o,
        Trade memory t,
        IncreasePositionSizeValues memory v,
        uint8 cancelReason
    ) private {
        emit PositionSizeIncreaseExecuted(
            a.orderId,
            cancelReason,
            t.collateralIndex,
            t.user,
            t.pairIndex,
            t.index,
            t.long,
            a.current,
            Amounts.collateralPriceUsd(t.collateralIndex),
            o.trade.collateralAmount,
            o.trade.leverage,
            v
        );
    }
}
