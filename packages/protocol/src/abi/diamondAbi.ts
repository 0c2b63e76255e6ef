import { tradingInteractionsAbi, tradingStorageAbi } from './tradingAbi.ts'
import { pairsStorageAbi, aggregatorAndCallbacksAbi } from './marketsAbi.ts'
import { priceImpactAbi, borrowingAbi, fundingFeesAbi, feeTiersAndReferralsAbi } from './feesAbi.ts'
import { orderEventsAbi, storageEventsAbi, moneyEventsAbi, oracleEventsAbi } from './eventsAbi.ts'
import { errorsAbi } from './errorsAbi.ts'
import { parseAbi } from 'viem'
import { facetStruct, facetCutStruct, addressesStruct } from './structs.ts'

/** Functions of the Diamond itself: EIP-2535 loupe and cut, roles and the reentrancy lock. */
const diamondInfraAbi = parseAbi([
  facetStruct,
  facetCutStruct,
  addressesStruct,
  'function facets() view returns (Facet[] facets_)',
  'function facetAddress(bytes4 _functionSelector) view returns (address facetAddress_)',
  'function facetAddresses() view returns (address[] facetAddresses_)',
  'function facetFunctionSelectors(address _facet) view returns (bytes4[] facetFunctionSelectors_)',
  'function diamondCut(FacetCut[] _faceCut, address _init, bytes _calldata)',
  'function getAddresses() view returns (Addresses)',
  'function hasRole(address _account, uint8 _role) view returns (bool)',
  'function hasRoles(address _account, uint8 _roleA, uint8 _roleB) view returns (bool)',
  'function setRoles(address[] _accounts, uint8[] _roles, bool[] _values)',
  'function getReentrancyLock() view returns (uint256)',
  'function getNativeTransferEnabled() view returns (bool)',
  'function getNativeTransferGasLimit() view returns (uint16)',
])

/** The whole interface of the Diamond that Bezel uses: 201 functions, 80 events, 115 errors. */
export const diamondAbi = [
  ...tradingInteractionsAbi,
  ...tradingStorageAbi,
  ...pairsStorageAbi,
  ...priceImpactAbi,
  ...borrowingAbi,
  ...fundingFeesAbi,
  ...feeTiersAndReferralsAbi,
  ...aggregatorAndCallbacksAbi,
  ...diamondInfraAbi,
  ...orderEventsAbi,
  ...storageEventsAbi,
  ...moneyEventsAbi,
  ...oracleEventsAbi,
  ...errorsAbi,
] as const
