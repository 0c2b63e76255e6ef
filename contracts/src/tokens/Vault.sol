// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Token.sol";

/// @notice Pre-funded counterparty of one collateral's profit and loss. It takes by plain transfer and pays on the
/// Diamond's word. Nobody can deposit or withdraw: it is no gToken.
contract Vault {
    Token public immutable asset;
    address public immutable diamond;

    error OnlyDiamond();

    constructor(Token asset_, address diamond_) {
        asset = asset_;
        diamond = diamond_;
    }

    function sendAssets(uint256 amount, address receiver) external {
        if (msg.sender != diamond) revert OnlyDiamond();
        asset.transfer(receiver, amount);
    }
}
