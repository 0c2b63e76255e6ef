// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Liquidation.sol";

/// @notice Leverage measured against what the changed trade would be worth, before any closing fee.
library Effective {
    /// @param t the trade as it would be after the change
    /// @param fee charged by the change itself
    /// @return 1e3; the largest number when the trade would be worth nothing
    function leverage(Trade memory t, uint64 price, uint256 fee) internal view returns (uint256) {
        Trade memory stored = appStorage().trades[t.user][t.index];
        int256 owed = int256(fee) +
            HoldingFees.ofTrade(stored, price).totalFeeCollateral -
            TradeValue.realized(t.user, t.index);
        uint256 worth = TradeValue.value(t.collateralIndex, t.collateralAmount, TradeValue.pnlP(t, price), owed);
        if (worth == 0) return type(uint256).max;
        return (((Amounts.size(t) * price) / t.openPrice) * 1e3) / worth;
    }
}
