import type { Address } from 'viem'
import { readTrades } from '../campaign/checkAnswers.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { CampaignTrader } from './campaignTrader.ts'
import type { Outbox } from './readOutbox.ts'

interface ShownOrder {
  readonly limitPx: string
  readonly orderType: string
}

/** Returns the resting orders that the facade shows and the chain does not have, and the reverse. */
export async function problemsOfShown(chain: ChainClient, trader: CampaignTrader): Promise<string[]> {
  const shown = await trader.info<readonly ShownOrder[]>('frontendOpenOrders')
  const trades = await readTrades(chain, trader.address)
  const resting = trades
    .filter(({ tradeType }) => tradeType !== 0)
    .flatMap(({ tradeType, openPrice }) => line(tradeType === 1 ? 'Limit' : 'Stop Market', openPrice))
  // All trades of a position that have a stop at one price have it as one order.
  const open = trades.filter(({ tradeType }) => tradeType === 0)
  const takeProfits = [...new Set(open.map(({ tp }) => tp))].flatMap((price) => line('Take Profit Market', price))
  const stopLosses = [...new Set(open.map(({ sl }) => sl))].flatMap((price) => line('Stop Market', price))
  const onChain = [...resting, ...takeProfits, ...stopLosses]
  const answered = shown?.map(({ orderType, limitPx }) => `${orderType} ${Number(limitPx)}`) ?? ['nothing']
  return difference(`what rests for ${trader.address}`, answered, onChain)
}

/** Formats a price to the cent, the precision in which the facade shows a stop that the chain moved. */
function line(what: string, price: bigint): string[] {
  return price === 0n ? [] : [`${what} ${Number((Number(price) / 1e10).toFixed(2))}`]
}

/** Compares the store's positions with the chain's, by their indexes and with their triggers. */
export async function problemsOfPositions(
  chain: ChainClient,
  trader: Address,
  { openTrades }: Outbox,
): Promise<string[]> {
  const trades = (await readTrades(chain, trader)).filter(({ tradeType }) => tradeType === 0)
  const stored = openTrades.filter((trade) => trade.trader === trader)
  return difference(
    `positions of ${trader}`,
    stored.map(({ index, tp, sl }) => `${index} ${tp} ${sl}`),
    trades.map(({ index, tp, sl }) => `${index} ${tp} ${sl}`),
  )
}

function difference(what: string, known: readonly string[], onChain: readonly string[]): string[] {
  const [left, right] = [known.toSorted(), onChain.toSorted()]
  if (left.join('\n') === right.join('\n')) return []
  return [`${what}: the service says ${JSON.stringify(left)}, the chain ${JSON.stringify(right)}`]
}
