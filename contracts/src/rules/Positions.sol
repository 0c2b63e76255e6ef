// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Exposure.sol";
import "./Funds.sol";

/// @notice Everything that follows from a change of a position's size, in the order of the live Diamond: holding fees
/// are realised, accumulators stored, the trade starts owing anew, volume and open interest are counted.
library Positions {
    struct Change {
        uint256 sizeDelta;
        uint256 tokenDelta;
        bool open;
        bool isPnlPositive; // only a decrease has a result
        uint64 price;
    }

    function opened(Trade memory t, uint64 price) external {
        count(t, Change(Amounts.size(t), t.positionSizeToken, true, false, price));
    }

    /// @param t the trade as it was before the change
    function changed(Trade memory t, Change memory change) external {
        realize(t, change.price);
        count(t, change);
    }

    function closed(Trade memory t, bool isPnlPositive, uint64 price) external {
        realize(t, price);
        count(t, Change(Amounts.size(t), t.positionSizeToken, false, isPnlPositive, price));
    }

    function count(Trade memory t, Change memory change) private {
        HoldingFees.restart(t, change.price);
        BorrowingV1.handle(t, change.sizeDelta, change.open, change.price);
        PriceImpact.addVolume(t, change.sizeDelta, change.open, change.isPnlPositive);
        Exposure.move(t, change.sizeDelta, change.tokenDelta, change.open);
    }

    /// @notice Pays pending holding fees to the vault as far as the Diamond holds anything for the trade; the rest, and
    /// what the trade has earned, becomes realised PnL.
    function realize(Trade memory t, uint64 price) private {
        TradeHoldingFees memory fees = HoldingFees.ofTrade(t, price);
        UiRealizedPnlData storage ui = appStorage().uiRealizedPnl[t.user][t.index];
        ui.realizedOldBorrowingFeesCollateral += uint128(fees.borrowingFeeCollateral_old);
        ui.realizedNewBorrowingFeesCollateral += uint128(fees.borrowingFeeCollateral);
        ui.realizedFundingFeesCollateral += int128(fees.fundingFeeCollateral);
        if (fees.totalFeeCollateral > 0) return charge(t, price, fees);

        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        data.realizedPnlCollateral -= int128(fees.totalFeeCollateral);
        emit HoldingFeesRealizedOnTrade(
            t.collateralIndex,
            t.user,
            t.index,
            price,
            fees,
            data.realizedPnlCollateral
        );
    }

    function charge(Trade memory t, uint64 price, TradeHoldingFees memory fees) private {
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        uint256 owed = uint256(fees.totalFeeCollateral);
        uint256 available = Funds.held(t);
        uint256 paid = owed < available ? owed : available;
        Funds.toVault(t.collateralIndex, paid);
        data.realizedTradingFeesCollateral += uint128(paid);
        data.realizedPnlCollateral -= int128(uint128(owed - paid));
        emit HoldingFeesChargedOnTrade(
            t.collateralIndex,
            t.user,
            t.index,
            price,
            fees,
            available,
            paid,
            data.realizedTradingFeesCollateral,
            data.realizedPnlCollateral
        );
    }

    /// @notice Scales what the trade has realised down to the part that a partial close by collateral leaves. Every
    /// rounding is against the trader.
    /// @param sizeDelta closed part of `size`
    /// @param collateral what the trade has left
    function downscale(Trade memory t, uint256 sizeDelta, uint256 size, uint256 collateral) external {
        TradeFeesData memory d = appStorage().tradeFeesData[t.user][t.index];
        d.realizedTradingFeesCollateral -= uint128((sizeDelta * d.realizedTradingFeesCollateral) / size);
        if (d.realizedPnlCollateral > 0) {
            uint256 profit = uint128(d.realizedPnlCollateral);
            d.realizedPnlCollateral -= int128(uint128(Amounts.partUp(profit, sizeDelta, size)));
        } else {
            uint256 loss = uint128(-d.realizedPnlCollateral);
            d.realizedPnlCollateral += int128(uint128((sizeDelta * loss) / size));
        }
        d.manuallyRealizedNegativePnlCollateral -= uint128(
            (sizeDelta * d.manuallyRealizedNegativePnlCollateral) / size
        );
        d.alreadyTransferredNegativePnlCollateral -= uint128(
            (sizeDelta * d.alreadyTransferredNegativePnlCollateral) / size
        );
        d.virtualAvailableCollateralInDiamond -= uint128(
            Amounts.partUp(d.virtualAvailableCollateralInDiamond, sizeDelta, size)
        );
        appStorage().tradeFeesData[t.user][t.index] = d;
        emit TradeFeesDataDownscaled(t.user, t.index, sizeDelta, size, collateral, d);
        Funds.coverShortfall(t, collateral);
    }
}
