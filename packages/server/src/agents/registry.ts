import type { Address, ChainSlug } from '@bezel/protocol'
import { createLru } from '../ground/lru.ts'
import { createPublisher } from '../ground/publisher.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { createCommits, type Commits } from '../journal/commits.ts'
import type { RightsChange } from '../journal/commitBody.ts'
import { copyExpiries, findAgent, holdAgent, listAgentsOf, saveAgent } from '../store/agentStore.ts'
import type { AuditOrigin } from '../store/auditStore.ts'
import { CLAIM_KEPT_MS, RENEWED_MS, listOldClaims, readClaimSinceMs, removeClaim } from '../store/claimStore.ts'
import type { Sql, Store, Transaction } from '../store/sql.ts'
import { isProven, type AgentRecord } from '../trading/agentRecord.ts'
import { createKeys, type FollowedKeys, type Keys, type KeysOptions } from './keys.ts'
import { dropClaims, isKeptFrom, MAX_CLAIMS, refuseManyAgents, type GoneClaim } from './claims.ts'
import { claimOf, mayBeProven, noteStructs, proveAgent, type AgentProof } from './proofs.ts'
import { tellAgentRegistered } from './rightsLog.ts'

/**
 * Agents and API keys. All of them are in the store; in memory are those in use, so that requests of strangers fill no
 * memory and requests of known agents read no store.
 */
export interface Registry extends Keys {
  /** The greatest number of registrations that the chain does not prove. */
  readonly maxClaims: number
  /**
   * Returns an agent if it is in memory; `null` for an address that is known to be nobody's. Everything that changed
   * since it was last asked for is in memory.
   */
  agent(chain: ChainSlug, agent: Address): AgentRecord | null | undefined
  /**
   * Finds an agent, without a promise when it is in memory. Addresses that are nobody's are remembered for a while, so
   * that asking again reads no store.
   */
  findAgent(chain: ChainSlug, agent: Address): AgentRecord | undefined | Promise<AgentRecord | undefined>
  /**
   * Returns a trader's agents in the order of their registration: all in force, and the newest of the others. Without a
   * promise when they are in memory.
   */
  agentsOf(chain: ChainSlug, trader: Address): readonly AgentRecord[] | Promise<readonly AgentRecord[]>
  /**
   * Changes one agent's record: `change` receives the stored record and the transaction, and returns the new record, or
   * throws. Durable when it resolves.
   */
  changeAgent(
    chain: ChainSlug,
    agent: Address,
    change: (stored: AgentRecord | undefined, sql: Transaction) => AgentRecord | Promise<AgentRecord>,
  ): Promise<AgentRecord>
  /**
   * Stores the record of a trader who signs for itself, in a transaction of the caller, unless it has one or is another
   * trader's agent by its own signature or acts. Throws `UNSUPPORTED` when the trader has too many.
   */
  addOwnAgent(sql: Transaction, record: AgentRecord, origin: AuditOrigin): Promise<void>
  /** Tells every node, after the commit, of a record that a transaction stored, and of the one that it replaced. */
  tellAgent(sql: Transaction, record: AgentRecord, before?: AgentRecord): void
  /** Tells every node, after the commit, of claims that a transaction ended. */
  tellGone(sql: Transaction, gone: readonly GoneClaim[]): void
  /**
   * Notes a proof that the agent is meant for its trader, unless one as strong is known already. One that leaves a
   * claim a claim renews it, at most once an hour. Does nothing while the store is unavailable.
   */
  noteStanding(record: AgentRecord, proof: AgentProof): Promise<void>
  /** Forgets claims that were neither made nor used in the last seven days, a part of them at a time, in `from`. */
  forgetOldClaims(from?: Store): Promise<void>
  /**
   * Calls the listener after each change of an agent, once for every trader whose agents it changed. Returns a function
   * that ends the subscription.
   */
  onAgentChange(listener: (change: AgentChange) => void): () => void
}

/** The trader whose agents changed, and the chain. */
export interface AgentChange {
  readonly chain: ChainSlug
  readonly trader: Address
}

/** The greatest number of agents in memory, about 30 MB when every scope names 64 markets. */
const MAX_HELD_AGENTS = 10_000

/** The greatest number of agents in the lists by trader that are in memory. A list of none counts as one. */
const MAX_LISTED_AGENTS = 5_000

/** The number of addresses that are remembered as nobody's, about 1 MB. */
const MAX_UNKNOWN = 10_000

/** The number of old claims forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 500

/** The number of claims whose last renewal is remembered, about 2 MB. Of any other it is read from the store. */
const MAX_RENEWALS = 10_000

/** Pause after a proof that could not be written. */
const RETRIED_MS = 10_000

export interface RegistryOptions {
  /** Clock in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /** The greatest number of registrations that the chain does not prove. Default 100,000. */
  readonly maxClaims?: number
  /** The commits by which every node learns of changes. Default: those of this process alone. */
  readonly commits?: Commits
}

export async function openRegistry(store: Store, options: RegistryOptions = {}): Promise<Registry> {
  const { now = Date.now, maxClaims = MAX_CLAIMS, commits = createCommits(store) } = options
  await store.transaction({ name: 'schema' }, copyExpiries)
  const tell = createRightsTeller(commits, now)
  const { tellAgent, tellGone } = tell
  const memory = createAgentMemory(store, now)
  const keys = createKeys(store, { now, maxClaims, ...tell })
  const renewals = createLru<string, number>(MAX_RENEWALS)
  followRights(commits, memory, keys)

  /** Returns false for a proof that would change nothing, so that only what changes something is a transaction. */
  async function isWorthStoring(record: AgentRecord, proof: AgentProof): Promise<boolean> {
    if (proof === 'delegated') return mayBeProven(store.read, record)
    if (proof !== 'seen' || record.standing !== 'seen') return true
    const sinceMs = await readClaimSinceMs(store.read, claimOf(record))
    return sinceMs === undefined || now() - sinceMs >= RENEWED_MS
  }

  async function storeProof(record: AgentRecord, proof: AgentProof): Promise<void> {
    await store.transaction({ chain: record.chain, trader: record.trader }, async (sql) => {
      const proven = await proveAgent(sql, record, proof, now())
      if (proven !== undefined) tellAgent(sql, proven, record)
    })
  }

  return {
    ...memory,
    ...keys,
    maxClaims,
    tellAgent,
    tellGone,
    changeAgent: (chain, agent, change) =>
      store.transaction({ chain }, async (sql) => {
        const before = await holdAgent(sql, chain, agent)
        const next = await change(before, sql)
        await saveAgent(sql, next)
        tellAgent(sql, next, before)
        return next
      }),
    async addOwnAgent(sql, record, origin) {
      const before = await holdAgent(sql, record.chain, record.agent)
      if (before !== undefined && isKeptFrom(before, record.trader)) return
      await refuseManyAgents(sql, record, now())
      if (before !== undefined) await noteStructs(sql, before, now())
      await saveAgent(sql, record)
      const claim = await removeClaim(sql, claimOf(record))
      await noteStructs(sql, record, now())
      await tellAgentRegistered(sql, { stored: before, next: record, claim }, { ...origin, nowMs: now() })
      tellAgent(sql, record, before)
    },
    async noteStanding(record, proof) {
      const { chain, agent, trader, standing, signedAtMs } = record
      if (standing === 'used' || (proof === 'delegated' && (standing === 'delegated' || record.revoked))) return
      const key = keyOf(chain, agent, trader, standing, proof, String(signedAtMs))
      if (now() - (renewals.get(key) ?? -Infinity) < RENEWED_MS) return
      // Before it is written, so that of many requests at once only one writes.
      renewals.set(key, now())
      try {
        if (await isWorthStoring(record, proof)) await storeProof(record, proof)
      } catch (error) {
        renewals.set(key, now() - RENEWED_MS + RETRIED_MS)
        // A read is not refused because its proof can't be written.
        if (!(error instanceof StoreUnavailableError)) throw error
      }
    },
    forgetOldClaims: (from = store) => forgetOldClaims(from, now, tellGone),
  }
}

/** Tells every node, after the commit, of what a transaction changed. */
type RightsTeller = Pick<Registry, 'tellAgent' | 'tellGone'> & Pick<KeysOptions, 'tellIssued'>

function createRightsTeller(commits: Commits, now: () => number): RightsTeller {
  const tell = (sql: Transaction, chain: ChainSlug, rights: readonly RightsChange[]): void =>
    commits.of(chain).note(sql, now(), { rights })
  return {
    tellAgent: (sql, record, before) => tell(sql, record.chain, [{ kind: 'agent', record, before }]),
    tellIssued: (sql, { chain, keyHash }) => tell(sql, chain, [{ kind: 'key', key: { chain, keyHash } }]),
    tellGone(sql, gone) {
      for (const [chain, ofChain] of Map.groupBy(gone, (claim) => claim.chain)) {
        const rights = ofChain.map((claim) => ({ kind: 'gone', gone: claim }) as const)
        tell(sql, chain, rights)
      }
    },
  }
}

/** Applies committed changes, of this node or another, to what is in memory. */
function followRights(commits: Commits, memory: AgentMemory, keys: FollowedKeys): void {
  commits.onRights((change) => {
    if (change.kind === 'agent') return memory.noteAgent(change.record, change.before)
    if (change.kind === 'key') return keys.noteKeyIssued(change.key)
    const { gone } = change
    if ('keyHash' in gone) keys.noteKeyGone(gone)
    else if (isProven(gone)) memory.noteAgent(gone)
    else memory.noteAgentGone(gone)
  })
  commits.onReload(() => {
    memory.forgetAgents()
    keys.forgetKeys()
  })
}

/** Forgets old claims chain by chain, because each is alone on its chain when it goes. */
async function forgetOldClaims(store: Store, now: () => number, tellGone: Registry['tellGone']): Promise<void> {
  const listOld = (sql: Sql) => listOldClaims(sql, now() - CLAIM_KEPT_MS, FORGOTTEN_AT_ONCE)
  for (const slug of new Set((await listOld(store.read)).map(({ chain }) => chain))) {
    await store.transaction({ chain: slug }, async (sql) => {
      const old = (await listOld(sql)).filter(({ chain }) => chain === slug)
      tellGone(sql, await dropClaims(sql, old, now()))
    })
  }
}

type AgentMemory = Pick<Registry, 'agent' | 'findAgent' | 'agentsOf' | 'onAgentChange'> & {
  /** Takes over a record that was stored. `before` is the record that it replaced. */
  noteAgent(record: AgentRecord, before?: AgentRecord): void
  noteAgentGone(record: AgentRecord): void
  /** Forgets all agents, which are read again when they are asked for. */
  forgetAgents(): void
}

/** Creates the memory of the agents in use, over the store that has all of them. */
function createAgentMemory(store: Pick<Store, 'read'>, now: () => number): AgentMemory {
  const held = createLru<string, AgentRecord>(MAX_HELD_AGENTS)
  const lists = createLru<string, readonly AgentRecord[]>(MAX_LISTED_AGENTS, ({ length }) => Math.max(1, length))
  const unknown = createLru<string, true>(MAX_UNKNOWN)
  const changes = createPublisher<AgentChange>()
  /** The number of changes so far. A read that another change overtook is not kept. */
  let version = 0

  function publishChange({ chain, trader }: AgentRecord, before: AgentRecord | undefined): void {
    for (const changed of new Set([before?.trader ?? trader, trader])) {
      lists.delete(keyOf(chain, changed))
      changes.publish({ chain, trader: changed })
    }
  }

  async function readAgent(chain: ChainSlug, agent: Address): Promise<AgentRecord | undefined> {
    const key = keyOf(chain, agent)
    const read = version
    const found = await findAgent(store.read, chain, agent)
    if (read !== version) return held.get(key) ?? found
    if (found === undefined) unknown.set(key, true)
    else if (found.standing !== 'claimed') held.set(key, found)
    return found
  }

  async function readList(chain: ChainSlug, trader: Address): Promise<readonly AgentRecord[]> {
    const read = version
    const found = await listAgentsOf(store.read, chain, trader, now())
    if (read === version) lists.set(keyOf(chain, trader), found)
    return found
  }

  return {
    agent(chain, agent) {
      const key = keyOf(chain, agent)
      return held.get(key) ?? (unknown.peek(key) === undefined ? undefined : null)
    },
    findAgent(chain, agent) {
      const key = keyOf(chain, agent)
      const found = held.get(key)
      if (found !== undefined || unknown.get(key) !== undefined) return found
      return readAgent(chain, agent)
    },
    agentsOf: (chain, trader) => lists.get(keyOf(chain, trader)) ?? readList(chain, trader),
    noteAgent(record, before) {
      const key = keyOf(record.chain, record.agent)
      version += 1
      unknown.delete(key)
      const wasInUse = held.peek(key) !== undefined || (before !== undefined && before.standing !== 'claimed')
      if (record.standing !== 'claimed' || wasInUse) held.set(key, record)
      if (before === undefined || !isRevokedAgain(before, record)) publishChange(record, before)
    },
    noteAgentGone(record) {
      const key = keyOf(record.chain, record.agent)
      version += 1
      if (held.peek(key) !== undefined) unknown.set(key, true)
      held.delete(key)
      publishChange(record, undefined)
    },
    forgetAgents() {
      version += 1
      held.clear()
      lists.clear()
      unknown.clear()
    },
    onAgentChange: changes.subscribe,
  }
}

/** True when a change is only the timestamp of an agent that was revoked before, which nobody has to be told. */
function isRevokedAgain(before: AgentRecord, { trader, standing, revoked }: AgentRecord): boolean {
  return before.revoked && revoked && before.trader === trader && before.standing === standing
}

function keyOf(...parts: readonly string[]): string {
  return parts.join(' ')
}
