import { parseAddress, StartupError, type Address, type ChainSlug } from '@bezel/protocol'
import type { Sql, Store } from './sql.ts'

/** The identity of a chain. */
export interface ChainIdentity {
  readonly chain: ChainSlug
  readonly chainId: number
  readonly diamond: Address
  /** Hash of block 0. */
  readonly genesisHash: string
}

/** Throws a `StartupError` when the stored data belongs to another Diamond. Needs no node. */
export async function refuseOtherDiamond(store: Store, of: Omit<ChainIdentity, 'genesisHash'>): Promise<void> {
  const kept = await readIdentity(store, of.chain)
  if (kept !== undefined) compare(kept, { ...of, genesisHash: kept.genesisHash })
}

/**
 * Stores the chain's identity at its first start. Throws a `StartupError` when the data belongs to another chain, so
 * that two histories never mix.
 */
export async function rememberChain(store: Store, found: ChainIdentity): Promise<void> {
  await store.transaction({ chain: found.chain }, (sql) =>
    sql.run(
      'insert into chains (chain, chain_id, diamond, genesis_hash) values ($1, $2, $3, $4) on conflict (chain) do nothing',
      found.chain,
      found.chainId,
      found.diamond,
      found.genesisHash,
    ),
  )
  const kept = await readIdentity(store, found.chain)
  if (kept !== undefined) compare(kept, found)
}

/** Lists the chains of which data is kept. */
export async function listChains(sql: Sql): Promise<ChainSlug[]> {
  const rows = await sql.all<{ chain: string }>('select chain from chains order by chain')
  return rows.map(({ chain }) => chain as ChainSlug)
}

async function readIdentity(store: Store, chain: ChainSlug): Promise<ChainIdentity | undefined> {
  const row = await store.read.get<{ chain_id: bigint; diamond: string; genesis_hash: string }>(
    'select chain_id, diamond, genesis_hash from chains where chain = $1',
    chain,
  )
  if (row === undefined) return undefined
  const diamond = parseAddress(row.diamond)
  if (diamond === undefined) throw new Error(`the store holds no address as the Diamond of ${chain}`)
  return { chain, chainId: Number(row.chain_id), diamond, genesisHash: row.genesis_hash }
}

function compare(kept: ChainIdentity, found: ChainIdentity): void {
  const difference = differenceOf(kept, found)
  if (difference === undefined) return
  throw new StartupError(
    `The data is of another ${found.chain}: ${difference}. Set BEZEL_DATA to another folder, or correct the chains file.`,
  )
}

function differenceOf(kept: ChainIdentity, found: ChainIdentity): string | undefined {
  if (kept.chainId !== found.chainId) return `its chain id is ${kept.chainId}, not ${found.chainId}`
  if (kept.diamond !== found.diamond) return `its Diamond is ${kept.diamond}, not ${found.diamond}`
  if (kept.genesisHash === found.genesisHash) return undefined
  return `its first block is ${kept.genesisHash}, not ${found.genesisHash}`
}
