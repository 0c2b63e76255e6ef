import {
  EMPTY_BODY_HASH,
  REQUEST_FIELDS,
  AGENT_AUTHORIZATION_FIELDS,
  type AgentScope,
  type SigningDomain,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
} from '@bezel/protocol/wire'
import { keccak256, stringToBytes } from 'viem'

/** Typed data that wallets sign (EIP-712). */
export interface TypedData {
  /** Domain of the signature. */
  readonly domain: SigningDomain
  /** Name of the signed struct. */
  readonly primaryType: string
  /** Fields of the structs by name. */
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  /** Values of the signed struct. */
  readonly message: Readonly<Record<string, string | bigint>>
}

/** Something that signs typed data. viem's local accounts fit, and any wallet can be adapted. */
export interface Signer {
  /** Address that the signatures are of. */
  readonly address: `0x${string}`
  /** Signs EIP-712 typed data. */
  // Declared as a method, so that the narrower parameter types of viem's accounts fit.
  signTypedData(typedData: never): Promise<`0x${string}`>
}

/** Asks a signer for its signature of a struct. */
export function signTypedData(signer: Signer, typedData: TypedData): Promise<`0x${string}`> {
  return signer.signTypedData(typedData as never)
}

/** A request as it is signed. `path` is that of the request line with its query, from `/v1` on. */
export interface RequestToSign {
  /** Operation id of the endpoint. */
  readonly operationId: string
  /** HTTP method in upper case. */
  readonly method: string
  /** Path with its query. */
  readonly path: string
  /** Body exactly as it is sent. Default: none. */
  readonly body?: string | undefined
  /** Time of the signature in epoch milliseconds. */
  readonly timestamp: bigint
  /** A number that this agent never used before. */
  readonly nonce: bigint
}

/** Returns the typed data of a request. Its primary type is the operation id. */
export function requestTypedData(domain: SigningDomain, request: RequestToSign): TypedData {
  const { operationId, method, path, body, timestamp, nonce } = request
  return {
    domain,
    primaryType: operationId,
    types: { [operationId]: REQUEST_FIELDS },
    message: { method, path, bodyHash: bodyHashOf(body), timestamp, nonce },
  }
}

/** Returns the keccak256 hash of the exact bytes of a body. */
export function bodyHashOf(body: string | undefined): `0x${string}` {
  return body === undefined || body === '' ? EMPTY_BODY_HASH : keccak256(stringToBytes(body))
}

/** The authorisation of an agent, as the trader and the agent sign it. */
export interface AgentAuthorization {
  /** Address of the agent. */
  readonly agent: `0x${string}`
  /** Name of the agent; "" for none. */
  readonly name: string
  /** Limits of the agent. */
  readonly scope: AgentScope
  /** Time in epoch milliseconds, later than that of the previous authorisation of this agent. */
  readonly timestamp: number
}

/**
 * Returns the typed data that authorises an agent. `all` markets are `*`, a list is joined by commas, null is empty or
 * 0.
 */
export function agentAuthorizationTypedData(domain: SigningDomain, authorization: AgentAuthorization): TypedData {
  const { agent, name, scope, timestamp } = authorization
  return {
    domain,
    primaryType: 'AgentAuthorization',
    types: { AgentAuthorization: AGENT_AUTHORIZATION_FIELDS },
    message: {
      agent,
      name,
      markets: scope.markets === 'all' ? '*' : scope.markets.join(','),
      maxLeverage: scope.maxLeverage ?? '',
      dailySpendCapUsd: scope.dailySpendCapUsd ?? '',
      expiresAt: BigInt(scope.expiresAt ?? 0),
      permissions: scope.permissions,
      timestamp: BigInt(timestamp),
    },
  }
}

/** Returns the typed data that revokes an agent. */
export function agentRevocationTypedData(
  domain: SigningDomain,
  { agent, timestamp }: { readonly agent: `0x${string}`; readonly timestamp: number },
): TypedData {
  return {
    domain,
    primaryType: 'AgentRevocation',
    types: { AgentRevocation: AGENT_REVOCATION_FIELDS },
    message: { agent, timestamp: BigInt(timestamp) },
  }
}

/** Returns the typed data that issues a read-only key. */
export function apiKeyIssueTypedData(
  domain: SigningDomain,
  { label, timestamp }: { readonly label: string; readonly timestamp: number },
): TypedData {
  return {
    domain,
    primaryType: 'ApiKeyIssue',
    types: { ApiKeyIssue: API_KEY_ISSUE_FIELDS },
    message: { label, timestamp: BigInt(timestamp) },
  }
}
