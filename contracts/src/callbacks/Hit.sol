// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/PriceImpact.sol";

/// @notice Did the oracle's candle touch a trigger price, and at which oracle price does the order then execute?
library Hit {
    struct Candle {
        uint64 open;
        uint64 high;
        uint64 low;
        uint64 current;
    }

    /// @param skewP shift of the market price against the oracle's; 0 for liquidations
    /// @param fromAbove whether the order executes at or below the trigger (else at or above)
    /// @return price of the oracle at execution, 0 when the trigger was not hit
    /// @return isExact whether the candle crossed the trigger, so that it executes exactly there
    function price(
        Candle memory candle,
        uint256 trigger,
        int256 skewP,
        bool fromAbove
    ) internal pure returns (uint256, bool) {
        if (trigger == 0) return (0, false);
        if (PriceImpact.shift(candle.low, skewP) <= trigger && PriceImpact.shift(candle.high, skewP) >= trigger) {
            return (toOraclePrice(trigger, skewP), true);
        }
        uint256 open = PriceImpact.shift(candle.open, skewP);
        return ((fromAbove ? open <= trigger : open >= trigger) ? candle.open : 0, false);
    }

    /// @return oracle price (rounded up) whose market price is `marketPrice`
    function toOraclePrice(uint256 marketPrice, int256 skewP) private pure returns (uint256) {
        uint256 scale = uint256(int256(100 * P_10) + skewP);
        return (marketPrice * 100 * P_10 + scale - 1) / scale;
    }
}
