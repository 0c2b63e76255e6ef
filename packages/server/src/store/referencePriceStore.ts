import { Price, parseDecimal, type ChainSlug } from '@bezel/protocol'
import type { Store } from './sql.ts'

/** Reads the prices that fix the precisions of a chain's markets, by pair index. Once stored they never change. */
export async function readReferencePrices(store: Store, chain: ChainSlug): Promise<ReadonlyMap<number, Price>> {
  const rows = await store.read.all<{ pair_index: bigint; price: string }>(
    'select pair_index, price from reference_prices where chain = $1',
    chain,
  )
  return new Map(rows.map(({ pair_index, price }) => [Number(pair_index), scaledPrice(price)]))
}

/**
 * Stores the prices of pairs that have none yet. Returns all stored prices, because another process may have been
 * first.
 */
export async function keepReferencePrices(
  store: Store,
  chain: ChainSlug,
  prices: ReadonlyMap<number, Price>,
): Promise<ReadonlyMap<number, Price>> {
  await store.transaction({ chain }, async (sql) => {
    for (const [pairIndex, price] of prices) {
      await sql.run(
        'insert into reference_prices (chain, pair_index, price) values ($1, $2, $3) on conflict (chain, pair_index) do nothing',
        chain,
        pairIndex,
        Price.format(price),
      )
    }
  })
  return readReferencePrices(store, chain)
}

function scaledPrice(text: string): Price {
  const decimal = parseDecimal(text)
  const price = decimal === undefined ? undefined : Price.parse(decimal)
  if (price === undefined || price <= 0n)
    throw new Error(`the store holds ${JSON.stringify(text)} as a reference price`)
  return price
}
