// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../callbacks/CloseTradeMarket.sol";
import "../callbacks/DecreasePositionSize.sol";
import "../callbacks/IncreasePositionSize.sol";
import "../callbacks/OpenTradeMarket.sol";
import "../callbacks/TriggerCloseOrder.sol";
import "../callbacks/TriggerOpenOrder.sol";
import "../callbacks/UpdateLeverage.sol";
import "../requests/OracleRequest.sol";
import "../rules/Median.sol";

/// @notice The second of the two steps: oracles answer, and the quorum's median executes or refuses the order.
contract PriceAggregatorFacet is Access {
    struct Received {
        Id id;
        bytes32 requestId;
        uint256 priceData;
        bool minAnswersReached;
        bool minFilteredAnswersReached;
        OrderAnswer[] answers;
        OrderAnswer[] filtered;
    }

    /// @param _priceData the OrderAnswer packed from the low bits up: open, high, low, current (56 bits each), ts (32)
    function fulfill(bytes32 _requestId, uint256 _priceData) external nonReentrant {
        AppStorage storage s = appStorage();
        PriceRequest memory request = s.priceRequests[_requestId];
        if (request.oracle == address(0) || request.oracle != msg.sender) revert SourceNotOracleOfRequest();
        delete s.priceRequests[_requestId];
        PendingOrder memory o = s.pendingOrders[request.order.user][request.order.index];
        if (!o.isOpen) return; // the quorum was faster, or the order was reclaimed
        if (block.timestamp > uint256(request.createdTs) + ORACLE_ANSWER_TTL_S) revert DoesntExist();

        Received memory r;
        r.id = Id(o.user, o.index);
        r.requestId = _requestId;
        r.priceData = _priceData;
        s.answers[o.user][o.index].push(Median.unpack(_priceData, request.order.isLookback));
        r.answers = s.answers[o.user][o.index];
        r.minAnswersReached = r.answers.length >= s.minAnswers;
        if (r.minAnswersReached) {
            uint256 maxDeviationP = request.order.isLookback ? s.maxLookbackDeviationP : s.maxMarketDeviationP;
            r.filtered = Median.filter(r.answers, request.order.isLookback, maxDeviationP);
            r.minFilteredAnswersReached = r.filtered.length >= s.minAnswers;
        }
        if (r.minFilteredAnswersReached) _execute(r, o);
        _emitReceived(r, request.order);
    }

    function _execute(Received memory r, PendingOrder memory o) private {
        AggregatorAnswer memory a = Median.answer(r.id, r.filtered);
        delete appStorage().answers[o.user][o.index];
        if (o.orderType == MARKET_OPEN) OpenTradeMarket.execute(a, o);
        else if (o.orderType == MARKET_CLOSE) CloseTradeMarket.execute(a, o);
        else if (o.orderType <= STOP_OPEN) TriggerOpenOrder.execute(a, o);
        else if (o.orderType <= LIQ_CLOSE) TriggerCloseOrder.execute(a, o);
        else if (o.orderType == UPDATE_LEVERAGE) UpdateLeverage.execute(a, o);
        else if (o.orderType == MARKET_PARTIAL_OPEN) IncreasePositionSize.execute(a, o);
        else DecreasePositionSize.execute(a, o);
        Records.closePendingOrder(o);
        emit TradingCallbackExecuted(a, o.orderType);
    }

    function _emitReceived(Received memory r, Order memory order) private {
        emit PriceReceived(
            r.id,
            order.pairIndex,
            r.requestId,
            r.priceData,
            order.isLookback,
            r.minFilteredAnswersReached,
            r.minAnswersReached,
            r.minFilteredAnswersReached,
            r.answers,
            r.filtered
        );
    }

    function getCollateralPriceUsd(uint8 _collateralIndex) external view returns (uint256) {
        return Amounts.collateralPriceUsd(_collateralIndex);
    }

    function getUsdNormalizedValue(uint8 _collateralIndex, uint256 _collateralValue) external view returns (uint256) {
        return Amounts.toUsd(_collateralIndex, _collateralValue);
    }

    function getCollateralFromUsdNormalizedValue(
        uint8 _collateralIndex,
        uint256 _normalizedValue
    ) external view returns (uint256) {
        return Amounts.fromUsd(_collateralIndex, _normalizedValue);
    }

    function getCollateralUsdPriceFeed(uint8 _collateralIndex) external view returns (address) {
        return appStorage().collateralUsdPriceFeed[_collateralIndex];
    }

    function getOracles() external view returns (address[] memory) {
        return appStorage().oracles;
    }

    function getOracle(uint256 _index) external view returns (address) {
        return appStorage().oracles[_index];
    }

    function getMinAnswers() external view returns (uint8) {
        return appStorage().minAnswers;
    }

    function getChainlinkToken() external view returns (address) {
        return appStorage().linkToken;
    }

    function getPriceAggregatorOrder(bytes32 _requestId) external view returns (Order memory) {
        return appStorage().priceRequests[_requestId].order;
    }

    function getPriceAggregatorOrderAnswers(Id memory _orderId) external view returns (OrderAnswer[] memory) {
        return appStorage().answers[_orderId.user][_orderId.index];
    }
}
