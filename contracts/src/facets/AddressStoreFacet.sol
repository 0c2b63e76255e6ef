// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../Events.sol";

/// @notice Addresses, roles and the Diamond-wide lock.
contract AddressStoreFacet is Access {
    function getAddresses() external view returns (Addresses memory) {
        return appStorage().addresses;
    }

    function hasRole(address _account, uint8 _role) external view returns (bool) {
        return appStorage().roles[_account][_role];
    }

    function hasRoles(address _account, uint8 _roleA, uint8 _roleB) external view returns (bool) {
        return appStorage().roles[_account][_roleA] || appStorage().roles[_account][_roleB];
    }

    function setRoles(
        address[] calldata _accounts,
        uint8[] calldata _roles,
        bool[] calldata _values
    ) external onlyRole(ROLE_GOV_TIMELOCK) {
        if (_accounts.length != _roles.length || _accounts.length != _values.length) revert InvalidInputLength();
        for (uint256 i; i < _accounts.length; ++i) {
            appStorage().roles[_accounts[i]][_roles[i]] = _values[i];
            emit AccessControlUpdated(_accounts[i], _roles[i], _values[i]);
        }
    }

    function getReentrancyLock() external view returns (uint256) {
        return appStorage().reentrancyLock;
    }
}
