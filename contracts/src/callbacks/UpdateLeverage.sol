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
            Funds.refreshTier(t);
            Trade memory next = changed(t, o.trade, isIncrease);
            v = quote(t, next, a.current, isIncrease);
            cancelReason = reason(t, v, a.current, isIncrease);
            if (cancelReason == CANCEL_NONE) register(t, next, v, delta);
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
        uint64 price,
        bool isIncrease
    ) private view returns (UpdateLeverageValues memory v) {
        v.newLeverage = next.leverage;
        v.newCollateralAmount = next.collateralAmount;
        v.govFeeCollateral = Fees.minGov(t);
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
        if (!isIncrease) return v;
        v.newEffectiveLeverage = Effective.leverage(next, price, v.govFeeCollateral);
        v.totalTradeAvailableCollateralInDiamond = Funds.held(t);
        uint256 freed = t.collateralAmount - next.collateralAmount;
        v.availableCollateralInDiamond = freed < v.totalTradeAvailableCollateralInDiamond
            ? freed
            : v.totalTradeAvailableCollateralInDiamond;
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

    /// @dev Neither holding fees nor open interest are touched: the size stays, but for what rounding takes.
    function register(
        Trade memory t,
        Trade memory next,
        UpdateLeverageValues memory v,
        uint256 delta
    ) private {
        Records.updatePosition(next, UPDATE_LEVERAGE, false);
        if (next.collateralAmount < t.collateralAmount) {
            Funds.transferValue(t, int256(delta), int256(v.availableCollateralInDiamond));
            Funds.coverShortfall(t, next.collateralAmount);
        }
        Funds.chargeTrade(next, v.govFeeCollateral);
        Funds.chargeGov(t.user, t.collateralIndex, v.govFeeCollateral);
    }
}
