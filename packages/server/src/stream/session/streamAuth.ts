import {
  type PrivateContext,
  authenticateAgent,
  authenticateKey,
  type SignedCall,
} from '../../access/authenticateCall.ts'
import { requireUsable } from '../../access/requireUsable.ts'
import { ApiError, type ChainSlug } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import { requireAllowed } from '../../access/limitAnswers.ts'
import {
  parseSignatureFields,
  readApiKey,
  readSignatureHeaders,
  type SignatureHeaders,
} from '../../access/signatureHeaders.ts'
import type { AuthMessage, StreamAuth } from './auth.ts'
import { lapseOf } from './lapseOf.ts'

const NO_BODY: Uint8Array = new Uint8Array(0)

/** The credentials of the stream: those of private reads, over the struct `wsAuth`. */
export function createStreamAuth({ agentsOf, authenticate: options, now }: PrivateContext): StreamAuth {
  async function byAgent(chain: ChainSlug, signed: SignatureHeaders): Promise<Caller> {
    const agent = await authenticateAgent(handshakeOf(chain), signed, options, requireAllowed)
    return usable(chain, { via: 'agent', trader: agent.trader, agent })
  }

  async function byKey(chain: ChainSlug, key: string): Promise<Caller> {
    return usable(chain, await authenticateKey(chain, key, options, requireAllowed))
  }

  async function usable(chain: ChainSlug, caller: Caller): Promise<Caller> {
    await requireUsable(caller, agentsOf(chain), now())
    return caller
  }

  return {
    lapseOf: ({ slug }, caller) => lapseOf(caller, agentsOf(slug), now()),
    authenticate: async ({ slug }, message) =>
      'apiKey' in message ? byKey(slug, message.apiKey) : byAgent(slug, signedMessage(message)),
    async authenticateUpgrade({ slug }, { headers }) {
      const signed = readSignatureHeaders(headers, options.headerPrefix)
      if (signed !== undefined) return byAgent(slug, signed)
      const key = readApiKey(headers, options.headerPrefix)
      return key === undefined ? undefined : byKey(slug, key)
    },
  }
}

/** The same for a message and an upgrade, whatever query the socket was opened with. */
function handshakeOf(chain: ChainSlug): SignedCall {
  return { chain, operation: 'wsAuth', method: 'WS', path: `/v1/${chain}/ws`, body: NO_BODY }
}

/** An error message has no details, so its text says what is wrong. */
function signedMessage(message: Exclude<AuthMessage, { readonly apiKey: string }>): SignatureHeaders {
  const { agent, timestamp, nonce, signature } = message
  const parsed = parseSignatureFields(agent, timestamp, nonce, signature)
  if ('agent' in parsed) return parsed
  const issues = parsed.map(({ field, message: what }) => ({ path: `message.${field}`, message: what }))
  const text = parsed.map(({ field, message: what }) => `${field} ${what}`).join('; ')
  throw new ApiError('VALIDATION_ERROR', `The auth message is malformed: ${text}.`, { issues })
}
