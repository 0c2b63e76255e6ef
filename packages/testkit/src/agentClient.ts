import {
  AGENT_AUTHORIZATION_FIELDS,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
  REQUEST_FIELDS,
  type AgentScope,
  type SigningDomain,
} from '@bezel/protocol'
import { keccak256, stringToBytes, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { within } from './until.ts'

/** An answer of the service. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever the service sent and asserts on it
  readonly body: any
}

export const UNLIMITED_SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

let lastNonce = 0

/** Returns a nonce that is unique in this process. */
export function freshNonce(): string {
  lastNonce = Math.max(Date.now() * 1000, lastNonce + 1)
  return String(lastNonce)
}

export function call(url: string, path: string, init: RequestInit = {}): Promise<Answer> {
  return within(`an answer to ${init.method ?? 'GET'} ${path}`, async (signal) => {
    const answer = await fetch(url + path, { signal, ...init })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  })
}

export function send(url: string, method: string, path: string, body: unknown): Promise<Answer> {
  return call(url, path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** Returns the four headers of a signed request. `overrides` replaces the timestamp or nonce, to test bad ones. */
export async function signedHeaders(
  domain: SigningDomain,
  agent: PrivateKeyAccount,
  of: { operation: string; method: string; path: string; body?: string | Uint8Array },
  overrides: { timestamp?: string; nonce?: string } = {},
): Promise<Record<string, string>> {
  const timestamp = overrides.timestamp ?? String(Date.now())
  const nonce = overrides.nonce ?? freshNonce()
  const signature = await agent.signTypedData({
    domain,
    primaryType: of.operation,
    types: { [of.operation]: REQUEST_FIELDS },
    message: {
      method: of.method,
      path: of.path,
      bodyHash: keccak256(typeof of.body === 'object' ? of.body : stringToBytes(of.body ?? '')),
      timestamp: BigInt(timestamp),
      nonce: BigInt(nonce),
    },
  } as never)
  return {
    'x-service-agent': agent.address,
    'x-service-timestamp': timestamp,
    'x-service-nonce': nonce,
    'x-service-signature': signature,
  }
}

/** Sends a signed GET request. */
export async function signedGet(
  url: string,
  domain: SigningDomain,
  agent: PrivateKeyAccount,
  operation: string,
  path: string,
): Promise<Answer> {
  return call(url, path, { headers: await signedHeaders(domain, agent, { operation, method: 'GET', path }) })
}

function authorizationStruct(agent: Hex, scope: AgentScope, name: string, timestamp: number) {
  return {
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

/** Returns the body of createAgent, signed by the trader and, unless `withoutAgent` is set, by the agent. */
export async function authorization(
  domain: SigningDomain,
  trader: PrivateKeyAccount,
  agent: PrivateKeyAccount,
  of: { scope?: AgentScope; name?: string; timestamp?: number; withoutAgent?: boolean } = {},
) {
  const { scope = UNLIMITED_SCOPE, name = '', timestamp = Date.now() } = of
  const struct = { domain, ...authorizationStruct(agent.address, scope, name, timestamp) } as never
  const body = { trader: trader.address, agent: agent.address, scope, name, timestamp }
  const signature = await trader.signTypedData(struct)
  if (of.withoutAgent === true) return { ...body, signature }
  return { ...body, signature, agentSignature: await agent.signTypedData(struct) }
}

export async function revocation(domain: SigningDomain, trader: PrivateKeyAccount, agent: Hex, timestamp = Date.now()) {
  const signature = await trader.signTypedData({
    domain,
    primaryType: 'AgentRevocation',
    types: { AgentRevocation: AGENT_REVOCATION_FIELDS },
    message: { agent, timestamp: BigInt(timestamp) },
  } as never)
  return { trader: trader.address, timestamp, signature }
}

export async function keyIssue(
  domain: SigningDomain,
  trader: PrivateKeyAccount,
  label: string,
  timestamp = Date.now(),
) {
  const signature = await trader.signTypedData({
    domain,
    primaryType: 'ApiKeyIssue',
    types: { ApiKeyIssue: API_KEY_ISSUE_FIELDS },
    message: { label, timestamp: BigInt(timestamp) },
  } as never)
  return { trader: trader.address, label, timestamp, signature }
}
