import type { Address } from 'viem'
import { readTrades } from '../campaign/checkAnswers.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { CampaignTrader } from './campaignTrader.ts'
import type { Outbox } from './readOutbox.ts'

interface ShownOrder {
  readonly limitPx: string
  readonly orderType: string
}

/** What the facade shows to rest, where the chain has something else. */
export async function problemsOfShown(chain: ChainClient, trader: CampaignTrader): Promise<string[]> {
  const shown = (await trader.info('frontendOpenOrders')) as unknown as readonly ShownOrder[] | undefined
  const trades = await readTrades(chain, trader.address)
  const onChain = trades.flatMap(({ tradeType, openPrice, tp, sl }) =>
    tradeType === 0
      ? [...line('Take Profit Market', tp), ...line('Stop Market', sl)]
      : line(tradeType === 1 ? 'Limit' : 'Stop Market', openPrice),
  )
  const answered = shown?.map(({ orderType, limitPx }) => `${orderType} ${Number(limitPx)}`) ?? ['nothing']
  return difference(`what rests for ${trader.address}`, answered, onChain)
}

/** To the cent, which is what the facade shows of a stop that the chain moved. */
function line(what: string, price: bigint): string[] {
  return price === 0n ? [] : [`${what} ${Number((Number(price) / 1e10).toFixed(2))}`]
}

/** Positions of the store, by their own numbers and with their triggers, where the chain has others. */
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
