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
}

interface ApiKeyRow {
  readonly chain: string
  readonly trader: string
  readonly label: string
  readonly key_hash: string
  readonly created_at: bigint
  readonly signed_at: bigint
}

const COLUMNS = 'chain, trader, label, key_hash, created_at, signed_at'

/** Reads every key of every chain. */
export async function loadApiKeys(sql: Sql): Promise<ApiKeyRecord[]> {
  return (await sql.all<ApiKeyRow>(`select ${COLUMNS} from api_keys`)).map((row) => ({
    chain: row.chain as ChainSlug,
    trader: row.trader as Address,
    label: row.label,
    keyHash: row.key_hash,
    createdAtMs: Number(row.created_at),
    signedAtMs: Number(row.signed_at),
  }))
}

/** Reads the timestamp of the newest struct that issued a key of the trader; 0 when there is none. */
export async function readLastKeySignedAtMs(sql: Sql, chain: ChainSlug, trader: Address): Promise<number> {
  const row = await sql.get<{ last: bigint | null }>(
    'select max(signed_at) as last from api_keys where chain = $1 and trader = $2',
    chain,
    trader,
  )
  return Number(row?.last ?? 0n)
}

/** Stores a key. A second key under the same label replaces the first, which is how a key is revoked. */
export async function saveApiKey(sql: Sql, record: ApiKeyRecord): Promise<void> {
  await sql.run(
    `insert into api_keys (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)
     on conflict (chain, trader, label) do update set key_hash = $4, created_at = $5, signed_at = $6`,
    record.chain,
    record.trader,
    record.label,
    record.keyHash,
    BigInt(record.createdAtMs),
    BigInt(record.signedAtMs),
  )
}
