import type { Address, Hex } from './values/identifiers.ts'

/** A member of an EIP-712 struct. */
export interface TypedDataField {
  readonly name: string
  readonly type: string
}

/** The domain of a signature: this deployment on this chain. */
export interface SigningDomain {
  /** Name of the deployment in signatures. */
  readonly name: string
  /** Version of the signing scheme. */
  readonly version: '1'
  /** Id of the chain. */
  readonly chainId: number
  /** Address of the Diamond. */
  readonly verifyingContract: `0x${string}`
}

/** Returns the domain of signed requests, which is also that of the structs a trader signs. */
export function requestDomain(of: { name: string; chainId: number; diamond: Address }): SigningDomain {
  return { name: of.name, version: '1', chainId: of.chainId, verifyingContract: of.diamond }
}

/** The struct of every signed request. Its primary type is the operation id (`createOrder`, ...). */
export const REQUEST_FIELDS = [
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string' },
  { name: 'bodyHash', type: 'bytes32' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

/**
 * The struct `AgentAuthorization`. Absent strings are `""`, all markets are `"*"`, a list is joined by `,`, no expiry
 * is 0.
 */
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

/** The struct `AgentRevocation`, which a trader signs to revoke an agent. */
export const AGENT_REVOCATION_FIELDS = [
  { name: 'agent', type: 'address' },
  { name: 'timestamp', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

/** The struct `ApiKeyIssue`, which a trader signs to get a read-only key. */
export const API_KEY_ISSUE_FIELDS = [
  { name: 'label', type: 'string' },
  { name: 'timestamp', type: 'uint256' },
] as const satisfies readonly TypedDataField[]

/** The keccak256 hash of no bytes: the `bodyHash` of a request without a body. */
export const EMPTY_BODY_HASH = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' as Hex
