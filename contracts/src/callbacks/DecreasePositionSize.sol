// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";

/// @notice The oracle's answer to a partial close, by collateral or by leverage.
/// @dev Rule of this Diamond (the facts give none): holding fees of the whole trade are realised first and, like the
/// fees paid before, stay with what remains. The closed part settles its own raw PnL and closing fee: by collateral
/// the trader gets the part's collateral plus that net PnL, by leverage only the net PnL. A negative result pays nothing
/// and becomes realised PnL of what remains.
library DecreasePositionSize {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = Records.trade(o.trade.user, o.trade.index);
        DecreasePositionSizeValues memory v;
        uint8 cancelReason = CANCEL_NO_TRADE;
        if (t.isOpen) {
            (Trade memory part, Trade memory rest) = split(t, o.trade);
            v = quote(t, part, rest, a.current);
            cancelReason = reason(t, v, o.trade.openPrice, a.current);
            if (cancelReason == CANCEL_NONE) register(t, part, rest, v, a.current);
            else Closing.chargeRefusal(t);
        }
        emitExecuted(a, o, t, v, cancelReason);
    }

    function split(
        Trade memory t,
        Trade memory request
    ) private view returns (Trade memory part, Trade memory rest) {
        part = Records.trade(t.user, t.index);
        rest = Records.trade(t.user, t.index);
        if (request.leverage > 0) {
            part.leverage = request.leverage;
            part.positionSizeToken = (t.positionSizeToken * request.leverage) / t.leverage;
            rest.leverage = t.leverage - request.leverage;
        } else {
            part.collateralAmount = request.collateralAmount;
            part.positionSizeToken = uint160(
                (uint256(t.positionSizeToken) * request.collateralAmount) / t.collateralAmount
            );
            rest.collateralAmount = t.collateralAmount - request.collateralAmount;
        }
        rest.positionSizeToken = t.positionSizeToken - part.positionSizeToken;
    }

    function quote(
        Trade memory t,
        Trade memory part,
        Trade memory rest,
        uint64 price
    ) private view returns (DecreasePositionSizeValues memory v) {
        v.isLeverageUpdate = part.leverage != t.leverage;
        v.positionSizeCollateralDelta = Amounts.size(part);
        v.existingPositionSizeCollateral = Amounts.size(t);
        v.closingFeeCollateral = Fees.trading(
            t.collateralIndex,
            t.pairIndex,
            v.positionSizeCollateralDelta,
            t.isCounterTrade
        );
        v.priceImpact = PriceImpact.onClose(part, price, false);
        if (rawPnl(part, v.priceImpact) > int256(v.closingFeeCollateral)) {
            v.priceImpact = PriceImpact.onClose(part, price, true);
        }
        v.existingPnlPercent = TradeValue.pnlP(t, v.priceImpact.priceAfterImpact);
        v.partialRawPnlCollateral = rawPnl(part, v.priceImpact);
        v.partialNetPnlCollateral = v.partialRawPnlCollateral - int256(v.closingFeeCollateral);
        v.totalAvailableCollateralInDiamond = Funds.held(t);
        int256 due = v.partialNetPnlCollateral;
        if (!v.isLeverageUpdate) due += int256(uint256(part.collateralAmount));
        if (due > 0) v.collateralSentToTrader = due;
        else v.pnlToRealizeCollateral = due;
        v.availableCollateralInDiamond =
            int256(v.totalAvailableCollateralInDiamond) -
            v.collateralSentToTrader -
            int256(v.closingFeeCollateral);
        v.newCollateralAmount = rest.collateralAmount;
        v.newLeverage = rest.leverage;
        quoteRisk(t, rest, v, price);
    }

    function rawPnl(Trade memory part, TradePriceImpact memory impact) private pure returns (int256) {
        int256 profitP = TradeValue.pnlP(part, impact.priceAfterImpact);
        return (int256(uint256(part.collateralAmount)) * profitP) / int256(P_10) / 100;
    }

    function quoteRisk(
        Trade memory t,
        Trade memory rest,
        DecreasePositionSizeValues memory v,
        uint64 price
    ) private view {
        v.existingLiqPrice = Liquidation.ofTrade(t, price);
        GroupLiquidationParams memory params = appStorage().liquidationParams[t.user][t.index];
        v.newLiqPrice = Liquidation.price(Liquidation.input(rest, params, price, -v.pnlToRealizeCollateral, false));
    }

    function reason(
        Trade memory t,
        DecreasePositionSizeValues memory v,
        uint256 expected,
        uint64 price
    ) private view returns (uint8) {
        if (Closing.isSlipped(t, v.priceImpact.priceAfterImpact, expected)) return CANCEL_SLIPPAGE;
        if (
            Liquidation.isReached(v.existingLiqPrice, t.long, price) ||
            Liquidation.isReached(v.newLiqPrice, t.long, price)
        ) return CANCEL_LIQ_REACHED;
        return CANCEL_NONE;
    }

    function register(
        Trade memory t,
        Trade memory part,
        Trade memory rest,
        DecreasePositionSizeValues memory v,
        uint64 price
    ) private {
        bool isPnlPositive = v.partialNetPnlCollateral > 0;
        HoldingFees.store(t.collateralIndex, t.pairIndex, price);
        HoldingFees.realize(t, price);
        Exposure.change(t, rest);
        PriceImpact.addVolume(part, v.positionSizeCollateralDelta, false, isPnlPositive);
        settle(t, part, v);
        Records.updatePosition(rest, MARKET_PARTIAL_CLOSE, isPnlPositive);
        Funds.distribute(t, v.positionSizeCollateralDelta, MARKET_PARTIAL_CLOSE, v.closingFeeCollateral);
    }

    function settle(Trade memory t, Trade memory part, DecreasePositionSizeValues memory v) private {
        uint256 released = v.isLeverageUpdate ? 0 : part.collateralAmount;
        Funds.release(t, released);
        uint256 needed = uint256(v.collateralSentToTrader) + v.closingFeeCollateral;
        if (needed > released) Funds.fromVault(t.collateralIndex, needed - released);
        else Funds.toVault(t.collateralIndex, released - needed);
        Funds.pay(t.collateralIndex, t.user, uint256(v.collateralSentToTrader));

        UiRealizedPnlData storage ui = appStorage().uiRealizedPnl[t.user][t.index];
        ui.realizedPnlPartialCloseCollateral += int128(v.partialRawPnlCollateral);
        ui.realizedTradingFeesCollateral += uint128(v.closingFeeCollateral);
        if (v.pnlToRealizeCollateral < 0) {
            TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
            data.realizedPnlCollateral += int128(v.pnlToRealizeCollateral);
            emit PnlRealizedOnOpenTrade(t.user, t.index, v.pnlToRealizeCollateral, data.realizedPnlCollateral);
        }
    }

    function emitExecuted(
        AggregatorAnswer memory a,
        PendingOrder memory o,
        Trade memory t,
        DecreasePositionSizeValues memory v,
        uint8 cancelReason
    ) private {
        emit PositionSizeDecreaseExecuted(
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
