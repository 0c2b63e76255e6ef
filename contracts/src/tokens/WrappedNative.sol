// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Token.sol";

/// @notice WETH: every unit is backed by native coin, in by deposit and out by withdraw.
contract WrappedNative is Token {
    event Deposit(address indexed dst, uint256 wad);
    event Withdrawal(address indexed src, uint256 wad);

    error NativeTransferFailed();

    constructor(string memory name_, string memory symbol_) Token(name_, symbol_, 18) {}

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
        (bool ok, ) = msg.sender.call{value: amount}("");
        if (!ok) revert NativeTransferFailed();
    }
}
