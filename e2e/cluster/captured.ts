import type { SigningDomain } from '@bezel/protocol'
import { call, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ExchangeAction } from '../../packages/server/src/facade/signing/envelope.ts'

export const CHAIN = 'arbitrum-sepolia'
export const CHAIN_PATH = `/v1/${CHAIN}`
const EXCHANGE_PATH = `/hl/${CHAIN}/exchange`
const JSON_TYPE = { 'content-type': 'application/json' }

/** A signed request, as somebody who saw it could send it again. */
export interface Captured {
  readonly path: string
  readonly init: RequestInit
}

/** Sends a captured request to a node. */
export function sendCaptured(url: string, { path, init }: Captured): Promise<Answer> {
  return call(url, path, init)
}

/** Captures a request that an agent signed; `rest` is its path after the chain. */
export async function captureSigned(
  { domain, agent }: { readonly domain: SigningDomain; readonly agent: PrivateKeyAccount },
  operation: string,
  method: string,
  rest: string,
  content?: object,
): Promise<Captured> {
  const path = CHAIN_PATH + rest
  const body = content === undefined ? {} : { body: JSON.stringify(content) }
  const headers = await signedHeaders(domain, agent, { operation, method, path, ...body })
  return { path, init: { method, headers: { ...headers, ...(content !== undefined && JSON_TYPE) }, ...body } }
}

/** Captures a request whose body carries the signature of the trader's wallet. */
export function captureStruct(method: string, rest: string, body: object): Captured {
  return { path: CHAIN_PATH + rest, init: { method, headers: JSON_TYPE, body: JSON.stringify(body) } }
}

let lastNonce = 0

/** Returns the current time as a nonce of the facade, never the same twice. */
function facadeNonce(): number {
  lastNonce = Math.max(Date.now(), lastNonce + 1)
  return lastNonce
}

/** Captures an envelope of the facade that an agent signed. */
export function captureEnvelope(key: string, action: ExchangeAction): Captured {
  const { expiresAfter: _none, ...envelope } = signL1(key, { action, nonce: facadeNonce() })
  return { path: EXCHANGE_PATH, init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(envelope) } }
}

/** Captures the envelope by which the wallet of a trader approves an agent on the facade. */
export function captureApproval(masterKey: string, agentAddress: string, agentName = ''): Captured {
  const action = {
    type: 'approveAgent',
    hyperliquidChain: 'Testnet',
    signatureChainId: '0x66eee',
    agentAddress: agentAddress.toLowerCase(),
    agentName,
    nonce: facadeNonce(),
  }
  const { expiresAfter: _none, ...envelope } = signUserSigned(masterKey, action)
  return { path: EXCHANGE_PATH, init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(envelope) } }
}

/** True for an answer that says that the request was carried out, or by the facade that its action was. */
export function isAccepted({ status, body }: Answer): boolean {
  return status < 300 && body.status !== 'err'
}
