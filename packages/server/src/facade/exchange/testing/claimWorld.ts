import {
  ApiError,
  CHAINS,
  parseAddress,
  requestDomain,
  type Address,
  type CreateAgentRequest,
  type Hex,
  type SigningDomain,
} from '@bezel/protocol'
import { requireNamedTrader, requireUsable } from '../../../access/caller.ts'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import { requireAllowed } from '../../../access/limits.ts'
import { createRegistrationLimit } from '../../../access/registrationLimit.ts'
import { NO_CONTROLS } from '../../../access/testing/noControls.ts'
import type { ChainAgents } from '../../../agents/chainAgents.ts'
import { createAgent, type RegistrationOptions } from '../../../agents/createAgent.ts'
import { createDelegates } from '../../../agents/delegates.ts'
import { openRegistry, type Registry } from '../../../agents/registry.ts'
import { revokeAgent } from '../../../agents/revokeAgent.ts'
import type { RpcCall, RpcClient } from '../../../chain/rpcClient.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { ChainOrders } from '../../../orders/chainOrders.ts'
import { agentAuthorization, agentRevocation } from '../../../signatures/digests.ts'
import type { SignatureEngine } from '../../../signatures/recovery.ts'
import { keccak256 } from '../../../signatures/typedData.ts'
import { migrate } from '../../../store/openStore.ts'
import type { Store } from '../../../store/sql.ts'
import { openMemoryStore } from '../../../store/testing/memoryStore.ts'
import type { AgentRecord } from '../../../trading/agentRecord.ts'
import type { Envelope, ExchangeAction } from '../../signing/envelope.ts'
import { createFacadeNonces } from '../../signing/facadeNonces.ts'
import { connectionId, phantomAgentDigest, ZERO_ADDRESS } from '../../signing/phantomAgent.ts'
import { userSignedDigest } from '../../signing/signers.ts'
import { answerEnvelope } from '../exchange.ts'
import type { ExchangeRelayer, TradingParts } from '../exchangeParts.ts'

/** A holder of a key: a trader or an agent. */
export interface Party {
  readonly address: Address
  /** Place of the key, which stands in its signatures. */
  readonly at: number
}

/** A request that somebody sent, as anybody who listens has it. */
export type Sent = SentBody | SentEnvelope

export interface SentBody {
  readonly operation: 'authorise' | 'revoke'
  readonly body: Omit<CreateAgentRequest, 'scope'> & Partial<Pick<CreateAgentRequest, 'scope'>>
}

interface SentEnvelope {
  readonly operation: 'envelope'
  readonly envelope: Envelope
  /** The network of the sender. */
  readonly network: string
}

/** Signs what traders send. */
interface Signing {
  /** Signs an authorisation; `agent` signs too when its key is given. */
  authorisation(
    trader: Party,
    of: {
      readonly agent: Address
      readonly agentKey?: Party | undefined
      readonly scope: CreateAgentRequest['scope']
      readonly timestamp: number
    },
  ): SentBody
  revocation(trader: Party, agent: Address, timestamp: number): SentBody
  /** Signs a seen body with another trader's key; what the agent signed stays in it. */
  resigned(trader: Party, sent: SentBody): SentBody
  /** Signs the facade's approval of an agent, or of the zero address, which ends the agent of the name. */
  approval(trader: Party, agent: Address | null, of: { readonly name: string; readonly nonce: number }): SentEnvelope
}

/**
 * The real operations on agents, native and of the facade, over a store in memory, with keys whose signatures cost
 * nothing.
 */
export interface ClaimWorld extends Signing {
  readonly registry: Registry
  nowMs: number
  /** The delegate of each trader on the chain. */
  readonly delegates: Map<Address, Address>
  party(): Party
  /** Sends a request. Returns true when it was accepted. */
  send(sent: Sent): Promise<boolean>
  /** The text of the last refusal. */
  readonly refusal: string
  /**
   * Sends an action of an agent to the facade, which schedules a cancel. Returns the trader whose cancel it is, as the
   * store has it; `undefined` when it was refused.
   */
  act(agent: Party, nonce: number): Promise<Address | undefined>
  /** Sends a native request of an agent, which may name its trader. Returns the record that it was accepted for. */
  use(agent: Party, named: Address | undefined): Promise<AgentRecord | undefined>
  close(): Promise<void>
}

export const RELAYER = parseAddress(`0x${'9'.repeat(40)}`)!

const { slug, chainId, testnet, liveDiamond: diamond } = CHAINS.base

const CHAIN = { slug, chainId, testnet, diamond, writes: true } as ServedChain

const WINDOW_MS = 30_000

/** Greater than what anybody does here. */
const UNLIMITED = 1_000_000_000

export async function openClaimWorld(startMs: number): Promise<ClaimWorld> {
  const keys: Uint8Array[] = []
  const store = openMemoryStore()
  await migrate(store)
  const state = { nowMs: startMs, refusal: '' }
  const now = (): number => state.nowMs
  const delegates = new Map<Address, Address>()
  const agents = await agentsOf(store, delegates, now)
  const { registry, domain } = agents
  const engine: SignatureEngine = { name: 'js', recoverPublicKey: (digest, rs) => keyOf(keys, digest, rs) }
  const parts = await facadeParts(agents, store, { engine, now })
  let actions = 0

  async function isAccepted(work: Promise<unknown>): Promise<boolean> {
    try {
      await work
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      state.refusal = error.message
      return false
    }
  }

  async function isAnswered({ envelope, network }: SentEnvelope): Promise<boolean> {
    const { status, response } = await answerEnvelope(parts, envelope, { network, onCharge: requireAllowed })
    if (status === 'err') state.refusal = JSON.stringify(response)
    return status === 'ok'
  }

  return Object.assign(state, createSigning(domain), {
    registry,
    delegates,
    party: () => addParty(keys),
    send: (sent: Sent) =>
      sent.operation === 'envelope'
        ? isAnswered(sent)
        : isAccepted(sendBody(agents, sent, { ...OPTIONS, engine, client: agents.client, nowMs: now() })),
    async act(agent: Party, nonce: number) {
      const dueAtMs = now() + 10_000 + ++actions
      const action = { type: 'scheduleCancel', time: dueAtMs }
      const id = connectionId({ action, nonce, vaultAddress: null, expiresAfter: null })
      if (!(await isAnswered(signedEnvelope(agent, action, nonce, phantomAgentDigest('b', id))))) return undefined
      const row = await store.read.get<{ trader: Address }>(
        'select trader from facade_schedules where agent = $1 and due_at = $2',
        agent.address,
        dueAtMs,
      )
      return row?.trader
    },
    async use(agent: Party, named: Address | undefined) {
      const record = await registry.findAgent(slug, agent.address)
      if (record === undefined) return undefined
      const used = async (): Promise<void> => {
        const caller = { via: 'agent', trader: record.trader, agent: record } as const
        await requireUsable(requireNamedTrader(caller, named), agents, now())
      }
      return (await isAccepted(used())) ? record : undefined
    },
    close: () => store.close(),
  })
}

/** The options of a native request that are the same for all. */
const OPTIONS = {
  windowMs: WINDOW_MS,
  chargeContractCall: async () => undefined,
  chargeRegistration: async () => undefined,
  network: 'test',
  path: '/agents',
  body: new Uint8Array(),
} satisfies Partial<RegistrationOptions>

function sendBody(
  agents: ChainAgents,
  { operation, body }: SentBody,
  options: RegistrationOptions,
): Promise<AgentRecord> {
  if (operation === 'authorise') return createAgent(agents, body as CreateAgentRequest, options)
  return revokeAgent(agents, body.agent as Address, body, options)
}

async function agentsOf(
  store: Store,
  delegates: ReadonlyMap<Address, Address>,
  now: () => number,
): Promise<ChainAgents> {
  const client = nodeOf(delegates)
  return {
    chain: CHAIN,
    client,
    domain: requestDomain({ name: 'Test', chainId, diamond }),
    registry: await openRegistry(store, { now }),
    relayer: RELAYER,
    markets: () => new Map(),
    delegates: createDelegates({ client, diamond, maxAgeMs: 2_000, now }),
  }
}

function createSigning(domain: SigningDomain): Signing {
  const digestOf = ({ operation, body: { agent, scope, timestamp } }: SentBody): Uint8Array =>
    operation === 'revoke'
      ? agentRevocation(domain, { agent, timestamp }).digest!
      : agentAuthorization(domain, { ...scope!, agent, name: null, timestamp }).digest!
  return {
    authorisation(trader, { agent, agentKey, scope, timestamp }) {
      const body = { trader: trader.address, agent, scope, timestamp, signature: '0x' as const }
      const digest = digestOf({ operation: 'authorise', body })
      const agentSignature = agentKey === undefined ? {} : { agentSignature: signatureOf(agentKey, digest) }
      return { operation: 'authorise', body: { ...body, signature: signatureOf(trader, digest), ...agentSignature } }
    },
    revocation(trader, agent, timestamp) {
      const body = { trader: trader.address, agent, timestamp, signature: '0x' as const }
      const signature = signatureOf(trader, digestOf({ operation: 'revoke', body }))
      return { operation: 'revoke', body: { ...body, signature } }
    },
    resigned: (trader, sent) => ({
      ...sent,
      body: { ...sent.body, trader: trader.address, signature: signatureOf(trader, digestOf(sent)) },
    }),
    approval(trader, agent, { name, nonce }) {
      const fixed = { type: 'approveAgent', signatureChainId: '0x66eee', hyperliquidChain: 'Testnet' }
      const action = { ...fixed, agentAddress: agent ?? ZERO_ADDRESS, agentName: name, nonce }
      return signedEnvelope(trader, action, nonce, userSignedDigest(action)!)
    },
  }
}

/** Returns the exchange side of the facade, as far as approvals and scheduled cancels need it. */
async function facadeParts(
  { chain, registry, delegates }: ChainAgents,
  store: Store,
  { engine, now }: Pick<TradingParts, 'engine' | 'now'>,
): Promise<TradingParts> {
  const parts: Omit<TradingParts, 'reads' | 'waits'> = {
    orders: { chain, delegates, isKnown: () => true } as Pick<ChainOrders, 'isKnown'> as ChainOrders,
    store,
    relayer: { address: RELAYER, burnRevoked: async () => [] } as Pick<ExchangeRelayer, 'address'> as ExchangeRelayer,
    registry,
    nonces: await createFacadeNonces({ store, now }),
    engine,
    sources: ['b'],
    needsOwnApproval: false,
    controls: NO_CONTROLS,
    limits: createInProcessLimits(),
    approvals: createInProcessLimits(),
    registrations: createRegistrationLimit(createInProcessLimits(), UNLIMITED),
    agentLimit: UNLIMITED,
    agentWritesLimit: UNLIMITED,
    fillWaitMs: 0,
    now,
  }
  return parts as TradingParts
}

/** Returns a node that knows nothing but the delegates of traders. */
function nodeOf(delegates: ReadonlyMap<Address, Address>): RpcClient {
  const resultOf = ({ method, params }: RpcCall): string => {
    if (method !== 'eth_call') return '0x'
    const { data } = params[0] as { readonly data: string }
    const delegate = delegates.get(parseAddress(`0x${data.slice(-40)}`)!) ?? ZERO_ADDRESS
    return `0x${delegate.slice(2).toLowerCase().padStart(64, '0')}`
  }
  return { roundTrips: () => 0, batch: async (calls) => calls.map((call) => ({ ok: true, result: resultOf(call) })) }
}

/** Makes up a public key that nothing but its place tells from the others. */
function addParty(keys: Uint8Array[]): Party {
  const at = keys.length + 1
  const key = Buffer.alloc(65)
  key.writeUInt32BE(at, 61)
  keys.push(key)
  const address = Buffer.from(keccak256(key.subarray(1)).subarray(12)).toString('hex')
  return { address: parseAddress(`0x${address}`)!, at }
}

/** Returns a signature that only fits this key and this digest: r names the key, s is made from the digest. */
function signatureOf({ at }: Party, digest: Uint8Array): `0x${string}` {
  const r = at.toString(16).padStart(64, '0')
  return `0x${r}${Buffer.from(lowered(digest)).toString('hex')}1b`
}

/** Returns an envelope with the signature of a party, from a network of its own. */
function signedEnvelope(party: Party, action: ExchangeAction, nonce: number, digest: Uint8Array): SentEnvelope {
  const text = signatureOf(party, digest)
  const signature = { r: text.slice(0, 66) as Hex, s: `0x${text.slice(66, 130)}` as Hex, v: 27 } as const
  const network = `10.${party.at >> 16}.${(party.at >> 8) & 255}.${party.at & 255}`
  return {
    operation: 'envelope',
    envelope: { action, nonce, signature, vaultAddress: null, expiresAfter: null },
    network,
  }
}

function keyOf(keys: readonly Uint8Array[], digest: Uint8Array, rs: Uint8Array): Uint8Array | undefined {
  const isSigned = Buffer.compare(rs.subarray(32), lowered(digest)) === 0
  return isSigned ? keys[Buffer.from(rs).readUInt32BE(28) - 1] : undefined
}

function lowered(digest: Uint8Array): Uint8Array {
  const low = Uint8Array.from(digest)
  low[0]! &= 0x3f
  return low
}
