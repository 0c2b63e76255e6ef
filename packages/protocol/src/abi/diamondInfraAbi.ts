import { parseAbi } from 'viem'
import { facetStruct, facetCutStruct, addressesStruct } from './structs.ts'

/** EIP-2535 loupe and cut, roles and the reentrancy lock. */
export const diamondInfraAbi = parseAbi([
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
