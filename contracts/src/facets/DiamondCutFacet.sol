// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Cut.sol";
import "../Events.sol";

/// @notice Changes facets, and runs an initializer in the Diamond's own storage: how every setting without a selector
/// of its own is made (see setup/Configure.sol).
contract DiamondCutFacet is Access {
    function diamondCut(
        FacetCut[] memory _faceCut,
        address _init,
        bytes memory _calldata
    ) external onlyRole(ROLE_GOV_TIMELOCK) {
        Cut.apply_(_faceCut);
        emit DiamondCut(_faceCut, _init, _calldata);
        if (_init == address(0)) return;
        if (_init.code.length == 0) revert NotContract();
        (bool ok, bytes memory reason) = _init.delegatecall(_calldata);
        if (ok) return;
        if (reason.length == 0) revert InitializationFunctionReverted(_init, _calldata);
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }
}
