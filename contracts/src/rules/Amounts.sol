// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Constants.sol";
import "../Errors.sol";
import "../Storage.sol";

interface IUsdPriceFeed {
    function latestRoundData() external view returns (uint80, int256 answer, uint256, uint256, uint80);
}

/// @notice Conversions between collateral, position size and USD. Every division truncates unless it says otherwise.
library Amounts {
    /// @return position size in collateral units, S = C * L / 1000
    function size(uint256 collateral, uint256 leverage) internal pure returns (uint256) {
        return (collateral * leverage) / 1e3;
    }

    function size(Trade memory t) internal pure returns (uint256) {
        return size(t.collateralAmount, t.leverage);
    }

    /// @return `amount` x `part` / `whole`, rounded up
    function partUp(uint256 amount, uint256 part, uint256 whole) internal pure returns (uint256) {
        return (amount * part + whole - 1) / whole;
    }

    /// @return 1e8
    function collateralPriceUsd(uint8 collateralIndex) internal view returns (uint256) {
        address feed = appStorage().collateralUsdPriceFeed[collateralIndex];
        if (feed == address(0)) revert InvalidCollateralIndex();
        (, int256 answer, , , ) = IUsdPriceFeed(feed).latestRoundData();
        if (answer <= 0) revert PriceZero();
        return uint256(answer);
    }

    function precisionDelta(uint8 collateralIndex) internal view returns (uint256) {
        return appStorage().collaterals[collateralIndex].precisionDelta;
    }

    /// @return 1e18
    function toUsd(uint8 collateralIndex, uint256 amount) internal view returns (uint256) {
        return (amount * precisionDelta(collateralIndex) * collateralPriceUsd(collateralIndex)) / 1e8;
    }

    function fromUsd(uint8 collateralIndex, uint256 usd) internal view returns (uint256) {
        return (usd * 1e8) / collateralPriceUsd(collateralIndex) / precisionDelta(collateralIndex);
    }

    /// @return tokens (1e18) worth `sizeCollateral` at `price`
    function toTokens(uint8 collateralIndex, uint256 sizeCollateral, uint256 price) internal view returns (uint256) {
        return (sizeCollateral * precisionDelta(collateralIndex) * P_10) / price;
    }

    /// @return collateral worth `tokens` (1e18, signed) at `price`
    function fromTokens(uint8 collateralIndex, int256 tokens, uint256 price) internal view returns (int256) {
        return (tokens * int256(price)) / int256(P_10) / int256(precisionDelta(collateralIndex));
    }
}
