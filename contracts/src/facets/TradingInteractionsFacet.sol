// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "../Access.sol";
import "../requests/Requests.sol";

/// @notice What a trader, its delegate or a trigger bot can ask for.
contract TradingInteractionsFacet is Access {
    function openTrade(
        Trade memory _trade,
        uint16 _maxSlippageP,
        address
    ) external nonReentrant whenActivated {
        Requests.openTrade(_sender(), _trade, _maxSlippageP);
    }

    function closeTradeMarket(uint32 _index, uint64 _expectedPrice) external nonReentrant whenNotPaused {
        PositionRequests.close(_sender(), _index, _expectedPrice);
    }

    function updateOpenOrder(
        uint32 _index,
        uint64 _triggerPrice,
        uint64 _tp,
        uint64 _sl,
        uint16 _maxSlippageP
    ) external nonReentrant whenActivated {
        Requests.updateOpenOrder(_sender(), _index, Requests.OrderTerms(_triggerPrice, _tp, _sl, _maxSlippageP));
    }

    function cancelOpenOrder(uint32 _index) external nonReentrant whenNotPaused {
        Requests.cancelOpenOrder(_sender(), _index);
    }

    function updateTp(uint32 _index, uint64 _newTp) external nonReentrant whenActivated {
        PositionRequests.updateTp(_sender(), _index, _newTp);
    }

    function updateSl(uint32 _index, uint64 _newSl) external nonReentrant whenActivated {
        PositionRequests.updateSl(_sender(), _index, _newSl);
    }

    function updateMaxClosingSlippageP(uint32 _index, uint16 _maxSlippageP) external nonReentrant whenNotPaused {
        PositionRequests.updateMaxClosingSlippageP(_sender(), _index, _maxSlippageP);
    }

    function updateLeverage(uint32 _index, uint24 _newLeverage) external nonReentrant whenActivated {
        PositionRequests.updateLeverage(_sender(), _index, _newLeverage);
    }

    function increasePositionSize(
        uint32 _index,
        uint120 _collateralDelta,
        uint24 _leverageDelta,
        uint64 _expectedPrice,
        uint16 _maxSlippageP
    ) external nonReentrant whenActivated {
        PositionRequests.SizeChange memory change = PositionRequests.SizeChange(
            _collateralDelta,
            _leverageDelta,
            _expectedPrice,
            _maxSlippageP
        );
        PositionRequests.increaseSize(_sender(), _index, change);
    }

    function decreasePositionSize(
        uint32 _index,
        uint120 _collateralDelta,
        uint24 _leverageDelta,
        uint64 _expectedPrice
    ) external nonReentrant whenNotPaused {
        PositionRequests.SizeChange memory change = PositionRequests.SizeChange(
            _collateralDelta,
            _leverageDelta,
            _expectedPrice,
            0
        );
        PositionRequests.decreaseSize(_sender(), _index, change);
    }

    function triggerOrder(uint256 _packed) external nonReentrant notDelegated whenNotPaused {
        Requests.trigger(msg.sender, uint8(_packed), address(uint160(_packed >> 8)), uint32(_packed >> 168));
    }

    function cancelOrderAfterTimeout(uint32 _orderIndex) external nonReentrant whenNotPaused {
        Requests.cancelAfterTimeout(_sender(), _orderIndex);
    }

    /// @dev Acts on the caller itself, never on the trader it is delegate of; emits no event, like the live one.
    function setTradingDelegate(address _delegate) external nonReentrant {
        if (_delegate == address(0)) revert ZeroAddress();
        appStorage().delegateOf[msg.sender] = _delegate;
    }

    function removeTradingDelegate() external nonReentrant {
        delete appStorage().delegateOf[msg.sender];
    }

    function getTradingDelegate(address _trader) external view returns (address) {
        return appStorage().delegateOf[_trader];
    }

    function delegatedTradingAction(
        address _trader,
        bytes calldata _callData
    ) external notDelegated returns (bytes memory) {
        AppStorage storage s = appStorage();
        if (s.delegateOf[_trader] != msg.sender) revert DelegateNotApproved();
        s.senderOverride = _trader;
        bytes memory result = _delegateToSelf(_callData);
        s.senderOverride = address(0);
        return result;
    }

    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        if (data.length > MAX_MULTICALL) revert AboveMax();
        results = new bytes[](data.length);
        for (uint256 i; i < data.length; ++i) results[i] = _delegateToSelf(data[i]);
    }

    /// @dev The caller stays msg.sender; a revert is passed on unchanged.
    function _delegateToSelf(bytes calldata _callData) private returns (bytes memory) {
        (bool ok, bytes memory result) = address(this).delegatecall(_callData);
        if (ok) return result;
        assembly {
            revert(add(result, 32), mload(result))
        }
    }

    function getMarketOrdersTimeoutBlocks() external view returns (uint16) {
        return appStorage().marketOrdersTimeoutBlocks;
    }

    function updateMarketOrdersTimeoutBlocks(uint16 _valueBlocks) external onlyGovOrManager {
        if (_valueBlocks == 0) revert BelowMin();
        appStorage().marketOrdersTimeoutBlocks = _valueBlocks;
        emit MarketOrdersTimeoutBlocksUpdated(_valueBlocks);
    }

    function getByPassTriggerLink(address _user) external view returns (bool) {
        return appStorage().byPassTriggerLink[_user];
    }

    function updateByPassTriggerLink(
        address[] calldata _users,
        bool[] calldata _shouldByPass
    ) external onlyGovOrManager {
        if (_users.length != _shouldByPass.length) revert WrongLength();
        for (uint256 i; i < _users.length; ++i) {
            appStorage().byPassTriggerLink[_users[i]] = _shouldByPass[i];
            emit ByPassTriggerLinkUpdated(_users[i], _shouldByPass[i]);
        }
    }
}
