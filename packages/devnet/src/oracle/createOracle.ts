import { diamondAbi } from '@bezel/protocol'
import { encodeFunctionData, type ContractFunctionReturnType } from 'viem'
import type { MinedBlock } from '../chain/block.ts'
import type { BlockTimes } from '../chain/blockTimes.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { eachBlock } from '../chain/eachBlock.ts'
import type { Wallet } from '../deploy/createWallet.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import type { Prices } from '../feed/prices.ts'
import { answerPrices } from './answerPrices.ts'
import { packAnswer } from './packAnswer.ts'
import { requestIdOf } from './requestId.ts'

/** Answers every open price request of a chain after a delay, by as many accounts as the Diamond's quorum needs. */
export interface Oracle {
  /** While paused nothing is answered, so requests time out. */
  pause(paused: boolean): void
  setDelayMs(delayMs: number): void
  stop(): Promise<void>
}

export interface OracleOptions {
  readonly chain: LocalChain
  readonly diamond: Diamond
  readonly prices: Prices
  readonly blockTimes: BlockTimes
  /** The accounts that answer; at least the Diamond's minimum of answers. */
  readonly wallets: readonly Wallet[]
  readonly delayMs: number
  readonly now: () => number
  readonly report: (error: unknown) => void
}

type PendingOrder = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllPendingOrders'>[number]

/** What is known about an open order beside what the chain says. Lost without harm: then it is answered again. */
interface Seen {
  readonly atMs: number
  /** Head when its answers were last sent. */
  answeredAtBlock: number | undefined
}

/** An answer that has not arrived after so many blocks was lost in a reorganisation: send it again. */
const RESEND_AFTER_BLOCKS = 12

/** All work is derived from the open orders the chain itself lists at each head, so a reorganisation needs no care. */
export function createOracle(options: OracleOptions): Oracle {
  const { chain, diamond, prices, wallets, now, report } = options
  let orders: readonly PendingOrder[] = []
  let seen = new Map<string, Seen>()
  let isStale = true
  let paused = false
  let { delayMs } = options

  async function refresh(blocks: readonly MinedBlock[]): Promise<void> {
    isStale ||= blocks.some(diamond.isTouchedBy)
    if (!isStale) return
    orders = await diamond.read('getAllPendingOrders', [0n, 0n])
    isStale = false
    const atMs = now()
    seen = new Map(
      orders.map((order) => [keyOf(order), seen.get(keyOf(order)) ?? { atMs, answeredAtBlock: undefined }]),
    )
  }

  function isDue(order: PendingOrder): boolean {
    const { atMs, answeredAtBlock } = seen.get(keyOf(order)) ?? { atMs: now(), answeredAtBlock: undefined }
    if (now() - atMs < delayMs || !prices.isOpen(order.trade.pairIndex)) return false
    return answeredAtBlock === undefined || chain.head().number - answeredAtBlock >= RESEND_AFTER_BLOCKS
  }

  async function answer(order: PendingOrder): Promise<void> {
    const candle = await answerPrices(options, order)
    const word = packAnswer(candle, Math.floor(now() / 1000))
    const known = seen.get(keyOf(order))
    if (known !== undefined) known.answeredAtBlock = chain.head().number
    for (const wallet of wallets) {
      const args = [requestIdOf(order, wallet.address), word] as const
      await wallet.send(diamond.address, encodeFunctionData({ abi: diamondAbi, functionName: 'fulfill', args }))
    }
  }

  const work = eachBlock(
    chain,
    async (blocks) => {
      await refresh(blocks)
      if (paused) return
      for (const order of orders.filter(isDue)) await answer(order)
    },
    report,
  )
  return {
    pause(value) {
      paused = value
      work.wake()
    },
    setDelayMs(value) {
      delayMs = value
      work.wake()
    },
    stop: work.stop,
  }
}

/** The block is part of it: after a reorganisation the same number can be another order. */
function keyOf({ user, index, createdBlock }: PendingOrder): string {
  return `${user}:${index}:${createdBlock}`
}
