import type { SigningDomain } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'
import type { Signer } from '../signing/typedData.ts'
import { signRequest } from '../signing/signRequest.ts'
import type { TransportOptions } from './createTransport.ts'

/** Default prefix of the authentication headers. */
export const DEFAULT_HEADER_PREFIX = 'X-Service-'

export interface Credentials {
  readonly agent: Signer | undefined
  readonly apiKey: string | undefined
  readonly headerPrefix: string | undefined
  readonly domain: () => Promise<SigningDomain>
  /** Returns the trader of the client; `undefined` as long as it is not known. */
  readonly trader: () => string | undefined
}

/**
 * Creates the function that makes the headers of a call: none for public calls, the read-only key for reads if there is
 * one, otherwise a fresh signature. Beside either goes the trader, so that credentials of another one are refused.
 */
export function createHeaders(credentials: Credentials): TransportOptions['headersOf'] {
  const { agent, apiKey, headerPrefix, domain } = credentials
  const prefix = headerPrefix ?? DEFAULT_HEADER_PREFIX
  const named = (): Record<string, string> => {
    const trader = credentials.trader()
    return trader === undefined ? {} : { [`${prefix}Trader`]: trader }
  }
  return async ({ auth, operationId, method, path }, body, nowMs) => {
    if (auth === 'none') return {}
    if (auth === 'read' && apiKey !== undefined) return { [`${prefix}Api-Key`]: apiKey, ...named() }
    if (agent === undefined) throw missing(auth)
    const proof = await signRequest({ agent, domain: await domain(), operationId, method, path, body, nowMs })
    return {
      [`${prefix}Agent`]: proof.agent,
      [`${prefix}Timestamp`]: proof.timestamp,
      [`${prefix}Nonce`]: proof.nonce,
      [`${prefix}Signature`]: proof.signature,
      ...named(),
    }
  }
}

function missing(auth: 'read' | 'agent'): BezelConfigError {
  return auth === 'read'
    ? new BezelConfigError(
        'NO_CREDENTIALS',
        'An account is read with an agent or a read-only key: give the client { agent } or { apiKey }.',
      )
    : new BezelConfigError(
        'NO_AGENT',
        'Only an agent can write: give the client { agent }. A read-only key can never place an order.',
      )
}
