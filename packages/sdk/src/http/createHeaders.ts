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
  /** Returns the trader of the client. Throws `NO_TRADER`. */
  readonly trader: () => string
}

/**
 * Creates the function that makes the headers of a call: none for public calls, the read-only key for reads if there is
 * one, otherwise a fresh signature, by the agent or by the trader's own wallet. Beside either goes the trader, so that
 * credentials of another one are refused.
 */
export function createHeaders(credentials: Credentials): TransportOptions['headersOf'] {
  const { agent, apiKey, headerPrefix, domain } = credentials
  const prefix = headerPrefix ?? DEFAULT_HEADER_PREFIX
  return async ({ auth, operationId, method, path }, body, nowMs) => {
    if (auth === 'none') return {}
    const isWallet = typeof auth === 'object'
    if (auth === 'read' && apiKey !== undefined) {
      return { [`${prefix}Api-Key`]: apiKey, [`${prefix}Trader`]: credentials.trader() }
    }
    const signer = isWallet ? auth.wallet : agent
    if (signer === undefined) throw missing(isWallet ? 'agent' : auth)
    // A wallet that signs for itself is its own trader.
    const trader = isWallet ? signer.address : credentials.trader()
    const proof = await signRequest({ agent: signer, domain: await domain(), operationId, method, path, body, nowMs })
    return {
      [`${prefix}Agent`]: proof.agent,
      [`${prefix}Timestamp`]: proof.timestamp,
      [`${prefix}Nonce`]: proof.nonce,
      [`${prefix}Signature`]: proof.signature,
      [`${prefix}Trader`]: trader,
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
