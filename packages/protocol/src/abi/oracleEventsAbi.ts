import { parseAbi } from 'viem'
import {
  tradeStruct,
  orderAnswerStruct,
  idStruct,
  pendingOrderStruct,
  facetCutStruct,
  addressesStruct,
  aggregatorAnswerStruct,
} from './structs.ts'

/** Events of the oracle and of the Diamond itself. */
export const oracleEventsAbi = parseAbi([
  tradeStruct,
  orderAnswerStruct,
  idStruct,
  pendingOrderStruct,
  facetCutStruct,
  addressesStruct,
  aggregatorAnswerStruct,
  'event PriceRequested(uint8 indexed collateralIndex, uint256 indexed pairIndex, PendingOrder pendingOrder, uint256 positionSizeCollateral, uint256 fromBlock, bool isCounterTrade, bool isLookback, bytes32 job, uint256 linkFeePerNode, uint256 nodesCount)',
  'event PriceReceived(Id orderId, uint16 indexed pairIndex, bytes32 request, uint256 priceData, bool isLookback, bool usedInMedian, bool minAnswersReached, bool minFilteredAnswersReached, OrderAnswer[] unfilteredAnswers, OrderAnswer[] filteredAnswers)',
  'event TradingCallbackExecuted(AggregatorAnswer a, uint8 orderType)',
  'event SignedPricesReceived(uint16 indexed pairIndex, bool isLookback, uint32 fromBlock, bool minFilteredAnswersReached, OrderAnswer[] unfilteredAnswers, OrderAnswer[] filteredAnswers)',
  'event DiamondCut(FacetCut[] _diamondCut, address _init, bytes _calldata)',
  'event Initialized(uint8 version)',
  'event AddressesUpdated(Addresses addresses)',
  'event AccessControlUpdated(address target, uint8 role, bool access)',
])
