import { zeroAddress } from 'viem'
import { P10, tradeOf, type ReceiptEvent } from '@bezel/testkit/chainClient.ts'
import type { DevnetWorld } from '../../packages/server/src/follower/testing/devnetWorld.ts'

/** A transaction with its logs of the Diamond, in a node's JSON. */
export interface RecordedTransaction {
  readonly transaction: Readonly<Record<string, unknown>> & { readonly hash: string }
  readonly logs: readonly Readonly<Record<string, unknown>>[]
}

/**
 * The transactions of one trader on the local chain, with those of the oracle that answer them, in the order of the
 * chain.
 */
export interface Recording {
  /** Address as 40 lower-case hex digits, without 0x. */
  readonly trader: string
  readonly transactions: readonly RecordedTransaction[]
}

const TRADER = 'trader-1'
const SLIPPAGE_P = 1_000

/**
 * Opens, changes and closes positions and resting orders of a trader on the local chain with the real contracts, and
 * records the transactions.
 */
export async function record(world: DevnetWorld): Promise<Recording> {
  const first = Number(await world.chain.client.getBlockNumber({ cacheTime: 0 })) + 1
  await trade(world)
  const last = Number(await world.chain.client.getBlockNumber({ cacheTime: 0 }))
  const { address } = world.chain.account(TRADER)
  return { trader: address.slice(2).toLowerCase(), transactions: await takeDown(world, first, last) }
}

async function trade({ chain }: DevnetWorld): Promise<void> {
  const trader = chain.account(TRADER)
  const send: typeof chain.send = (...args) => chain.send(...args)
  const open = (terms: Partial<Parameters<typeof tradeOf>[2]>): Promise<unknown> =>
    send(trader, 'openTrade', [tradeOf(chain, trader.address, { price: 60_000n, ...terms }), SLIPPAGE_P, zeroAddress])
  /**
   * Waits for an event. The contracts number trades in the order of the chain, so each step waits for the answer to the
   * one before.
   */
  const answered = (eventName: string, matches: (args: Record<string, unknown>) => boolean): Promise<unknown> =>
    chain.event((event: ReceiptEvent) => event.eventName === eventName && matches(event.args as never))
  await open({ tp: 70_000n, sl: 55_000n })
  await answered('MarketExecuted', ({ index }) => index === 0)
  await open({ long: false })
  await answered('MarketExecuted', ({ index }) => index === 1)
  await open({ price: 50_000n, tradeType: 1 })
  await open({ price: 70_000n, tradeType: 2 })
  await send(trader, 'updateTp', [0, 69_000n * P10])
  await send(trader, 'updateSl', [0, 58_000n * P10])
  await send(trader, 'updateOpenOrder', [2, 51_000n * P10, 0n, 0n, SLIPPAGE_P])
  await send(trader, 'cancelOpenOrder', [2])
  await send(trader, 'cancelOpenOrder', [3])
  await send(trader, 'decreasePositionSize', [0, 20_000_000n, 0, 60_000n * P10])
  await answered('PositionSizeDecreaseExecuted', () => true)
  await send(trader, 'closeTradeMarket', [0, 60_000n * P10])
  await send(trader, 'closeTradeMarket', [1, 60_000n * P10])
  await answered('MarketExecuted', ({ index, open: isOpening }) => index === 0 && isOpening === false)
  await answered('MarketExecuted', ({ index, open: isOpening }) => index === 1 && isOpening === false)
}

async function takeDown(world: DevnetWorld, first: number, last: number): Promise<RecordedTransaction[]> {
  const hex = (number: number): string => `0x${number.toString(16)}`
  const range = { address: world.chain.diamond, fromBlock: hex(first), toBlock: hex(last) }
  const logs = await world.chain.control<RecordedTransaction['logs'][number][]>('eth_getLogs', range)
  const byTransaction = Map.groupBy(logs, ({ transactionHash }) => String(transactionHash))
  const recorded: RecordedTransaction[] = []
  for (const [hash, ofIt] of byTransaction) {
    const transaction = await world.chain.control<RecordedTransaction['transaction']>('eth_getTransactionByHash', hash)
    recorded.push({ transaction, logs: ofIt })
  }
  return recorded
}
