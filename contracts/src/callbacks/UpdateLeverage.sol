// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";
import "./Effective.sol";

/// @notice The oracle's answer to a leverage update: the position keeps its size, collateral moves in or out.
library UpdateLeverage {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = Records.trade(o.trade.user, o.trade.index);
        bool isIncrease = o.trade.leverage > t.leverage;
        uint256 delta = o.trade.collateralAmount;
        UpdateLeverageValues memory v;
        uint8 cancelReason = CANCEL_NO_TRADE;
        if (t.isOpen) {
            Trade memory next = changed(t, o.trade, isIncrease);
            v = quote(t, next, a.current);
            cancelReason = reason(t, v, a.current, isIncrease);
            if (cancelReason == CANCEL_NONE) register(t, next, v, delta, a.current);
            else Closing.chargeRefusal(t);
        }
        if (cancelReason != CANCEL_NONE && !isIncrease) Funds.pay(t.collateralIndex, t.user, delta);
        emit LeverageUpdateExecuted(
            a.orderId,
            isIncrease,
            cancelReason,
            t.collateralIndex,
            t.user,
            t.pairIndex,
            t.index,
            a.current,
            delta,
            v
        );
    }

    function changed(
        Trade memory t,
        Trade memory request,
        bool isIncrease
    ) private view returns (Trade memory next) {
        next = Records.trade(t.user, t.index);
        next.leverage = request.leverage;
        next.collateralAmount = isIncrease
            ? t.collateralAmount - request.collateralAmount
            : t.collateralAmount + request.collateralAmount;
    }

    function quote(
        Trade memory t,
        Trade memory next,
        uint64 price
    ) private view returns (UpdateLeverageValues memory v) {
        v.newLeverage = next.leverage;
        v.newCollateralAmount = next.collateralAmount;
        v.govFeeCollateral = Fees.minGov(t.collateralIndex, t.pairIndex);
        v.existingLiqPrice = Liquidation.ofTrade(t, price);
        v.newLiqPrice = Liquidation.price(
            Liquidation.input(
                next,
                appStorage().liquidationParams[t.user][t.index],
                price,
                int256(v.govFeeCollateral),
                false
            )
        );
        v.newEffectiveLeverage = Effective.leverage(next, price, v.govFeeCollateral);
        v.totalTradeAvailableCollateralInDiamond = Funds.held(t);
        v.availableCollateralInDiamond = v.totalTradeAvailableCollateralInDiamond;
    }

    function reason(
        Trade memory t,
        UpdateLeverageValues memory v,
        uint64 price,
        bool isIncrease
    ) private view returns (uint8) {
        if (
            Liquidation.isReached(v.existingLiqPrice, t.long, price) ||
            Liquidation.isReached(v.newLiqPrice, t.long, price)
        ) return CANCEL_LIQ_REACHED;
        if (isIncrease && v.newEffectiveLeverage > Pairs.maxLeverage(t.pairIndex)) return CANCEL_MAX_LEVERAGE;
        return CANCEL_NONE;
    }

    function register(
        Trade memory t,
        Trade memory next,
        UpdateLeverageValues memory v,
        uint256 delta,
        uint64 price
    ) private {
        HoldingFees.store(t.collateralIndex, t.pairIndex, price);
        HoldingFees.realize(t, price);
        if (next.collateralAmount < t.collateralAmount) {
            Funds.release(t, delta);
            Funds.pay(t.collateralIndex, t.user, delta);
        }
        Exposure.change(t, next);
        Records.updatePosition(next, UPDATE_LEVERAGE, false);
        Funds.chargeTrade(next, v.govFeeCollateral);
        Funds.chargeGov(t.user, t.collateralIndex, v.govFeeCollateral);
    }
}
