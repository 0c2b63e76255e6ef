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
  const onChain = trades.flatMap(({ tradeType, openPrice, tp, sl }) =>
    tradeType === 0
      ? [...line('Take Profit Market', tp), ...line('Stop Market', sl)]
      : line(tradeType === 1 ? 'Limit' : 'Stop Market', openPrice),
  )
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
