import { parseAbi } from 'viem'
import {
  tradeStruct,
  orderAnswerStruct,
  idStruct,
  orderStruct,
  tradePriceImpactStruct,
  valuesStruct,
} from './structs.ts'

/** The oracle side: price requests, answers, collateral prices and trigger validation. */
export const aggregatorAndCallbacksAbi = parseAbi([
  tradeStruct,
  orderAnswerStruct,
  idStruct,
  orderStruct,
  tradePriceImpactStruct,
  valuesStruct,
  'function getCollateralPriceUsd(uint8 _collateralIndex) view returns (uint256)',
  'function getUsdNormalizedValue(uint8 _collateralIndex, uint256 _collateralValue) view returns (uint256)',
  'function getCollateralFromUsdNormalizedValue(uint8 _collateralIndex, uint256 _normalizedValue) view returns (uint256)',
  'function getCollateralUsdPriceFeed(uint8 _collateralIndex) view returns (address)',
  'function getOracles() view returns (address[])',
  'function getOracle(uint256 _index) view returns (address)',
  'function getMinAnswers() view returns (uint8)',
  'function getChainlinkToken() view returns (address)',
  'function getLinkFee(uint8 _collateralIndex, address _trader, uint16 _pairIndex, uint256 _positionSizeCollateral, bool _isCounterTrade) view returns (uint256)',
  'function getPriceAggregatorOrder(bytes32 _requestId) view returns (Order)',
  'function getPriceAggregatorOrderAnswers(Id _orderId) view returns (OrderAnswer[])',
  'function fulfill(bytes32 _requestId, uint256 _priceData)',
  'function getTriggerTimeoutBlocks() view returns (uint16)',
  'function updateTriggerTimeoutBlocks(uint16 _timeoutBlocks)',
  'function hasActiveOrder(uint256 _orderBlock) view returns (bool)',
  'function validateTriggerOpenOrderCallback(Id _tradeId, uint8 _orderType, uint64 _open, uint64 _high, uint64 _low, uint64 _currentPairPrice) view returns (Trade t, Values v)',
  'function validateTriggerCloseOrderCallback(Id _tradeId, uint8 _orderType, uint64 _open, uint64 _high, uint64 _low, uint64 _currentPairPrice) view returns (Trade t, Values v)',
  'function getVaultClosingFeeP() view returns (uint8)',
  'function getPendingGovFeesCollateral(uint8 _collateralIndex) view returns (uint256)',
])
