// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A collateral's USD price (8 decimals) in the shape of a Chainlink feed, set by its deployer.
contract UsdPriceFeed {
    uint8 public constant decimals = 8;
    address public immutable owner;
    int256 private price;
    uint256 private updatedAt;
    uint80 private round;

    error NotOwner();

    constructor(int256 price_) {
        owner = msg.sender;
        _set(price_);
    }

    function set(int256 price_) external {
        if (msg.sender != owner) revert NotOwner();
        _set(price_);
    }

    function _set(int256 price_) private {
        price = price_;
        updatedAt = block.timestamp;
        ++round;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (round, price, updatedAt, updatedAt, round);
    }
}
