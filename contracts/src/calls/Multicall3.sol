// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Many view calls in one, with the one function of the well-known contract of this name that we use. On live
/// chains it has the address 0xcA11bde05977b3631167028862bE2a173976CA11, and so it has on the local ones.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index);

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            (bool success, bytes memory returnData) = calls[i].target.call(calls[i].callData);
            if (!success && !calls[i].allowFailure) revert CallFailed(i);
            results[i] = Result(success, returnData);
        }
    }
}
