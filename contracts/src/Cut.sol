// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Access.sol";

/// @notice Which selector belongs to which facet.
library Cut {
    uint8 internal constant ADD = 0;
    uint8 internal constant REPLACE = 1;
    uint8 internal constant REMOVE = 2;

    function apply_(FacetCut[] memory cuts) internal {
        for (uint256 i; i < cuts.length; ++i) {
            FacetCut memory cut = cuts[i];
            if (cut.action > REMOVE) revert InvalidFacetCutAction();
            if (cut.action != REMOVE && cut.facetAddress.code.length == 0) revert NotContract();
            for (uint256 j; j < cut.functionSelectors.length; ++j) {
                bytes4 selector = cut.functionSelectors[j];
                bool exists = appStorage().facetOf[selector].facet != address(0);
                if (cut.action == ADD && exists) revert AlreadyExists();
                if (cut.action != ADD && !exists) revert DoesntExist();
                if (exists) remove(selector);
                if (cut.action != REMOVE) add(cut.facetAddress, selector);
            }
        }
    }

    function add(address facet, bytes4 selector) private {
        AppStorage storage s = appStorage();
        bytes4[] storage selectors = s.selectorsOf[facet];
        if (selectors.length == 0) s.facetAddresses.push(facet);
        s.facetOf[selector] = FacetPosition(facet, uint96(selectors.length));
        selectors.push(selector);
    }

    function remove(bytes4 selector) private {
        AppStorage storage s = appStorage();
        FacetPosition memory place = s.facetOf[selector];
        bytes4[] storage selectors = s.selectorsOf[place.facet];
        bytes4 last = selectors[selectors.length - 1];
        selectors[place.position] = last;
        s.facetOf[last].position = place.position;
        selectors.pop();
        delete s.facetOf[selector];
        if (selectors.length == 0) removeFacet(place.facet);
    }

    function removeFacet(address facet) private {
        address[] storage facets = appStorage().facetAddresses;
        for (uint256 i; i < facets.length; ++i) {
            if (facets[i] != facet) continue;
            facets[i] = facets[facets.length - 1];
            facets.pop();
            return;
        }
    }
}
