// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A facet of a version that nobody has written: it changes no trade, and its event has the topic of the known
/// one and another layout, because what is indexed is no part of a topic. For tests of those who follow the Diamond.
contract OtherLayoutFacet {
    event TradeTpUpdated(address indexed user, uint32 indexed index, uint64 indexed newTp);

    function updateTp(uint32 _index, uint64 _newTp) external {
        emit TradeTpUpdated(msg.sender, _index, _newTp);
    }
}
