import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { Address, ChainSlug } from '@bezel/protocol'
import type { NonceRow } from '../store/nonceKeeperStore.ts'
import type { Sql, Store, Transaction } from '../store/sql.ts'
import { NONCE_KEPT_MS, nonceKey, type NonceClaim, createNonceMemory, REPLAY_WINDOW_MS } from './nonceMemory.ts'
import { readNonceFile, startNonceFile, type NonceRecords } from './nonceFile.ts'

/**
 * Claims in memory, about 150 MB when full. One process can't verify as many signatures in the time a claim is kept.
 */
const MAX_NONCES = 1_000_000

/**
 * Largest plausible step of the clock. Timestamps further ahead are damage of the file; if kept, they would prevent
 * forgetting, or accepting, for good.
 */
const MAX_CLOCK_STEP_MS = 86_400_000

/**
 * Time that a claim stays in the table after its own time. Longer than in memory, by more than clocks of several
 * machines differ: one that is ahead must not forget what another one still has in its window.
 */
const ROW_KEPT_MS = NONCE_KEPT_MS + 120_000

/** Number of claims of one process in the table from one prune of it to the next. */
export const CLAIMS_PER_PRUNE = 64

/**
 * Rows of one prune: more than were added since the last one, so the table shrinks to the window again after any burst,
 * and few enough that no write slows down.
 */
const ROWS_PER_PRUNE = 16 * CLAIMS_PER_PRUNE

/**
 * Replay protection: per chain and agent no nonce is accepted twice while its timestamp is in the replay window, even
 * when the process is killed. Every claim, of a read or a write, is in memory and in the file, so both see each other
 * and a kill loses neither. A write also stores its claim in its own transaction, so that not even a power loss lets it
 * happen twice. The caller checks the window itself.
 *
 * A claim is never given back: the request had a good signature and was answered, so its nonce is used up even when the
 * answer was a refusal and the transaction was rolled back. Otherwise anybody who saw a refused order could replay it
 * later, when it would no longer be refused.
 *
 * Both methods throw a `StoreUnavailableError` when a claim can't be kept, because the file can't be written or the
 * memory is full. Accepting the request anyway, or forgetting older claims, would open a replay.
 */
export interface Nonces extends StoredNonces {
  /** Claims a nonce. Returns false when it was already used. */
  claim(chain: ChainSlug, agent: Address, nonce: string, timestampMs: number): boolean
}

/** The nonces of writes, in the store. */
export interface StoredNonces {
  /** Claims the nonce in the transaction of a write. Returns false when it was already used there. */
  storeClaim(sql: Transaction, chain: ChainSlug, agent: Address, nonce: string, timestampMs: number): Promise<boolean>
  /**
   * Uses up the nonce of a write that was refused, by a commit of its own. Returns false when it was already used. Left
   * out where the process remembers every nonce itself.
   */
  useUp?(nonce: NonceRow): Promise<boolean>
  /** Number of remembered claims, for metrics. */
  readonly size: number
  close(): void
}

/** Options of `openNonces`. */
export interface NoncesOptions {
  readonly store: Store
  /** Path of the file; `.old` and `.draft` beside it are used too. Only one process may use it at a time. */
  readonly file: string
  readonly now: () => number
  readonly maxNonces?: number
}

/**
 * Opens replay protection with the claims of earlier processes. Throws a `StartupError` when the file can't be used.
 */
export async function openNonces({ store, file, now, maxNonces = MAX_NONCES }: NoncesOptions): Promise<Nonces> {
  const records = await readRecords(store, file, now())
  const memory = createNonceMemory(records.claims, records.forgottenUpToMs)
  const log = startNonceFile(file, records)
  let isOpen = true

  /** Claims a nonce in the file first: when the write fails, nothing is claimed. */
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
    storeClaim: createStoreClaim(now),
    get size() {
      return memory.size
    },
    close() {
      if (isOpen) log.close()
      // The operating system may give a closed file's descriptor to the next file, so nothing may be written to it any
      // more.
      isOpen = false
    },
  }
}

/**
 * Opens the nonces of writes for a node that shares its store with others, where nothing but the store remembers them.
 * Claims that an earlier process kept in the file are taken along.
 */
export async function openSharedNonces({ store, file, now }: NoncesOptions): Promise<StoredNonces> {
  await adoptNonceFile(store, file, now())
  return {
    storeClaim: createStoreClaim(now),
    useUp: (nonce) => insertNonce(store.read, nonce, now()),
    size: 0,
    close: () => undefined,
  }
}

/** Stores what a process that was alone with its data kept in its file, as long as it can matter. */
async function adoptNonceFile(store: Store, file: string, nowMs: number): Promise<void> {
  const { claims, forgottenUpToMs } = readNonceFile(file)
  const kept = claims.filter(({ timestampMs }) => Math.abs(timestampMs - nowMs) <= NONCE_KEPT_MS)
  if (kept.length === 0) return
  await store.transaction({ name: 'nonces' }, async (sql) => {
    const isTold = Number.isFinite(forgottenUpToMs) && forgottenUpToMs <= nowMs
    if (isTold) await sql.run('update nonce_floor set up_to = $1 where up_to < $1', forgottenUpToMs)
    for (const { key, timestampMs } of kept) {
      const [chain, agent, nonce] = key.split(' ') as [string, string, string]
      await insertNonce(sql, { chain, agent, nonce, timestampMs }, nowMs)
    }
  })
}

function createStoreClaim(now: () => number): StoredNonces['storeClaim'] {
  /** Number of claims that this process stored. */
  let stored = 0
  return async (sql, chain, agent, nonce, timestampMs) => {
    const nowMs = now()
    if (stored % CLAIMS_PER_PRUNE === 0) await pruneNonces(sql, nowMs)
    sql.afterCommit(() => void (stored += 1))
    return insertNonce(sql, { chain, agent, nonce, timestampMs }, nowMs)
  }
}

/** Reads the claims of file and table that can still matter, and the timestamp up to which all others are forgotten. */
async function readRecords(store: Store, file: string, nowMs: number): Promise<NonceRecords> {
  const written = readNonceFile(file)
  const isSane = (timestampMs: number): boolean => timestampMs <= nowMs + MAX_CLOCK_STEP_MS
  const isKept = ({ timestampMs }: NonceClaim): boolean => timestampMs + NONCE_KEPT_MS >= nowMs
  const claims = [...written.claims, ...(await readNonceTable(store.read))].filter((claim) => isSane(claim.timestampMs))
  const floors = [written.forgottenUpToMs, await readNonceFloor(store.read)].filter(isSane)
  const forgottenUpToMs = claims.reduce(
    (latest, claim) => (isKept(claim) ? latest : Math.max(latest, claim.timestampMs)),
    Math.max(-Infinity, ...floors),
  )
  return { claims: claims.filter(isKept), forgottenUpToMs }
}

/** Reads all claims of writes. The expired ones are needed too: they show up to when claims were forgotten. */
async function readNonceTable(sql: Sql): Promise<NonceClaim[]> {
  const rows = await sql.all<{ chain: string; agent: string; nonce: string; timestamp: bigint }>(
    'select chain, agent, nonce, timestamp from nonces',
  )
  return rows.map(({ chain, agent, nonce, timestamp }) => ({
    key: nonceKey(chain, agent, nonce),
    timestampMs: Number(timestamp),
  }))
}

/**
 * Claims a nonce in the table by the rule of `isReusable`; it is used up when the transaction commits. Returns false
 * when it was not free, or is too old to tell.
 */
export async function insertNonce(sql: Sql, row: NonceRow, nowMs: number): Promise<boolean> {
  const changed = await sql.run(
    `insert into nonces (chain, agent, nonce, timestamp) select $1, $2, $3, cast($4 as bigint)
    where cast($4 as bigint) > (select up_to from nonce_floor)
    on conflict (chain, agent, nonce) do update set timestamp = excluded.timestamp
    where nonces.timestamp < $5 and nonces.timestamp < excluded.timestamp`,
    row.chain,
    row.agent,
    row.nonce,
    row.timestampMs,
    nowMs - REPLAY_WINDOW_MS,
  )
  return changed === 1
}

/** Reads the timestamp up to which claims of writes may be forgotten. */
async function readNonceFloor(sql: Sql): Promise<number> {
  const row = await sql.get<{ up_to: bigint }>('select up_to from nonce_floor')
  return Number(row?.up_to ?? 0n)
}

/**
 * Deletes the rows up to the floor and raises it for the next prune. Never in one step: until the floor is committed,
 * another connection that does not see the row any more would not see either that it is too old.
 */
export async function pruneNonces(sql: Sql, nowMs: number): Promise<void> {
  sql.write('delete from nonces where timestamp <= (select up_to from nonce_floor)')
  sql.write(
    `update nonce_floor set up_to = coalesce((
      select max(timestamp) from (
        select timestamp from nonces where timestamp < $1 order by timestamp limit ${ROWS_PER_PRUNE}
      ) as oldest
    ), up_to)`,
    nowMs - ROW_KEPT_MS,
  )
}
