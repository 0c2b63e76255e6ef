// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../rules/Records.sol";

/// @notice The first of the two steps: a pending order and one price request per oracle.
library OracleRequest {
    /// @notice Stores the order and asks the oracles; trigger types ask for the candle since the order's last edit.
    function send(PendingOrder memory o, uint256 sizeCollateral) internal returns (Id memory id) {
        o = Records.storePendingOrder(o);
        id = Id(o.user, o.index);
        bool isLookback = o.orderType >= LIMIT_OPEN && o.orderType <= LIQ_CLOSE;
        AppStorage storage s = appStorage();
        for (uint256 i; i < s.oracles.length; ++i) {
            s.priceRequests[requestId(id, s.oracles[i])] = PriceRequest(
                Order(o.user, o.index, o.orderType, o.trade.pairIndex, isLookback, 0),
                s.oracles[i],
                uint32(block.timestamp)
            );
        }
        emitRequested(o, sizeCollateral, isLookback);
    }

    /// @notice Ids can be derived by anybody who knows the order and the oracle; the live Diamond publishes them in an
    /// event of its own instead.
    function requestId(Id memory id, address oracle) internal pure returns (bytes32) {
        return keccak256(abi.encode(id.user, id.index, oracle));
    }

    function emitRequested(PendingOrder memory o, uint256 sizeCollateral, bool isLookback) private {
        uint256 fromBlock = isLookback
            ? Records.lookbackFromBlock(o.trade.user, o.trade.index, o.orderType)
            : block.number;
        emit PriceRequested(
            o.trade.collateralIndex,
            o.trade.pairIndex,
            o,
            sizeCollateral,
            fromBlock,
            o.trade.isCounterTrade,
            isLookback,
            bytes32(0),
            0,
            appStorage().oracles.length
        );
    }
}
