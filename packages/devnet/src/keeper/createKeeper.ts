import { diamondAbi } from '@bezel/protocol'
import { encodeFunctionData } from 'viem'
import type { MinedBlock } from '../chain/block.ts'
import type { BlockTimes } from '../chain/blockTimes.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { eachBlock } from '../chain/eachBlock.ts'
import type { Wallet } from '../deploy/createWallet.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import type { Prices } from '../feed/prices.ts'
import { blockTimeMs } from '../oracle/answerPrices.ts'
import { extendCandle } from './extendCandle.ts'
import { isNear } from './isNear.ts'
import { packTrigger } from './packTrigger.ts'
import { watchesOf, type Watch } from './watches.ts'

/** Triggers limit and stop orders, take profits, stop losses and liquidations when their price is reached. */
export interface Keeper {
  pause(paused: boolean): void
  stop(): Promise<void>
}

export interface KeeperOptions {
  readonly chain: LocalChain
  readonly diamond: Diamond
  readonly prices: Prices
  readonly blockTimes: BlockTimes
  readonly wallet: Wallet
  readonly report: (error: unknown) => void
}

/** More than the longest time a trigger in flight keeps others off (50 blocks), so that a retry is never refused for it. */
const RETRY_AFTER_BLOCKS = 60

/** All work is derived from the open trades the chain itself lists, and the Diamond has the last word on each trigger. */
export function createKeeper({ chain, diamond, prices, blockTimes, wallet, report }: KeeperOptions): Keeper {
  let watches = new Map<string, Watch>()
  let isStale = true
  let paused = false

  async function refresh(blocks: readonly MinedBlock[]): Promise<void> {
    isStale ||= blocks.some(diamond.isTouchedBy)
    if (!isStale) return
    const trades = await diamond.read('getAllTrades', [0n, 0n])
    const infos = await diamond.read('getAllTradeInfos', [0n, 0n])
    isStale = trades.length !== infos.length // a block came in between
    const known = watches
    watches = new Map()
    for (const [i, trade] of trades.entries()) {
      const info = infos[i]
      if (info === undefined) continue
      for (const watch of watchesOf(trade, info)) watches.set(watch.key, known.get(watch.key) ?? watch)
    }
  }

  /** The candle since the order's last edit, read once in full and then continued from where it was left. */
  async function follow(watch: Watch): Promise<void> {
    const fromMs = watch.candleToMs ?? (await blockTimeMs({ chain, blockTimes }, watch.fromBlock))
    watch.candle = extendCandle(watch.candle, prices.candleSince(watch.trade.pairIndex, fromMs)[watch.priceKind])
    watch.candleToMs = prices.timeMs()
  }

  async function wouldExecute({ trade, orderType, candle, isOpening }: Watch): Promise<boolean> {
    if (candle === undefined) return false
    const id = { user: trade.user, index: trade.index }
    const view = isOpening ? 'validateTriggerOpenOrderCallback' : 'validateTriggerCloseOrderCallback'
    const args = [id, orderType, candle.open, candle.high, candle.low, candle.current] as const
    const [, values] = await diamond.read(view, args)
    return values.cancelReason === 0
  }

  async function trigger(watch: Watch): Promise<void> {
    watch.triggeredAtBlock = chain.head().number
    const packed = packTrigger(watch.orderType, watch.trade.user, watch.trade.index)
    const data = encodeFunctionData({ abi: diamondAbi, functionName: 'triggerOrder', args: [packed] })
    await wallet.send(diamond.address, data)
  }

  async function check(watch: Watch): Promise<void> {
    if (!prices.isOpen(watch.trade.pairIndex)) return
    await follow(watch)
    const { triggeredAtBlock } = watch
    if (triggeredAtBlock !== undefined && chain.head().number - triggeredAtBlock < RETRY_AFTER_BLOCKS) return
    if (isNear(watch) && (await wouldExecute(watch))) await trigger(watch)
  }

  const work = eachBlock(
    chain,
    async (blocks) => {
      await refresh(blocks)
      if (paused) return
      for (const watch of watches.values()) await check(watch)
    },
    report,
  )
  return {
    pause(value) {
      paused = value
      work.wake()
    },
    stop: work.stop,
  }
}
