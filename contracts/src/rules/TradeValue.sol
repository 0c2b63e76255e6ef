// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Amounts.sol";

/// @notice Profit and loss of a trade and what it is worth.
library TradeValue {
    /// @return 1e10 per percent of the collateral, never below -100 %
    function pnlP(bool long, uint256 openPrice, uint256 price, uint256 leverage) internal pure returns (int256) {
        if (openPrice == 0) return 0;
        int256 move = int256(price) - int256(openPrice);
        int256 p = ((long ? move : -move) * 100 * int256(P_10) * int256(leverage)) / int256(openPrice) / 1e3;
        return p < LIQUIDATED_PNL_P ? LIQUIDATED_PNL_P : p;
    }

    function pnlP(Trade memory t, uint256 price) internal pure returns (int256) {
        return pnlP(t.long, t.openPrice, price, t.leverage);
    }

    /// @return realised PnL less realised trading fees, in collateral
    function realized(address trader, uint32 index) internal view returns (int256) {
        TradeFeesData storage data = appStorage().tradeFeesData[trader][index];
        return int256(data.realizedPnlCollateral) - int256(uint256(data.realizedTradingFeesCollateral));
    }

    /// @param owed closing fee + pending holding fees - realised
    /// @return collateral the trade is worth, floored at 0
    function value(
        uint8 collateralIndex,
        uint256 collateral,
        int256 profitP,
        int256 owed
    ) internal view returns (uint256) {
        int256 delta = int256(Amounts.precisionDelta(collateralIndex));
        int256 scaled = int256(collateral) * delta;
        int256 worth = (scaled + (scaled * profitP) / int256(P_10) / 100) / delta - owed;
        return worth > 0 ? uint256(worth) : 0;
    }
}
