import type { Address, ChainSlug } from '@bezel/protocol'
import { findAgent, loadAgents, saveAgent } from '../store/agentStore.ts'
import { lastKeySignedAtMs, loadApiKeys, saveApiKey, type ApiKeyRecord } from '../store/apiKeyStore.ts'
import type { Store } from '../store/sql.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { refuseReplay } from './register.ts'

/** Agents and API keys, found in memory on every request and kept in the store. */
export interface Registry {
  agent(chain: ChainSlug, agent: Address): AgentRecord | undefined
  /** Of all traders, in no order. */
  agentsOn(chain: ChainSlug): AgentRecord[]
  /** In the order of their registration, and always in the same one. */
  agentsOf(chain: ChainSlug, trader: Address): AgentRecord[]
  /** Changes one agent's record: `change` sees what is stored and gives the new one, or throws. Durable when it resolves. */
  changeAgent(
    chain: ChainSlug,
    agent: Address,
    change: (stored: AgentRecord | undefined) => AgentRecord,
  ): Promise<AgentRecord>
  /** Called after each change of an agent, for every trader whose agents it changed. Returns what ends it. */
  onAgentChange(listener: AgentListener): () => void
  /** The trader a key belongs to. */
  keyOwner(chain: ChainSlug, keyHash: string): Address | undefined
  addKey(record: ApiKeyRecord): Promise<void>
}

type AgentListener = (chain: ChainSlug, trader: Address) => void

export async function openRegistry(store: Store): Promise<Registry> {
  const agents = new Map<string, AgentRecord>()
  /** By trader. */
  const byTrader = new Map<string, Set<string>>()
  for (const record of await loadAgents(store.read)) rememberAgent(record)
  const owners = new Map<string, Address>()
  const hashes = new Map<string, string>()
  const listeners = new Set<AgentListener>()
  for (const record of await loadApiKeys(store.read)) remember(record)

  /** An agent that changes its trader is the new one's alone. */
  function rememberAgent(record: AgentRecord): void {
    const key = keyOf(record.chain, record.agent)
    const before = agents.get(key)
    if (before !== undefined) byTrader.get(keyOf(before.chain, before.trader))?.delete(key)
    agents.set(key, record)
    const owner = keyOf(record.chain, record.trader)
    byTrader.set(owner, (byTrader.get(owner) ?? new Set()).add(key))
  }

  function tellListeners(before: AgentRecord | undefined, { chain, trader }: AgentRecord): void {
    for (const changed of new Set([before?.trader ?? trader, trader])) {
      for (const listener of listeners) listener(chain, changed)
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
      const before = agents.get(keyOf(chain, agent))
      rememberAgent(next)
      tellListeners(before, next)
      return next
    },
    onAgentChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    keyOwner: (chain, keyHash) => owners.get(keyOf(chain, keyHash)),
    async addKey(record) {
      await store.transaction(async (sql) => {
        refuseReplay(await lastKeySignedAtMs(sql, record.chain, record.trader), record.signedAtMs)
        await saveApiKey(sql, record)
      })
      remember(record)
    },
  }
}

function keyOf(...parts: readonly string[]): string {
  return parts.join(' ')
}
