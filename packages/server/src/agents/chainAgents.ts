import type { Address, AgentAnswer, SigningDomain } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { createDelegates, type Delegates } from './delegates.ts'
import type { Registry } from './registry.ts'
import { type AgentRecord, agentStatus } from '../trading/agentRecord.ts'
import { delegationTx } from './agentRefusals.ts'

/** The agents of one chain, with everything that operations on them need. */
export interface ChainAgents {
  readonly chain: ServedChain
  readonly domain: SigningDomain
  readonly registry: Registry
  readonly delegates: Delegates
  readonly client: RpcClient
  /**
   * Address that sends transactions for agents that came through the facade, as it is now; `null` where there is no
   * relayer.
   */
  readonly relayer: Address | null
  /** Returns the listed markets by symbol; `undefined` until they are read. */
  readonly markets: () => ReadonlyMap<string, unknown> | undefined
}

export interface ChainAgentsOptions extends Pick<ChainAgents, 'markets'> {
  readonly client: RpcClient
  readonly registry: Registry
  readonly domain: SigningDomain
  /** Returns the address of the deployment's relayer; `null` while none is known, or when the facade is read-only. */
  readonly relayer: () => Address | null
  /** Greatest age of a known delegate before it is read again. */
  readonly delegateMaxAgeMs: number
  readonly now: () => number
}

export function createChainAgents(chain: ServedChain, options: ChainAgentsOptions): ChainAgents {
  const { client, registry, domain, markets, now } = options
  return {
    chain,
    client,
    registry,
    domain,
    markets,
    delegates: createDelegates({ client, diamond: chain.diamond, maxAgeMs: options.delegateMaxAgeMs, now }),
    get relayer() {
      return chain.writes ? options.relayer() : null
    },
  }
}

/**
 * Returns the address that must be the trader's on-chain delegate so that this agent can trade: the agent itself, or
 * the relayer that sends for it.
 */
export function requiredDelegate(
  { relayer }: Pick<ChainAgents, 'relayer'>,
  { mode, agent }: Pick<AgentRecord, 'mode' | 'agent'>,
): Address {
  return mode === 'relayed' && relayer !== null ? relayer : agent
}

/** Returns the answer about an agent, after a delegation that was found on the chain is noted. */
export async function provenAnswer(
  agents: ChainAgents,
  record: AgentRecord,
  delegate: Address | undefined,
  nowMs: number,
): Promise<AgentAnswer> {
  if (delegate === requiredDelegate(agents, record)) await agents.registry.noteStanding(record, 'delegated')
  return agentAnswer(agents, record, delegate, nowMs)
}

/**
 * Returns an agent as the API shows it. `delegate` is the trader's on-chain delegate, `undefined` while it is not
 * known.
 */
export function agentAnswer(
  agents: Pick<ChainAgents, 'chain' | 'relayer'>,
  record: AgentRecord,
  delegate: Address | undefined,
  nowMs: number,
): AgentAnswer {
  const { agent, trader, name, scope, mode, createdAtMs } = record
  const required = requiredDelegate(agents, record)
  const isDelegated = delegate === required || agent === trader
  const status = agentStatus(record, isDelegated, nowMs)
  return {
    agent: { agent, trader, name, scope, mode, status, createdAt: createdAtMs },
    delegationTx: required === trader ? null : delegationTx(agents.chain, required),
  }
}
