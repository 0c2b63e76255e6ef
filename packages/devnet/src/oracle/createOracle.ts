import { diamondAbi } from '@bezel/protocol'
import { encodeFunctionData, encodeAbiParameters, keccak256, type Address, type Hex } from 'viem'
import { type BlockTimes, eachBlock } from '../chain/eachBlock.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import type { Wallet } from '../deploy/createWallet.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import { readPendingOrders, type OpenPendingOrder } from '../diamond/readLists.ts'
import type { Prices } from '../feed/prices.ts'
import { readAnswerPrices, packAnswer } from './answerPrices.ts'

/** Answers every open price request of a chain after a delay, by as many accounts as the Diamond's quorum needs. */
export interface Oracle {
  /** Pauses the oracle: nothing is answered, so requests time out. */
  pause(paused: boolean): void
  setDelayMs(delayMs: number): void
  stop(): Promise<void>
}

interface OracleOptions {
  readonly chain: LocalChain
  readonly diamond: Diamond
  readonly prices: Prices
  readonly blockTimes: BlockTimes
  /** Accounts that answer, at least as many as the Diamond needs. */
  readonly wallets: readonly Wallet[]
  readonly delayMs: number
  readonly now: () => number
  readonly report: (error: unknown) => void
}

/** Facts about an open order that the chain does not have. Losing them does no harm: the order is answered again. */
interface Seen {
  /** Time of its block, from which the delay counts. */
  readonly atMs: number
  /** Height of the head when its answers were last sent. */
  answeredAtBlock: number | undefined
}

/** Key of a pending order: the user, and the number among that user's pending orders. */
interface OrderKey {
  readonly user: Address
  readonly index: number
}

/** Blocks after which an answer that has not arrived is sent again, because a reorganisation lost it. */
const RESEND_AFTER_BLOCKS = 12

const TYPES = [{ type: 'address' }, { type: 'uint32' }, { type: 'address' }] as const

/**
 * Creates the oracle. All work is derived from the open orders that the chain itself lists at each head, so a
 * reorganisation needs no special care.
 */
export function createOracle(options: OracleOptions): Oracle {
  const { chain, diamond, prices, wallets, now, report } = options
  let orders: readonly OpenPendingOrder[] = []
  let seen = new Map<string, Seen>()
  let isStale = true
  let paused = false
  let { delayMs } = options

  async function refresh(): Promise<void> {
    if (!isStale) return
    // A block that comes in between and changes what is read is handed over next.
    orders = await readPendingOrders(diamond)
    isStale = false
    const firstSeen = ({ createdBlock }: OpenPendingOrder): Seen => {
      return { atMs: options.blockTimes.mintedAtMs(createdBlock) ?? now(), answeredAtBlock: undefined }
    }
    seen = new Map(orders.map((order) => [keyOf(order), seen.get(keyOf(order)) ?? firstSeen(order)]))
  }

  function isDue(order: OpenPendingOrder): boolean {
    const { atMs, answeredAtBlock } = seen.get(keyOf(order)) ?? { atMs: now(), answeredAtBlock: undefined }
    if (now() - atMs < delayMs || !prices.isOpen(order.trade.pairIndex)) return false
    return answeredAtBlock === undefined || chain.head().number - answeredAtBlock >= RESEND_AFTER_BLOCKS
  }

  async function answer(order: OpenPendingOrder): Promise<void> {
    const candle = await readAnswerPrices(options, order)
    const word = packAnswer(candle, Math.floor(now() / 1000))
    const known = seen.get(keyOf(order))
    if (known !== undefined) known.answeredAtBlock = chain.head().number
    for (const wallet of wallets) {
      const args = [oracleRequestId(order, wallet.address), word] as const
      await wallet.send(diamond.address, encodeFunctionData({ abi: diamondAbi, functionName: 'fulfill', args }))
    }
  }

  const work = eachBlock(
    chain,
    async (blocks) => {
      isStale ||= blocks.some(diamond.isTouchedBy)
      if (paused) return
      await refresh()
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

/** Returns a key that includes the block, because after a reorganisation the same number can be another order. */
function keyOf({ user, index, createdBlock }: OpenPendingOrder): string {
  return `${user}:${index}:${createdBlock}`
}

/**
 * Returns the id of the request that an oracle answers for an order, derived as in
 * contracts/src/requests/OracleRequest.sol.
 */
export function oracleRequestId({ user, index }: OrderKey, oracle: Address): Hex {
  return keccak256(encodeAbiParameters(TYPES, [user, index, oracle]))
}
