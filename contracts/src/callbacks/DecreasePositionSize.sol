// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Closing.sol";

/// @notice The oracle's answer to a partial close. By collateral the whole trade is scaled down: the trader gets that
/// part of the collateral and of the net PnL. By leverage only the net PnL is settled; a loss goes to the vault and
/// stays with the trade as realised PnL.
library DecreasePositionSize {
    function execute(AggregatorAnswer memory a, PendingOrder memory o) external {
        Trade memory t = Records.trade(o.trade.user, o.trade.index);
        DecreasePositionSizeValues memory v;
        uint8 cancelReason = CANCEL_NO_TRADE;
        if (t.isOpen) {
            Funds.refreshTier(t);
            v = quote(t, o.trade, a.current);
            cancelReason = reason(t, v, o.trade.openPrice, a.current);
            if (cancelReason == CANCEL_NONE) register(t, v, a.current);
            else Closing.chargeRefusal(t);
        }
        emitExecuted(a, o, t, v, cancelReason);
    }

    function quote(
        Trade memory t,
        Trade memory request,
        uint64 price
    ) private view returns (DecreasePositionSizeValues memory v) {
        v.isLeverageUpdate = request.leverage > 0;
        v.newCollateralAmount = t.collateralAmount - request.collateralAmount;
        v.newLeverage = t.leverage - request.leverage;
        v.existingPositionSizeCollateral = Amounts.size(t);
        v.positionSizeCollateralDelta = v.isLeverageUpdate
            ? Amounts.size(t.collateralAmount, request.leverage)
            : Amounts.size(request.collateralAmount, t.leverage);
        v.priceImpact = Closing.impactOf(t, v.positionSizeCollateralDelta, price, price);
        v.existingPnlPercent = TradeValue.pnlP(t, v.priceImpact.priceAfterImpact);
        v.closingFeeCollateral = Fees.trading(t, v.positionSizeCollateralDelta);
        quotePnl(t, v, price);
        v.collateralSentToTrader =
            int256(uint256(request.collateralAmount)) +
            v.partialNetPnlCollateral -
            int256(v.closingFeeCollateral);
        if (v.isLeverageUpdate) {
            int256 paid = v.collateralSentToTrader > 0 ? v.collateralSentToTrader : int256(0);
            v.pnlToRealizeCollateral = v.partialRawPnlCollateral - paid;
        }
        quoteRisk(t, v, price);
    }

    /// @notice The closed part of the PnL at the execution price (raw), and of that with all holding and realised fees.
    function quotePnl(Trade memory t, DecreasePositionSizeValues memory v, uint64 price) private view {
        int256 collateral = int256(uint256(t.collateralAmount));
        int256 part = int256(v.positionSizeCollateralDelta);
        int256 whole = int256(v.existingPositionSizeCollateral);
        v.partialRawPnlCollateral = (v.existingPnlPercent * collateral * part) / whole / int256(P_10) / 100;
        int256 worth = int256(Closing.valueOf(t, v.existingPnlPercent, 0, price));
        v.partialNetPnlCollateral = ((worth - collateral) * part) / whole;
    }

    function quoteRisk(Trade memory t, DecreasePositionSizeValues memory v, uint64 price) private view {
        v.existingLiqPrice = Liquidation.ofTrade(t, price);
        LiqPriceInput memory input = Liquidation.input(
            t,
            appStorage().liquidationParams[t.user][t.index],
            price,
            v.isLeverageUpdate ? int256(v.closingFeeCollateral) - v.pnlToRealizeCollateral : int256(0),
            false
        );
        input.collateral = v.newCollateralAmount;
        input.leverage = v.newLeverage;
        if (!v.isLeverageUpdate) {
            uint256 left = v.existingPositionSizeCollateral - v.positionSizeCollateralDelta;
            input.partialCloseMultiplier = (left * 1e18) / v.existingPositionSizeCollateral;
        }
        v.newLiqPrice = Liquidation.price(input);
    }

    function reason(
        Trade memory t,
        DecreasePositionSizeValues memory v,
        uint256 expected,
        uint64 price
    ) private view returns (uint8) {
        if (
            Liquidation.isReached(v.existingLiqPrice, t.long, price) ||
            Liquidation.isReached(v.newLiqPrice, t.long, price)
        ) return CANCEL_LIQ_REACHED;
        if (Closing.isSlipped(t, v.priceImpact.priceAfterImpact, expected)) return CANCEL_SLIPPAGE;
        // The fee of a small part may be more than the part.
        if (!v.isLeverageUpdate && v.collateralSentToTrader < 0) return CANCEL_WRONG_TRADE;
        return CANCEL_NONE;
    }

    function register(Trade memory t, DecreasePositionSizeValues memory v, uint64 price) private {
        bool isPnlPositive = v.existingPnlPercent > 0;
        Trade memory rest = Records.trade(t.user, t.index);
        rest.collateralAmount = v.newCollateralAmount;
        rest.leverage = v.newLeverage;
        rest.positionSizeToken -= uint160(v.priceImpact.positionSizeToken);
        // Rounding may leave another size than the closed part took.
        uint256 sizeDelta = v.existingPositionSizeCollateral - Amounts.size(rest);
        Positions.changed(
            t,
            Positions.Change(sizeDelta, v.priceImpact.positionSizeToken, false, isPnlPositive, price)
        );
        Records.updatePosition(rest, MARKET_PARTIAL_CLOSE, isPnlPositive);
        if (v.isLeverageUpdate) settleLeverage(t, v);
        else settleCollateral(t, v);
        keepUiPnl(t, v);
        Funds.distribute(t, v.positionSizeCollateralDelta, MARKET_PARTIAL_CLOSE, v.closingFeeCollateral);
    }

    /// @notice Pays the closed part from what the Diamond holds of it; the rest of the record stays with the trade.
    function settleCollateral(Trade memory t, DecreasePositionSizeValues memory v) private {
        v.totalAvailableCollateralInDiamond = Funds.held(t);
        uint256 missing = Amounts.partUp(
            t.collateralAmount - v.totalAvailableCollateralInDiamond,
            v.positionSizeCollateralDelta,
            v.existingPositionSizeCollateral
        );
        v.availableCollateralInDiamond =
            int256(uint256(t.collateralAmount - v.newCollateralAmount)) -
            int256(missing) -
            int256(v.closingFeeCollateral);
        Funds.transferValue(t, v.collateralSentToTrader, v.availableCollateralInDiamond);
        Positions.downscale(
            t,
            v.positionSizeCollateralDelta,
            v.existingPositionSizeCollateral,
            v.newCollateralAmount
        );
        appStorage().uiRealizedPnl[t.user][t.index].realizedTradingFeesCollateral += uint128(v.closingFeeCollateral);
    }

    /// @notice Settles the PnL with the vault; what the trader did not get of it stays with the trade.
    function settleLeverage(Trade memory t, DecreasePositionSizeValues memory v) private {
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        v.totalAvailableCollateralInDiamond = Funds.held(t);
        if (v.collateralSentToTrader < 0) v.collateralSentToTrader = -int256(lossForVault(data, v));
        Funds.transferValue(t, v.collateralSentToTrader, 0);
        data.realizedPnlCollateral += int128(v.pnlToRealizeCollateral);
        emit PnlRealizedOnOpenTrade(t.user, t.index, v.pnlToRealizeCollateral, data.realizedPnlCollateral);
        if (v.collateralSentToTrader < 0) {
            data.alreadyTransferredNegativePnlCollateral += uint128(uint256(-v.collateralSentToTrader));
        }
        Funds.chargeTrade(t, v.closingFeeCollateral);
    }

    /// @return the closed part of the loss, as far as the vault does not have it yet and the Diamond holds it
    function lossForVault(
        TradeFeesData storage data,
        DecreasePositionSizeValues memory v
    ) private view returns (uint256) {
        int256 part = int256(v.positionSizeCollateralDelta);
        int256 whole = int256(v.existingPositionSizeCollateral);
        uint256 sent = uint256(data.manuallyRealizedNegativePnlCollateral) +
            data.alreadyTransferredNegativePnlCollateral;
        int256 pnl = v.partialRawPnlCollateral +
            (data.realizedPnlCollateral * part) /
            whole +
            int256(Amounts.partUp(sent, uint256(part), uint256(whole)));
        if (pnl >= 0) return 0;
        uint256 loss = uint256(-pnl);
        return loss < v.totalAvailableCollateralInDiamond ? loss : v.totalAvailableCollateralInDiamond;
    }

    function keepUiPnl(Trade memory t, DecreasePositionSizeValues memory v) private {
        int256 pnl = v.collateralSentToTrader >= 0
            ? v.partialNetPnlCollateral - int256(v.closingFeeCollateral)
            : v.partialRawPnlCollateral;
        appStorage().uiRealizedPnl[t.user][t.index].realizedPnlPartialCloseCollateral += int128(pnl);
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
