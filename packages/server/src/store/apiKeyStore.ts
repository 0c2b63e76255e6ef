import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** A read-only API key as stored: only its hash, never the key itself. */
export interface ApiKeyRecord {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly label: string
  /** SHA-256 hash of the key, in hex. */
  readonly keyHash: string
  readonly createdAtMs: number
  readonly signedAtMs: number
  /** Time of the last accepted request, to the minute, or to the hour for a claim; `null` before the first. */
  readonly lastUsedAtMs: number | null
  /** False as long as nothing on the chain speaks for its trader. */
  readonly isProven: boolean
}

interface ApiKeyRow {
  readonly chain: string
  readonly trader: string
  readonly label: string
  readonly key_hash: string
  readonly created_at: bigint
  readonly signed_at: bigint
  readonly last_used_at: bigint | null
  readonly standing: bigint
}

const COLUMNS = 'chain, trader, label, key_hash, created_at, signed_at, last_used_at, standing'

/** The stored standing of a key that is proven, as agents have it; 0 is a claim. */
const PROVEN = 2n

export async function findApiKey(sql: Sql, chain: ChainSlug, keyHash: string): Promise<ApiKeyRecord | undefined> {
  const row = await sql.get<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where chain = $1 and key_hash = $2`,
    chain,
    keyHash,
  )
  return row === undefined ? undefined : toRecord(row)
}

/** Lists a trader's keys, oldest first. */
export async function listApiKeys(sql: Sql, chain: ChainSlug, trader: Address): Promise<ApiKeyRecord[]> {
  const rows = await sql.all<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where chain = $1 and trader = $2 order by created_at, label`,
    chain,
    trader,
  )
  return rows.map(toRecord)
}

/** Stores a key. A second key under the same label replaces the first. */
export async function saveApiKey(sql: Sql, record: ApiKeyRecord): Promise<void> {
  await sql.run(
    `insert into api_keys (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (chain, trader, label) do update set key_hash = $4, created_at = $5, signed_at = $6,
       last_used_at = $7, standing = $8`,
    record.chain,
    record.trader,
    record.label,
    record.keyHash,
    BigInt(record.createdAtMs),
    BigInt(record.signedAtMs),
    record.lastUsedAtMs,
    record.isProven ? PROVEN : 0n,
  )
}

/** Notes that a key was used, and whether it is proven by now. Returns false when it is replaced or ended by now. */
export async function noteApiKeyUse(
  sql: Sql,
  { chain, keyHash, isProven }: ApiKeyRecord,
  atMs: number,
): Promise<boolean> {
  const changed = await sql.run(
    'update api_keys set last_used_at = $3, standing = $4 where chain = $1 and key_hash = $2',
    chain,
    keyHash,
    atMs,
    isProven ? PROVEN : 0n,
  )
  return changed === 1
}

/** Deletes a key. Returns false when the trader has none of that label. */
export async function deleteApiKey(sql: Sql, chain: ChainSlug, trader: Address, label: string): Promise<boolean> {
  const where = 'where chain = $1 and trader = $2 and label = $3'
  return (await sql.run(`delete from api_keys ${where}`, chain, trader, label)) === 1
}

function toRecord(row: ApiKeyRow): ApiKeyRecord {
  return {
    chain: row.chain as ChainSlug,
    trader: row.trader as Address,
    label: row.label,
    keyHash: row.key_hash,
    createdAtMs: Number(row.created_at),
    signedAtMs: Number(row.signed_at),
    lastUsedAtMs: row.last_used_at === null ? null : Number(row.last_used_at),
    isProven: row.standing === PROVEN,
  }
}
