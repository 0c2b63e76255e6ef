import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import { createLru } from '../ground/lru.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { noteSignedAt, readSignedAtMs } from '../store/acceptedStructStore.ts'
import {
  deleteApiKey,
  findApiKey,
  listApiKeys,
  noteApiKeyUse,
  saveApiKey,
  type ApiKeyRecord,
} from '../store/apiKeyStore.ts'
import { RENEWED_MS, removeClaim } from '../store/claimStore.ts'
import type { AuditOrigin } from '../store/auditStore.ts'
import type { Sql, Store, Transaction } from '../store/sql.ts'
import { holdClaim, refuseReplay, type GoneClaim } from './claims.ts'
import { isKnownTrader } from './knownTrader.ts'
import { claimOfKey, proveKey } from './proofs.ts'
import { tellKeyEnded, tellKeyIssued } from './rightsLog.ts'

/** A key to be stored, as the trader's wallet signed for it. */
export type NewApiKey = Pick<ApiKeyRecord, 'chain' | 'trader' | 'label' | 'keyHash' | 'createdAtMs' | 'signedAtMs'> & {
  /** Network that the request came from (`registrationNetworkOf`). */
  readonly network: string
  /** The request, for the audit log. */
  readonly origin?: AuditOrigin | undefined
}

/** The read-only API keys of all chains. */
export interface Keys {
  /**
   * Finds the trader that a key belongs to, without a promise when that is in memory. `undefined` for a key that is
   * nobody's, which is remembered for a while.
   */
  keyOwner(chain: ChainSlug, keyHash: string): Address | undefined | Promise<Address | undefined>
  /** Returns true when the key was replaced or ended. Reads memory only. */
  isKeyEnded(chain: ChainSlug, keyHash: string): boolean
  /**
   * Notes that a request with the key was accepted, which renews its claim, or proves it once its trader is known.
   * Writes at most once in `pauseMs` for one key, by default a minute, and at most once an hour for a claim.
   */
  noteKeyUse(chain: ChainSlug, keyHash: string, pauseMs?: number): Promise<void>
  /** Lists a trader's keys, oldest first. */
  listKeys(chain: ChainSlug, trader: Address): Promise<readonly ApiKeyRecord[]>
  /** Stores a key. An older key of the trader with the same label stops working. */
  addKey(key: NewApiKey): Promise<void>
  /**
   * Ends a key. `claim` uses up the nonce of the request in the same transaction, and throws when it was used. Returns
   * false when the trader has no key of that label.
   */
  endKey(
    of: Pick<ApiKeyRecord, 'chain' | 'trader' | 'label'>,
    claim: (sql: Transaction) => Promise<void>,
    origin?: AuditOrigin,
  ): Promise<boolean>
}

/** Keys, with what their memory is told of commits. */
export interface FollowedKeys extends Keys {
  /** Takes over that a committed transaction deleted a key. */
  noteKeyGone(record: ApiKeyRecord): void
  /** Takes over that a committed transaction stored a key. */
  noteKeyIssued(key: Pick<ApiKeyRecord, 'chain' | 'keyHash'>): void
  /** Forgets all keys, which are read again when they are asked for. */
  forgetKeys(): void
}

/** The greatest number of keys per trader and chain. */
export const MAX_API_KEYS = 20

/** The greatest number of keys in use that are in memory, about 4 MB. */
const MAX_HELD_KEYS = 10_000

/** The number of keys that are remembered as nobody's, about 1 MB. */
const MAX_UNKNOWN = 10_000

/** Pause between two stored uses of one key, also after one that could not be stored. */
const USE_NOTED_MS = 60_000

export interface KeysOptions {
  readonly now: () => number
  readonly maxClaims: number
  /** Tells every node, after the commit, of a key that a transaction stored. */
  readonly tellIssued: (sql: Transaction, key: Pick<ApiKeyRecord, 'chain' | 'keyHash'>) => void
  /** Tells every node, after the commit, of claims that a transaction ended. */
  readonly tellGone: (sql: Transaction, gone: readonly GoneClaim[]) => void
}

export function createKeys(store: Store, { now, maxClaims, tellIssued, tellGone }: KeysOptions): FollowedKeys {
  const memory = createKeyMemory(store)
  return {
    keyOwner(chain, keyHash) {
      const found = memory.find(chain, keyHash)
      return found instanceof Promise ? found.then((key) => key?.trader) : found?.trader
    },
    isKeyEnded: (chain, keyHash) => memory.known(chain, keyHash) === null,
    async noteKeyUse(chain, keyHash, pauseMs = USE_NOTED_MS) {
      const asked = memory.find(chain, keyHash)
      const read = asked instanceof Promise ? await asked : asked
      // Other requests may have noted their use, or ended the key, during the read.
      const known = memory.known(chain, keyHash)
      const found = known === undefined ? read : known
      if (found === undefined || found === null) return
      const usedAtMs = now()
      const pause = found.isProven ? pauseMs : RENEWED_MS
      if (usedAtMs - (found.lastUsedAtMs ?? 0) < pause) return
      // In memory before it is written, so that of many requests at once only one writes.
      const noted = { ...found, lastUsedAtMs: usedAtMs }
      memory.hold(noted)
      try {
        await store.transaction({ chain, trader: found.trader }, async (sql) => {
          const used = await storeUse(sql, noted)
          if (used !== undefined) sql.afterCommit(() => memory.hold(used))
        })
      } catch (error) {
        const againAtMs = usedAtMs + USE_NOTED_MS
        if (memory.known(chain, keyHash) === noted) memory.hold({ ...found, lastUsedAtMs: againAtMs - pause })
        // A read is not refused because the time of the last use can't be written.
        if (!(error instanceof StoreUnavailableError)) throw error
      }
    },
    noteKeyGone: memory.noteGone,
    noteKeyIssued: memory.noteIssued,
    forgetKeys: memory.forgetAll,
    listKeys: (chain, trader) => listApiKeys(store.read, chain, trader),
    async addKey({ network, origin, ...key }) {
      // Alone on the chain, because other traders' claims may have to make room.
      await store.transaction({ chain: key.chain }, async (sql) => {
        const gone = await issueKey(sql, key, { network, origin }, { now, maxClaims })
        tellGone(sql, gone)
        tellIssued(sql, key)
      })
    },
    async endKey({ chain, trader, label }, claim, origin) {
      const findKeys = async (sql: Sql) => (await listApiKeys(sql, chain, trader)).filter((key) => key.label === label)
      // Whoever has no such key costs no transaction. The nonce is used up already, though not on disk.
      if ((await findKeys(store.read)).length === 0) return false
      return store.transaction({ chain, trader }, async (sql) => {
        await claim(sql)
        const keys = await findKeys(sql)
        await deleteApiKey(sql, chain, trader, label)
        for (const key of keys) {
          const { signedAtMs, isProven } = key
          await removeClaim(sql, claimOfKey(key))
          if (isProven) await tellKeyEnded(sql, key, { ...origin, nowMs: now() })
          else await noteSignedAt(sql, { chain, agent: '', trader }, { signedAtMs, isKept: false, nowMs: now() })
        }
        tellGone(sql, keys)
        return keys.length > 0
      })
    },
  }
}

interface KeyMemory {
  /** Returns a key that is in memory; `null` for one that is known to be nobody's. */
  known(chain: ChainSlug, keyHash: string): ApiKeyRecord | null | undefined
  /** Finds a key, without a promise when it is known. */
  find(chain: ChainSlug, keyHash: string): ApiKeyRecord | undefined | Promise<ApiKeyRecord | undefined>
  /** Takes over a key that is in use. */
  hold(record: ApiKeyRecord): void
  noteIssued(key: Pick<ApiKeyRecord, 'chain' | 'keyHash'>): void
  noteGone(record: ApiKeyRecord): void
  forgetAll(): void
}

/** Creates the memory of the keys in use, over the store that has all of them. */
function createKeyMemory(store: Pick<Store, 'read'>): KeyMemory {
  /** The keys in use; `null` for one that was in use and is gone. */
  const held = createLru<string, ApiKeyRecord | null>(MAX_HELD_KEYS)
  // Apart, because anybody can make keys up, which must not push out those in use.
  const unknown = createLru<string, true>(MAX_UNKNOWN)
  /** The number of keys that came or went so far. A read that another change overtook is not kept. */
  let version = 0

  function known(chain: ChainSlug, keyHash: string): ApiKeyRecord | null | undefined {
    const name = nameOf(chain, keyHash)
    const found = held.get(name)
    return found === undefined && unknown.get(name) !== undefined ? null : found
  }

  async function read(chain: ChainSlug, keyHash: string): Promise<ApiKeyRecord | undefined> {
    const name = nameOf(chain, keyHash)
    const before = version
    const found = await findApiKey(store.read, chain, keyHash)
    const newer = held.get(name)
    if (newer !== undefined || before !== version) return newer ?? found
    if (found === undefined) unknown.set(name, true)
    // A claim stays out of memory until its first request is accepted.
    else if (found.isProven || found.lastUsedAtMs !== null) held.set(name, found)
    return found
  }

  return {
    known,
    find(chain, keyHash) {
      const found = known(chain, keyHash)
      return found === undefined ? read(chain, keyHash) : (found ?? undefined)
    },
    hold: (record) => held.set(nameOf(record.chain, record.keyHash), record),
    noteIssued({ chain, keyHash }) {
      version += 1
      held.delete(nameOf(chain, keyHash))
      unknown.delete(nameOf(chain, keyHash))
    },
    noteGone({ chain, keyHash }) {
      const name = nameOf(chain, keyHash)
      version += 1
      if (held.peek(name) === undefined) unknown.set(name, true)
      else held.set(name, null)
    },
    forgetAll() {
      version += 1
      held.clear()
      unknown.clear()
    },
  }
}

/** Stores a key, and returns what is gone: the one that it replaces, and the claims that had to make room. */
async function issueKey(
  sql: Sql,
  key: Omit<NewApiKey, 'network' | 'origin'>,
  { network, origin }: Pick<NewApiKey, 'network' | 'origin'>,
  { now, maxClaims }: Pick<KeysOptions, 'now' | 'maxClaims'>,
): Promise<GoneClaim[]> {
  const { chain, trader, label, signedAtMs } = key
  const signer = { chain, agent: '', trader } as const
  refuseReplay(await readSignedAtMs(sql, signer), signedAtMs)
  const keys = await listApiKeys(sql, chain, trader)
  const replaced = keys.filter((other) => other.label === label)
  if (replaced.length === 0 && keys.length >= MAX_API_KEYS) {
    const message = `This trader has ${MAX_API_KEYS} API keys on this chain: end one, or issue it again under its label.`
    throw new ApiError('UNSUPPORTED', message, { limit: MAX_API_KEYS })
  }
  const isProven = keys.some((other) => other.isProven) || (await isKnownTrader(sql, chain, trader))
  const record = { ...key, lastUsedAtMs: null, isProven }
  await saveApiKey(sql, record)
  const nowMs = now()
  if (!isProven) {
    const of = { network, nowMs, maxClaims, untold: origin ?? {} }
    return [...replaced, ...(await holdClaim(sql, claimOfKey(record), of))]
  }
  await noteSignedAt(sql, signer, { signedAtMs, isKept: true, nowMs })
  await removeClaim(sql, claimOfKey(record))
  await tellKeyIssued(sql, { key: record, isReplacing: replaced.length > 0 }, { ...origin, nowMs })
  return replaced
}

/** Stores the last use of a key, and returns the stored key; `undefined` when it is gone. */
async function storeUse(
  sql: Sql,
  { chain, keyHash, lastUsedAtMs }: ApiKeyRecord & { readonly lastUsedAtMs: number },
): Promise<ApiKeyRecord | undefined> {
  const stored = await findApiKey(sql, chain, keyHash)
  if (stored === undefined) return undefined
  const isProven = stored.isProven || (await proveKey(sql, stored, lastUsedAtMs))
  const used = { ...stored, isProven, lastUsedAtMs }
  return (await noteApiKeyUse(sql, used, lastUsedAtMs)) ? used : undefined
}

function nameOf(chain: ChainSlug, keyHash: string): string {
  return `${chain} ${keyHash}`
}
