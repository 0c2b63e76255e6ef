// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Constants.sol";
import "./Errors.sol";
import "./Storage.sol";

/// @notice Who may call: roles, the trader behind a delegate, the state of trading, and the reentrancy lock.
abstract contract Access {
    modifier onlyRole(uint8 role) {
        if (!appStorage().roles[msg.sender][role]) revert WrongAccess();
        _;
    }

    modifier onlyGovOrManager() {
        mapping(uint8 => bool) storage roles = appStorage().roles[msg.sender];
        if (!roles[ROLE_GOV] && !roles[ROLE_GOV_TIMELOCK] && !roles[ROLE_MANAGER]) revert WrongAccess();
        _;
    }

    modifier nonReentrant() {
        AppStorage storage s = appStorage();
        if (s.reentrancyLock == 1) revert ReentrancyGuardReentrantCall();
        s.reentrancyLock = 1;
        _;
        s.reentrancyLock = 0;
    }

    modifier whenActivated() {
        if (appStorage().tradingActivated != ACTIVATED) revert Paused();
        _;
    }

    modifier whenNotPaused() {
        if (appStorage().tradingActivated == PAUSED) revert Paused();
        _;
    }

    modifier notDelegated() {
        if (appStorage().senderOverride != address(0)) revert DelegatedActionNotAllowed();
        _;
    }

    /// @return the trader: the one a delegate acts for, or the caller
    function _sender() internal view returns (address) {
        address overridden = appStorage().senderOverride;
        return overridden == address(0) ? msg.sender : overridden;
    }
}
