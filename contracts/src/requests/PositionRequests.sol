// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Funds.sol";
import "./OracleRequest.sol";

/// @notice Changes of an open position: at once (TP, SL, closing slippage) or through the oracle (the rest).
library PositionRequests {
    struct SizeChange {
        uint120 collateralDelta;
        uint24 leverageDelta;
        uint64 expectedPrice;
        uint16 maxSlippageP;
    }

    function position(address sender, uint32 index) private view returns (Trade memory t) {
        t = Records.trade(sender, index);
        if (!t.isOpen) revert DoesntExist();
        if (t.tradeType != TRADE) revert WrongTradeType();
    }

    function close(address sender, uint32 index, uint64 expectedPrice) external {
        if (expectedPrice == 0) revert ZeroValue();
        Records.requireNoMarketOrder(sender, index);
        Trade memory t = position(sender, index);
        PendingOrder memory o = about(t, MARKET_CLOSE);
        o.trade.openPrice = expectedPrice;
        Id memory id = OracleRequest.send(o, Amounts.size(t));
        emit MarketOrderInitiated(id, sender, t.pairIndex, false);
    }

    function updateTp(address sender, uint32 index, uint64 tp) external {
        Records.requireNoTrigger(sender, index, TP_CLOSE);
        Trade memory t = position(sender, index);
        Records.updateTp(t, tp);
    }

    function updateSl(address sender, uint32 index, uint64 sl) external {
        Records.requireNoTrigger(sender, index, SL_CLOSE);
        Trade memory t = position(sender, index);
        Records.updateSl(t, sl);
    }

    function updateMaxClosingSlippageP(address sender, uint32 index, uint16 maxSlippageP) external {
        if (maxSlippageP == 0) revert MaxSlippageZero();
        Trade memory t = position(sender, index);
        appStorage().tradeInfos[t.user][t.index].maxSlippageP = maxSlippageP;
        emit TradeMaxClosingSlippagePUpdated(t.user, t.index, maxSlippageP);
    }

    function updateLeverage(address sender, uint32 index, uint24 leverage) external {
        Records.requireNoMarketOrder(sender, index);
        Trade memory t = position(sender, index);
        if (leverage == t.leverage || leverage < MIN_LEVERAGE) revert WrongLeverage();
        uint256 collateral = (uint256(t.collateralAmount) * t.leverage) / leverage;
        requireMinCollateral(t, collateral);
        bool isIncrease = leverage > t.leverage;
        uint256 delta = isIncrease ? t.collateralAmount - collateral : collateral - t.collateralAmount;
        if (delta > type(uint120).max) revert Overflow();
        if (!isIncrease) Funds.pull(t.collateralIndex, sender, delta);

        PendingOrder memory o = about(t, UPDATE_LEVERAGE);
        o.trade.leverage = leverage;
        o.trade.collateralAmount = uint120(delta);
        Id memory id = OracleRequest.send(o, Amounts.size(t));
        emit LeverageUpdateInitiated(id, sender, t.pairIndex, index, isIncrease, leverage);
    }

    function increaseSize(address sender, uint32 index, SizeChange memory change) external {
        if (change.leverageDelta == 0 || change.expectedPrice == 0 || change.maxSlippageP == 0) {
            revert InvalidIncreasePositionSizeInput();
        }
        Records.requireNoMarketOrder(sender, index);
        Trade memory t = position(sender, index);
        Funds.pull(t.collateralIndex, sender, change.collateralDelta);
        PendingOrder memory o = sizeOrder(t, MARKET_PARTIAL_OPEN, change);
        uint256 base = change.collateralDelta > 0 ? change.collateralDelta : t.collateralAmount;
        Id memory id = OracleRequest.send(o, Amounts.size(base, change.leverageDelta));
        emitSizeUpdate(id, t, change, true);
    }

    function decreaseSize(address sender, uint32 index, SizeChange memory change) external {
        if ((change.collateralDelta == 0) == (change.leverageDelta == 0)) revert InvalidDecreasePositionSizeInput();
        if (change.expectedPrice == 0) revert ZeroValue();
        Records.requireNoMarketOrder(sender, index);
        Trade memory t = position(sender, index);
        if (change.collateralDelta >= t.collateralAmount) revert InsufficientCollateral();
        requireMinCollateral(t, t.collateralAmount - change.collateralDelta);
        if (uint256(change.leverageDelta) + MIN_LEVERAGE > t.leverage && change.leverageDelta > 0) {
            revert WrongLeverage();
        }
        PendingOrder memory o = sizeOrder(t, MARKET_PARTIAL_CLOSE, change);
        uint256 base = change.collateralDelta > 0 ? change.collateralDelta : t.collateralAmount;
        uint256 leverage = change.leverageDelta > 0 ? change.leverageDelta : t.leverage;
        Id memory id = OracleRequest.send(o, Amounts.size(base, leverage));
        emitSizeUpdate(id, t, change, false);
    }

    function requireMinCollateral(Trade memory t, uint256 collateral) private view {
        if (collateral < Fees.minCollateral(t.collateralIndex, t.pairIndex, 1)) revert InsufficientCollateral();
    }

    /// @dev Carries the trade's identity; what the order asks for is filled in by the caller.
    function about(Trade memory t, uint8 orderType) private pure returns (PendingOrder memory o) {
        o.trade.user = t.user;
        o.trade.index = t.index;
        o.trade.pairIndex = t.pairIndex;
        o.trade.collateralIndex = t.collateralIndex;
        o.trade.isCounterTrade = t.isCounterTrade;
        o.user = t.user;
        o.orderType = orderType;
    }

    function sizeOrder(
        Trade memory t,
        uint8 orderType,
        SizeChange memory change
    ) private pure returns (PendingOrder memory o) {
        o = about(t, orderType);
        o.trade.collateralAmount = change.collateralDelta;
        o.trade.leverage = change.leverageDelta;
        o.trade.openPrice = change.expectedPrice;
        o.maxSlippageP = change.maxSlippageP;
    }

    function emitSizeUpdate(Id memory id, Trade memory t, SizeChange memory change, bool isIncrease) private {
        emit PositionSizeUpdateInitiated(
            id,
            t.user,
            t.pairIndex,
            t.index,
            isIncrease,
            change.collateralDelta,
            change.leverageDelta
        );
    }
}
