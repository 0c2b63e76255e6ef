import { diamondAbi } from '@bezel/protocol'
import { decodeFunctionData, type Address, type Hex } from 'viem'
import type { ChainClient } from './chainClient.ts'

/** A mined transaction of the relayer, read without any code of the service. */
export interface RelayedTransaction {
  readonly hash: Hex
  readonly nonce: number
  readonly to: Address | null
  readonly value: bigint
  readonly input: Hex
  readonly hasSucceeded: boolean
  readonly costWei: bigint
  readonly blockHash: Hex
  /** Attempt id of an action, the last 8 bytes of its calldata; `null` for anything else. */
  readonly attemptId: Hex | null
  readonly trader: Address | null
  readonly opens: readonly MinedOpen[]
}

/** The terms of an openTrade call, alone or in a multicall. */
export interface MinedOpen {
  /** Size in base units, scaled by 1e5. */
  readonly units: number
  /** Take profit in USD. */
  readonly tp: string
  readonly sl: string
  /** True when the same transaction cancels the order that this one takes the place of. */
  readonly isReplacement: boolean
}

const BLOCKS_AT_ONCE = 20
const ID_DIGITS = 16
/**
 * Scales: collateral 1e6, leverage 1e3, price 1e10, units 1e5. So units = collateral x leverage x 1e10 x 1e5 / (1e9 x
 * price).
 */
const UNITS_SCALE = 10n ** 6n

/** Reads all transactions of the relayer, in chain order. */
export async function readRelayedTransactions(chain: ChainClient, relayer: Address): Promise<RelayedTransaction[]> {
  const head = Number(await chain.client.getBlockNumber())
  const found: RelayedTransaction[] = []
  for (let from = 0; from <= head; from += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, head + 1 - from) }, (_, i) => BigInt(from + i))
    const blocks = await Promise.all(
      numbers.map((blockNumber) => chain.client.getBlock({ blockNumber, includeTransactions: true })),
    )
    const own = blocks.flatMap(({ transactions }) => transactions.filter((of) => isSame(of.from, relayer)))
    for (const { hash, nonce, to, value, input, blockHash } of own) {
      const receipt = await chain.client.getTransactionReceipt({ hash })
      const costWei = receipt.gasUsed * receipt.effectiveGasPrice
      const hasSucceeded = receipt.status === 'success'
      found.push({ hash, nonce, to, value, input, hasSucceeded, costWei, blockHash: blockHash!, ...actionIn(input) })
    }
  }
  return found
}

export function isSame(a: string | null, b: string | null): boolean {
  return a?.toLowerCase() === b?.toLowerCase()
}

/** Decodes the request to the Diamond from a transaction's calldata. */
export function actionIn(input: Hex): Pick<RelayedTransaction, 'attemptId' | 'trader' | 'opens'> {
  if (input === '0x') return { attemptId: null, trader: null, opens: [] }
  const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data: input })
  if (functionName !== 'delegatedTradingAction') return { attemptId: null, trader: null, opens: [] }
  const [trader, inner] = args
  return { attemptId: `0x${input.slice(-ID_DIGITS)}`, trader, opens: opensIn(inner) }
}

function opensIn(data: Hex, isReplacement = false): MinedOpen[] {
  const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data })
  if (functionName === 'multicall') {
    const calls = args[0] as readonly Hex[]
    const cancels = calls.some((call) => nameOf(call) === 'cancelOpenOrder')
    return calls.flatMap((call) => opensIn(call, cancels))
  }
  if (functionName !== 'openTrade') return []
  const { collateralAmount, leverage, openPrice, tp, sl } = args[0]
  const scaled = collateralAmount * BigInt(leverage) * UNITS_SCALE * 2n
  // Rounded to the nearest unit, because the collateral was rounded down to its own decimals.
  const units = Number((scaled / openPrice + 1n) / 2n)
  return [{ units, tp: usd(tp), sl: usd(sl), isReplacement }]
}

function nameOf(data: Hex): string {
  return decodeFunctionData({ abi: diamondAbi, data }).functionName
}

function usd(price: bigint): string {
  return String(Number(price) / 1e10)
}
