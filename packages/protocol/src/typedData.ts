import type { Address } from './address.ts'
import type { Hex } from './hex.ts'

/** One member of an EIP-712 struct. */
export interface TypedDataField {
  readonly name: string
  readonly type: string
}

/** What a signature is bound to besides its struct: this deployment, on this chain. */
export interface SigningDomain {
  readonly name: string
  readonly version: '1'
  readonly chainId: number
  readonly verifyingContract: Address
}

/** The same for requests and for the structs a master wallet signs. */
export function requestDomain(of: { name: string; chainId: number; diamond: Address }): SigningDomain {
  return { name: of.name, version: '1', chainId: of.chainId, verifyingContract: of.diamond }
}

/** Struct of every signed request; its primary type is the operation id (`createOrder`, ...). */
export const REQUEST_FIELDS = [
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string' },
  { name: 'bodyHash', type: 'bytes32' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

/** `AgentAuthorization`: absent strings are `""`, markets `all` is `"*"` and a list is joined by `,`, no expiry is 0. */
export const AGENT_AUTHORIZATION_FIELDS = [
  { name: 'agent', type: 'address' },
  { name: 'name', type: 'string' },
  { name: 'markets', type: 'string' },
  { name: 'maxLeverage', type: 'string' },
  { name: 'dailySpendCapUsd', type: 'string' },
  { name: 'expiresAt', type: 'uint256' },
  { name: 'permissions', type: 'string' },
  { name: 'timestamp', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

export const AGENT_REVOCATION_FIELDS = [
  { name: 'agent', type: 'address' },
  { name: 'timestamp', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

export const API_KEY_ISSUE_FIELDS = [
  { name: 'label', type: 'string' },
  { name: 'timestamp', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

/** keccak256 of no bytes: the `bodyHash` of a request without a body. */
export const EMPTY_BODY_HASH = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' as Hex
