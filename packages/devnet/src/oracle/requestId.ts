import { encodeAbiParameters, keccak256, type Address, type Hex } from 'viem'

/** A pending order: who asked, and the number within that user's pending orders. */
export interface OrderKey {
  readonly user: Address
  readonly index: number
}

const TYPES = [{ type: 'address' }, { type: 'uint32' }, { type: 'address' }] as const

/** Which request an oracle answers for an order, as contracts/src/requests/OracleRequest.sol derives it. */
export function requestIdOf({ user, index }: OrderKey, oracle: Address): Hex {
  return keccak256(encodeAbiParameters(TYPES, [user, index, oracle]))
}
