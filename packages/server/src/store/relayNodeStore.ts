import type { Address, ChainSlug } from '@bezel/protocol'
import type { RelaySender } from './relayGasStore.ts'
import type { Sql } from './sql.ts'

/** Reads the number of versions of each live entry, by nonce. */
export async function countLiveVersions(
  sql: Sql,
  { chain, sender }: RelaySender,
): Promise<ReadonlyMap<number, number>> {
  const rows = await sql.all<{ nonce: bigint; versions: bigint }>(
    `select entry.nonce, count(*) as versions from relay_entries as entry
     join relay_versions as version
       on version.chain = entry.chain and version.sender = entry.sender and version.nonce = entry.nonce
     where entry.chain = $1 and entry.sender = $2 and entry.state = 'live' group by entry.nonce`,
    chain,
    sender,
  )
  return new Map(rows.map(({ nonce, versions }) => [Number(nonce), Number(versions)]))
}

/** Finds the relayer of a chain where no node has told it: the account that was given most nonces. */
export async function findRelayer(sql: Sql, chain: ChainSlug): Promise<Address | undefined> {
  const row = await sql.get<{ sender: string }>(
    'select sender from relay_senders where chain = $1 order by next_nonce - first_nonce desc, sender limit 1',
    chain,
  )
  return row?.sender as Address | undefined
}
