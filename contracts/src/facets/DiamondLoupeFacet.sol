// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Storage.sol";

/// @notice Which facets there are and what each one answers.
contract DiamondLoupeFacet {
    function facets() external view returns (Facet[] memory facets_) {
        AppStorage storage s = appStorage();
        facets_ = new Facet[](s.facetAddresses.length);
        for (uint256 i; i < facets_.length; ++i) {
            facets_[i] = Facet(s.facetAddresses[i], s.selectorsOf[s.facetAddresses[i]]);
        }
    }

    function facetAddress(bytes4 _functionSelector) external view returns (address facetAddress_) {
        return appStorage().facetOf[_functionSelector].facet;
    }

    function facetAddresses() external view returns (address[] memory facetAddresses_) {
        return appStorage().facetAddresses;
    }

    function facetFunctionSelectors(address _facet) external view returns (bytes4[] memory facetFunctionSelectors_) {
        return appStorage().selectorsOf[_facet];
    }
}
