import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { Address, ChainSlug } from '@bezel/protocol'
import { type Sql, type Store } from '../store/sql.ts'
import { NONCE_KEPT_MS, nonceKey, type NonceClaim } from './nonceClaim.ts'
import { readNonceFile, startNonceFile } from './nonceFile.ts'
import type { NonceRecords } from './nonceLines.ts'
import { createNonceMemory } from './nonceMemory.ts'
import { insertNonce, readNonceTable } from './nonceTable.ts'

export { REPLAY_WINDOW_MS } from './nonceClaim.ts'

/** About 150 MB when full, and more than one process can verify signatures for in the time a claim is kept. */
const MAX_NONCES = 1_000_000

/** Times further ahead are damage of the file: kept, they would stop the forgetting (or the accepting) for good. */
const MAX_CLOCK_STEP_MS = 86_400_000

/**
 * Replay protection: per chain and agent no nonce is accepted twice while its timestamp is in the replay window, whatever happens to the
 * process. Every claim, of a read or a write, is in memory and in the file, so both see each other and a kill loses neither; a write
 * is also in its own transaction, so that not even a loss of power lets it happen twice. The caller checks the window itself.
 *
 * A claim is never given back: the request had a good signature and was answered, so its nonce is used up even when the answer was a refusal
 * and the transaction was rolled back. Otherwise a refused order could be replayed by whoever saw it, when it would no longer
 * be refused.
 *
 * Both throw a `StoreUnavailableError` when a claim can't be kept: the file can't be written, or the memory is full. Accepting the
 * request then would break the promise, and forgetting older claims too.
 */
export interface Nonces {
  /** Whether the nonce was free; now it is used up. */
  claim(chain: ChainSlug, agent: Address, nonce: string, timestampMs: number): boolean
  /** What a write does besides, in its own transaction: whether the nonce was free there too. */
  storeClaim(sql: Sql, chain: ChainSlug, agent: Address, nonce: string, timestampMs: number): Promise<boolean>
  /** How many are remembered, for metrics. */
  readonly size: number
  close(): void
}

/** What replay protection needs. */
export interface NoncesOptions {
  readonly store: Store
  /** Path of the file; `.old` and `.draft` beside it are used too. One process at a time. */
  readonly file: string
  readonly now: () => number
  readonly maxNonces?: number
}

/** Loads what earlier processes remembered. Throws a `StartupError` when the file can't be used. */
export async function openNonces({ store, file, now, maxNonces = MAX_NONCES }: NoncesOptions): Promise<Nonces> {
  const records = await readRecords(store, file, now())
  const memory = createNonceMemory(records.claims, records.forgottenUpToMs)
  const log = startNonceFile(file, records)
  let isOpen = true

  /** The file first: what it refuses is not claimed. */
  function claim(made: NonceClaim): boolean {
    if (!isOpen) throw new StoreUnavailableError('the nonces are closed')
    const nowMs = now()
    forgetExpired(nowMs)
    if (!memory.isFree(made, nowMs)) return false
    if (memory.size >= maxNonces) throw new StoreUnavailableError(`${maxNonces} nonces are in use already`)
    log.append(made)
    memory.add(made)
    return true
  }

  function forgetExpired(nowMs: number): void {
    const forgottenUpToMs = memory.dueTurn(nowMs)
    if (forgottenUpToMs === undefined) return
    log.rotate(forgottenUpToMs)
    memory.turn()
  }

  return {
    claim: (chain, agent, nonce, timestampMs) => claim({ key: nonceKey(chain, agent, nonce), timestampMs }),
    storeClaim: (sql, chain, agent, nonce, timestampMs) =>
      insertNonce(sql, { chain, agent, nonce, timestampMs }, now()),
    get size() {
      return memory.size
    },
    close() {
      if (isOpen) log.close()
      // A number of a closed file is given to the next one that is opened: nothing may be written to it any more.
      isOpen = false
    },
  }
}

/** Claims of file and table that can still matter, and up to when all others are forgotten. */
async function readRecords(store: Store, file: string, nowMs: number): Promise<NonceRecords> {
  const written = readNonceFile(file)
  const isSane = (timestampMs: number): boolean => timestampMs <= nowMs + MAX_CLOCK_STEP_MS
  const isKept = ({ timestampMs }: NonceClaim): boolean => timestampMs + NONCE_KEPT_MS >= nowMs
  const claims = [...written.claims, ...(await readNonceTable(store.read))].filter((claim) => isSane(claim.timestampMs))
  const forgottenUpToMs = claims.reduce(
    (latest, claim) => (isKept(claim) ? latest : Math.max(latest, claim.timestampMs)),
    isSane(written.forgottenUpToMs) ? written.forgottenUpToMs : -Infinity,
  )
  return { claims: claims.filter(isKept), forgottenUpToMs }
}
