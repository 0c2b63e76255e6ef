import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import { createPublisher } from '../ground/publisher.ts'
import { findAgent, loadAgents, saveAgent } from '../store/agentStore.ts'
import { readLastKeySignedAtMs, loadApiKeys, saveApiKey, type ApiKeyRecord } from '../store/apiKeyStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import { type AgentRecord, isExpired } from '../trading/agentRecord.ts'

/** Agents and API keys: looked up in memory on every request, and kept in the store. */
export interface Registry {
  agent(chain: ChainSlug, agent: Address): AgentRecord | undefined
  /** Returns the agents of all traders of a chain, in no particular order. */
  agentsOn(chain: ChainSlug): AgentRecord[]
  /**
   * Returns a trader's agents in the order of their registration; ties are ordered by address, so the order is stable.
   */
  agentsOf(chain: ChainSlug, trader: Address): AgentRecord[]
  /**
   * Changes one agent's record: `change` receives the stored record and returns the new one, or throws. Durable when it
   * resolves.
   */
  changeAgent(
    chain: ChainSlug,
    agent: Address,
    change: (stored: AgentRecord | undefined) => AgentRecord,
  ): Promise<AgentRecord>
  /**
   * Stores the record of a trader who signs for itself, in a transaction of the caller, unless it has one or is another
   * trader's agent by its own signature. Returns the stored record. `noteAgent` follows once that transaction has
   * committed.
   */
  addOwnAgent(sql: Sql, record: AgentRecord): Promise<AgentRecord>
  /** Takes over a record that a committed transaction stored. */
  noteAgent(record: AgentRecord): void
  /**
   * Calls the listener after each change of an agent, once for every trader whose agents it changed. Returns a function
   * that ends the subscription.
   */
  onAgentChange(listener: (change: AgentChange) => void): () => void
  /** Returns the trader that a key belongs to. */
  keyOwner(chain: ChainSlug, keyHash: string): Address | undefined
  addKey(record: ApiKeyRecord): Promise<void>
}

/** The trader whose agents changed, and the chain. */
export interface AgentChange {
  readonly chain: ChainSlug
  readonly trader: Address
}

export async function openRegistry(store: Store): Promise<Registry> {
  const agents = new Map<string, AgentRecord>()
  /** Keys of `agents`, by trader. */
  const byTrader = new Map<string, Set<string>>()
  for (const record of await loadAgents(store.read)) rememberAgent(record)
  const owners = new Map<string, Address>()
  const hashes = new Map<string, string>()
  const changes = createPublisher<AgentChange>()
  for (const record of await loadApiKeys(store.read)) remember(record)

  /** Stores an agent under its trader, and removes it from the trader it belonged to before. */
  function rememberAgent(record: AgentRecord): void {
    const key = keyOf(record.chain, record.agent)
    const before = agents.get(key)
    if (before !== undefined) byTrader.get(keyOf(before.chain, before.trader))?.delete(key)
    agents.set(key, record)
    const owner = keyOf(record.chain, record.trader)
    byTrader.set(owner, (byTrader.get(owner) ?? new Set()).add(key))
  }

  function noteAgent(record: AgentRecord): void {
    const before = agents.get(keyOf(record.chain, record.agent))
    rememberAgent(record)
    publishChange(before, record)
  }

  function publishChange(before: AgentRecord | undefined, { chain, trader }: AgentRecord): void {
    for (const changed of new Set([before?.trader ?? trader, trader])) {
      changes.publish({ chain, trader: changed })
    }
  }

  function remember({ chain, trader, label, keyHash }: ApiKeyRecord): void {
    const slot = keyOf(chain, trader, label)
    const replaced = hashes.get(slot)
    if (replaced !== undefined) owners.delete(keyOf(chain, replaced))
    hashes.set(slot, keyHash)
    owners.set(keyOf(chain, keyHash), trader)
  }

  return {
    agent: (chain, agent) => agents.get(keyOf(chain, agent)),
    agentsOn: (slug) => [...agents.values()].filter(({ chain }) => chain === slug),
    agentsOf: (chain, trader) =>
      [...(byTrader.get(keyOf(chain, trader)) ?? [])]
        .map((key) => agents.get(key)!)
        .toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.agent < b.agent ? -1 : 1)),
    async changeAgent(chain, agent, change) {
      const next = await store.transaction(async (sql) => {
        const changed = change(await findAgent(sql, chain, agent))
        await saveAgent(sql, changed)
        return changed
      })
      noteAgent(next)
      return next
    },
    async addOwnAgent(sql, record) {
      const stored = await findAgent(sql, record.chain, record.agent)
      if (stored !== undefined && (stored.trader === record.trader || stored.agentSigned)) return stored
      await saveAgent(sql, record)
      return record
    },
    noteAgent,
    onAgentChange: changes.subscribe,
    keyOwner: (chain, keyHash) => owners.get(keyOf(chain, keyHash)),
    async addKey(record) {
      await store.transaction(async (sql) => {
        refuseReplay(await readLastKeySignedAtMs(sql, record.chain, record.trader), record.signedAtMs)
        await saveApiKey(sql, record)
      })
      remember(record)
    },
  }
}

/**
 * Throws unless the struct is newer than the last accepted one. Structs of the master wallet have no nonce, so their
 * timestamps must grow.
 */
export function refuseReplay(lastSignedAtMs: number, signedAtMs: number): void {
  if (signedAtMs > lastSignedAtMs) return
  throw new ApiError(
    'NONCE_REUSED',
    'A struct with this timestamp or a later one was already accepted: sign a new one.',
  )
}

function keyOf(...parts: readonly string[]): string {
  return parts.join(' ')
}

/** The greatest number of agents in force per trader and chain, because an account is shown with all of them. */
export const MAX_AGENTS = 50

/**
 * Throws when a registration may not replace the stored one of the same agent. An agent serves one trader per chain,
 * and only the trader's signature is required, so a stranger could claim somebody's agent: the agent's own signature
 * decides.
 */
export function checkRegistration(stored: AgentRecord | undefined, next: AgentRecord, nowMs: number): void {
  if (stored === undefined) return
  const isOtherTrader = stored.trader !== next.trader
  const provesMore = next.agentSigned && !stored.agentSigned
  const isFree = !stored.agentSigned && (stored.revoked || isExpired(stored, nowMs))
  if (isOtherTrader && !next.agentSigned && !isFree) {
    throw new ApiError(
      'TRADER_MISMATCH',
      'This agent is registered for another trader. Send agentSignature, the signature of the agent itself over the same struct, to move it.',
    )
  }
  // A stranger's claim may carry a timestamp in the future; it must not lock out the agent's own trader.
  if (isOtherTrader && provesMore) return
  refuseReplay(stored.signedAtMs, next.signedAtMs)
}

/**
 * Throws when the trader already has `MAX_AGENTS` agents in force. The limit exists because anybody may register
 * agents.
 */
export function refuseManyAgents(registry: Pick<Registry, 'agentsOf'>, next: AgentRecord, nowMs: number): void {
  const others = registry
    .agentsOf(next.chain, next.trader)
    .filter((record) => record.agent !== next.agent && !record.revoked && !isExpired(record, nowMs))
  if (others.length < MAX_AGENTS) return
  const message = `This trader has ${MAX_AGENTS} agents on this chain: revoke one before another is registered.`
  throw new ApiError('UNSUPPORTED', message, { limit: MAX_AGENTS })
}
