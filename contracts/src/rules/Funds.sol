// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Events.sol";
import "./Fees.sol";

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IVault {
    function sendAssets(uint256 amount, address receiver) external;
}

/// @notice Every movement of tokens. The Diamond holds C + virtual - realised trading fees - losses already sent to the
/// vault for each open trade; the vault of the collateral is the other side of profit, loss and holding fees.
library Funds {
    function token(uint8 collateralIndex) internal view returns (IToken) {
        return IToken(appStorage().collaterals[collateralIndex].collateral);
    }

    function pull(uint8 collateralIndex, address from, uint256 amount) internal {
        if (amount == 0) return;
        if (!token(collateralIndex).transferFrom(from, address(this), amount)) revert InsufficientBalance();
    }

    function pay(uint8 collateralIndex, address to, uint256 amount) internal {
        if (amount == 0) return;
        if (!token(collateralIndex).transfer(to, amount)) revert InsufficientBalance();
    }

    function fromVault(uint8 collateralIndex, uint256 amount) internal {
        if (amount > 0) IVault(appStorage().gTokens[collateralIndex]).sendAssets(amount, address(this));
    }

    function toVault(uint8 collateralIndex, uint256 amount) internal {
        pay(collateralIndex, appStorage().gTokens[collateralIndex], amount);
    }

    /// @return tokens the Diamond would hold for a trade with this collateral
    function heldRaw(Trade memory t, uint256 collateral) private view returns (int256) {
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        return
            int256(collateral + data.virtualAvailableCollateralInDiamond) -
            int256(
                uint256(data.realizedTradingFeesCollateral) +
                    data.manuallyRealizedNegativePnlCollateral +
                    data.alreadyTransferredNegativePnlCollateral
            );
    }

    /// @return tokens the Diamond holds for an open trade
    function held(Trade memory t) internal view returns (uint256) {
        int256 amount = heldRaw(t, t.collateralAmount);
        if (amount < 0) revert BelowMin();
        return uint256(amount);
    }

    /// @notice Keeps what the Diamond holds for the trade from falling below zero once its collateral is `collateral`.
    function coverShortfall(Trade memory t, uint256 collateral) internal {
        int256 amount = heldRaw(t, collateral);
        if (amount >= 0) return;
        appStorage().tradeFeesData[t.user][t.index].virtualAvailableCollateralInDiamond += uint128(uint256(-amount));
    }

    /// @notice Charges an open trade: its collateral stays, the fee becomes a realised trading fee.
    function chargeTrade(Trade memory t, uint256 fee) internal {
        TradeFeesData storage data = appStorage().tradeFeesData[t.user][t.index];
        uint256 available = held(t);
        uint256 advanced = fee > available ? fee - available : 0;
        fromVault(t.collateralIndex, advanced);
        data.realizedTradingFeesCollateral += uint128(fee - advanced);
        data.realizedPnlCollateral -= int128(uint128(advanced));
        appStorage().uiRealizedPnl[t.user][t.index].realizedTradingFeesCollateral += uint128(fee);
        emit TradingFeesRealized(
            t.collateralIndex,
            t.user,
            t.index,
            fee,
            fee,
            data.realizedTradingFeesCollateral,
            data.realizedPnlCollateral,
            advanced
        );
    }

    /// @notice Pays `value` to the trader from what is `available` of it in the Diamond; the vault gives what is
    /// missing and takes what is left.
    /// @param value below 0 where a loss goes to the vault and nothing to the trader
    /// @param available below 0 where a fee is due that the Diamond does not hold for the trade
    function transferValue(Trade memory t, int256 value, int256 available) internal {
        if (value > available) fromVault(t.collateralIndex, uint256(value - available));
        else toVault(t.collateralIndex, uint256(available - value));
        if (value > 0) pay(t.collateralIndex, t.user, uint256(value));
        emit TradeValueTransferred(t.collateralIndex, t.user, t.index, value, available);
    }

    /// @notice The whole amount goes to governance: the price of a refused request and of a leverage update.
    function chargeGov(address trader, uint8 collateralIndex, uint256 amount) internal {
        appStorage().pendingGovFees[collateralIndex] += amount;
        emit GovFeeCharged(trader, collateralIndex, amount);
    }

    /// @notice Splits a trading fee that is already in the Diamond, and credits the traded size to the trader's points.
    /// What rounding leaves goes to the OTC share.
    function distribute(Trade memory t, uint256 sizeCollateral, uint8 orderType, uint256 fee) external {
        GlobalTradeFeeParams memory p = appStorage().globalTradeFeeParams;
        uint256 rest = fee;
        rest -= govShare(t, (fee * p.govFeeP) / 1e5);
        rest -= vaultShare(t, (fee * p.gTokenFeeP) / 1e5, (fee * p.gTokenOcFeeP) / 1e5);
        uint256 trigger = isTrigger(orderType) ? (fee * p.triggerOrderFeeP) / 1e5 : 0;
        if (trigger > 0) emit TriggerFeeCharged(t.user, t.collateralIndex, trigger);
        emit GnsOtcFeeCharged(t.user, t.collateralIndex, rest - trigger);
        pay(t.collateralIndex, appStorage().addresses.treasury, rest);
        creditPoints(t, Amounts.toUsd(t.collateralIndex, sizeCollateral));
        emit FeesProcessed(t.collateralIndex, t.user, sizeCollateral, orderType, fee);
    }

    /// @notice Fixes the fee multiplier of the trader's day. Due before a fee of the trade is computed.
    function refreshTier(Trade memory t) external {
        creditPoints(t, 0);
    }

    function creditPoints(Trade memory t, uint256 sizeUsd) private {
        FeeTiers.credit(t.user, sizeUsd, Pairs.get(t.pairIndex).feeIndex);
    }

    function govShare(Trade memory t, uint256 amount) private returns (uint256) {
        chargeGov(t.user, t.collateralIndex, amount);
        return amount;
    }

    function vaultShare(Trade memory t, uint256 gToken, uint256 gTokenOc) private returns (uint256) {
        emit GTokenFeeCharged(t.user, t.collateralIndex, gToken);
        if (gTokenOc > 0) emit GTokenOcFeeCharged(t.user, t.collateralIndex, gTokenOc);
        toVault(t.collateralIndex, gToken + gTokenOc);
        return gToken + gTokenOc;
    }

    function isTrigger(uint8 orderType) internal pure returns (bool) {
        return orderType >= LIMIT_OPEN && orderType <= LIQ_CLOSE;
    }
}
