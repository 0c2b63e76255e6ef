// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Cut.sol";

/// @notice The proxy (EIP-2535): every call is delegated to the facet that owns its selector.
contract Diamond {
    constructor(address admin, address cutFacet, bytes4 cutSelector) {
        AppStorage storage s = appStorage();
        s.roles[admin][ROLE_GOV_TIMELOCK] = true;
        s.roles[admin][ROLE_GOV] = true;
        s.roles[admin][ROLE_MANAGER] = true;
        FacetCut[] memory cuts = new FacetCut[](1);
        cuts[0] = FacetCut(cutFacet, Cut.ADD, new bytes4[](1));
        cuts[0].functionSelectors[0] = cutSelector;
        Cut.apply_(cuts);
    }

    fallback() external payable {
        address facet = appStorage().facetOf[msg.sig].facet;
        if (facet == address(0)) revert NotFound();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), facet, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok {
                return(0, returndatasize())
            }
            revert(0, returndatasize())
        }
    }
}
