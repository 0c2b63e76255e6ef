import { formatDecimal, parseDecimal, scaleDecimal, type ChainSlug } from '@bezel/protocol'
import type { Store } from './sql.ts'

const PRICE_DECIMALS = 10

/** Prices (1e10) that fix the precisions of a chain's markets, by pair index. Once kept they never change. */
export async function readReferencePrices(store: Store, chain: ChainSlug): Promise<ReadonlyMap<number, bigint>> {
  const rows = await store.read.all<{ pair_index: bigint; price: string }>(
    'select pair_index, price from reference_prices where chain = $1',
    chain,
  )
  return new Map(rows.map(({ pair_index, price }) => [Number(pair_index), scaledPrice(price)]))
}

/** Keeps those that are not kept yet, and gives what is kept then: another process may have been first. */
export async function keepReferencePrices(
  store: Store,
  chain: ChainSlug,
  prices: ReadonlyMap<number, bigint>,
): Promise<ReadonlyMap<number, bigint>> {
  await store.transaction(async (sql) => {
    for (const [pairIndex, price] of prices) {
      await sql.run(
        'insert into reference_prices (chain, pair_index, price) values ($1, $2, $3) on conflict (chain, pair_index) do nothing',
        chain,
        pairIndex,
        formatDecimal(price, PRICE_DECIMALS),
      )
    }
  })
  return readReferencePrices(store, chain)
}

function scaledPrice(text: string): bigint {
  const decimal = parseDecimal(text)
  const price = decimal === undefined ? undefined : scaleDecimal(decimal, PRICE_DECIMALS)
  if (price === undefined || price <= 0n)
    throw new Error(`the store holds ${JSON.stringify(text)} as a reference price`)
  return price
}
