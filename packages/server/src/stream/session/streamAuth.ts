import {
  type PrivateContext,
  authenticateAgent,
  authenticateKey,
  type SignedCall,
  apiKeyUnknown,
} from '../../access/authenticateCall.ts'
import { noteListening, requireNamedTrader, requireUsable, type Caller } from '../../access/caller.ts'
import { ApiError, parseAddress, type Address, type ChainSlug, type CLIENT_MESSAGES } from '@bezel/protocol'
import { requireAllowed } from '../../access/limits.ts'
import {
  parseSignatureFields,
  readApiKey,
  readNamedTrader,
  readSignatureHeaders,
  type SignatureHeaders,
} from '../../access/signatureHeaders.ts'
import { agentNotDelegated, needsDelegation, outOfForce } from '../../agents/agentRefusals.ts'
import { type ChainAgents, requiredDelegate } from '../../agents/chainAgents.ts'
import { notReady } from '../../ground/unavailable.ts'
import type { IncomingMessage } from 'node:http'
import type { Static } from '@sinclair/typebox'
import type { ServedChain } from '../../chain/servedChain.ts'

export type ClientAuthMessage = Static<typeof CLIENT_MESSAGES.authAgent> | Static<typeof CLIENT_MESSAGES.authKey>

/** Authenticates the clients of sockets. Throws an `ApiError` with the codes of the REST operations. */
export interface StreamAuth {
  /** Returns, from memory, the reason why a caller may no longer listen; `undefined` while it may. */
  lapseOf(chain: ServedChain, caller: Caller): ApiError | undefined
  /** Authenticates by the `auth` message. */
  authenticate(chain: ServedChain, message: ClientAuthMessage): Promise<Caller>
  /** Authenticates by the headers of the upgrade request; `undefined` when it carries no credentials. */
  authenticateUpgrade(chain: ServedChain, request: Pick<IncomingMessage, 'headers'>): Promise<Caller | undefined>
}

interface StreamAuthContext extends PrivateContext {
  /** Returns true while nobody is let in, because the clock of this node is wrong. Default: never. */
  readonly isClockWrong?: () => boolean
}

const NO_BODY: Uint8Array = new Uint8Array(0)

/** Creates the authentication of the stream. It takes the credentials of private reads, with the operation `wsAuth`. */
export function createStreamAuth(context: StreamAuthContext): StreamAuth {
  const { agentsOf, authenticate: options, now, isClockWrong = () => false } = context
  function requireRightClock(): void {
    if (isClockWrong()) throw notReady('clock')
  }

  async function byAgent(chain: ChainSlug, signed: SignatureHeaders, named: Address | undefined): Promise<Caller> {
    requireRightClock()
    const agent = await authenticateAgent(handshakeOf(chain), signed, options, requireAllowed)
    return usable(chain, { via: 'agent', trader: agent.trader, agent }, named)
  }

  async function byKey(chain: ChainSlug, key: string, named: Address | undefined): Promise<Caller> {
    requireRightClock()
    return usable(chain, await authenticateKey(chain, key, options, requireAllowed), named)
  }

  async function usable(chain: ChainSlug, caller: Caller, named: Address | undefined): Promise<Caller> {
    await requireUsable(requireNamedTrader(caller, named), agentsOf(chain), now())
    return caller
  }

  return {
    lapseOf({ slug }, caller) {
      const agents = agentsOf(slug)
      const lapse = lapseOf(caller, agents, now())
      // Whoever listens uses its credentials, which keeps them from being forgotten. What fails now is done later.
      if (lapse === undefined) noteListening(caller, agents).catch(() => undefined)
      return lapse
    },
    async authenticate({ slug }, message) {
      const named = message.trader === undefined ? undefined : parseAddress(message.trader)
      return 'apiKey' in message ? byKey(slug, message.apiKey, named) : byAgent(slug, signedMessage(message), named)
    },
    async authenticateUpgrade({ slug }, { headers }) {
      const signed = readSignatureHeaders(headers, options.headerPrefix)
      const named = readNamedTrader(headers, options.headerPrefix)
      if (signed !== undefined) return byAgent(slug, signed, named)
      const key = readApiKey(headers, options.headerPrefix)
      return key === undefined ? undefined : byKey(slug, key, named)
    },
  }
}

/**
 * Returns the signed call, which is the same for a message and an upgrade, whatever query the socket was opened with.
 */
function handshakeOf(chain: ChainSlug): SignedCall {
  return { chain, operation: 'wsAuth', method: 'WS', path: `/v1/${chain}/ws`, body: NO_BODY }
}

/** Parses the fields of a signed `auth` message. */
function signedMessage(message: Exclude<ClientAuthMessage, { readonly apiKey: string }>): SignatureHeaders {
  const { agent, timestamp, nonce, signature } = message
  const parsed = parseSignatureFields(agent, timestamp, nonce, signature)
  if ('agent' in parsed) return parsed
  const issues = parsed.map(({ field, message: what }) => ({ path: `message.${field}`, message: what }))
  const text = parsed.map(({ field, message: what }) => `${field} ${what}`).join('; ')
  throw new ApiError('VALIDATION_ERROR', `The auth message is malformed: ${text}.`, { issues })
}

/**
 * Returns the reason why a caller that authenticated before may no longer listen; `undefined` while it may. Called
 * before everything that is sent to it, so it reads memory only. For the delegate that is the last look, which
 * background rounds keep fresh for subscribed traders.
 */
export function lapseOf(
  caller: Caller,
  { chain, relayer, registry, delegates }: Pick<ChainAgents, 'chain' | 'relayer' | 'registry' | 'delegates'>,
  nowMs: number,
): ApiError | undefined {
  if (caller.via === 'apiKey') {
    return registry.isKeyEnded(chain.slug, caller.keyHash) ? apiKeyUnknown() : undefined
  }
  // Whatever changes is in memory afterwards, so an agent that is not there is as it was when it authenticated.
  const found = registry.agent(chain.slug, caller.agent.agent)
  if (found === null) return new ApiError('AGENT_UNKNOWN', 'This agent is no longer registered on this chain.')
  const record = found ?? caller.agent
  if (record.trader !== caller.trader) return new ApiError('AGENT_REVOKED', 'This agent now serves another trader.')
  const refusal = outOfForce(record, nowMs)
  if (refusal !== undefined || !needsDelegation(record)) return refusal
  const delegate = delegates.known(record.trader)
  const required = requiredDelegate({ relayer }, record)
  return delegate === undefined || delegate === required ? undefined : agentNotDelegated(chain, required)
}
