import { PendingOrderType, type Address } from '@bezel/protocol'
import { numberToHex } from 'viem'
import type { ChainBlock } from '../chain/blocks.ts'
import { diamondCall, type DiamondCall } from '../chain/diamondCalls.ts'
import type { RpcClient, RpcOutcome } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { LiquidationParams } from '../trading/valuation/chainState.ts'

/** Liquidation parameters of trades right after a size increase, by the key of the increase. */
export type RenewedParams = ReadonlyMap<string, LiquidationParams>

/** A size increase on the chain. */
interface Increase {
  readonly blockNumber: number
  readonly trader: `0x${string}`
  readonly tradeIndex: number
}

/** Returns the key of an increase in `RenewedParams`. */
export function increaseKey({ blockNumber, trader, tradeIndex }: Increase): string {
  return `${blockNumber}:${trader}:${tradeIndex}`
}

/**
 * Reads the liquidation parameters that size increases in these blocks gave their trades, which no event tells. Reads
 * nothing when there was none. Nodes forget the state of old blocks; the trade's present parameters are then the best
 * answer, and differ only after a later increase, which is read by itself. An increase that the node does not answer
 * for is left out.
 */
export async function readRenewedParams(
  client: RpcClient,
  diamond: Address,
  blocks: readonly ChainBlock[],
): Promise<RenewedParams> {
  const increases = increasesIn(blocks)
  const read = (of: readonly Increase[], isAtBlock: boolean): Promise<Map<string, LiquidationParams>> =>
    readParams(client, diamond, of, isAtBlock)
  const found = await read(increases, true)
  const missing = increases.filter((increase) => !found.has(increaseKey(increase)))
  for (const [key, params] of await read(missing, false)) found.set(key, params)
  return found
}

function increasesIn(blocks: readonly ChainBlock[]): Increase[] {
  const increases = new Map<string, Increase>()
  for (const { block, transactions } of blocks) {
    for (const { name, args } of transactions.flatMap(({ events }) => events)) {
      if (name !== 'TradePositionUpdated' || args.pendingOrderType !== PendingOrderType.MARKET_PARTIAL_OPEN) continue
      const increase = { blockNumber: block.number, trader: args.user, tradeIndex: args.index }
      increases.set(increaseKey(increase), increase)
    }
  }
  return [...increases.values()]
}

async function readParams(
  client: RpcClient,
  diamond: Address,
  increases: readonly Increase[],
  isAtBlock: boolean,
): Promise<Map<string, LiquidationParams>> {
  const found = new Map<string, LiquidationParams>()
  if (increases.length === 0) return found
  const calls = increases.map(({ trader, tradeIndex, blockNumber }) =>
    diamondCall(
      diamond,
      'getTradeLiquidationParams',
      [trader, tradeIndex],
      isAtBlock ? numberToHex(blockNumber) : 'latest',
    ),
  )
  const outcomes = await client.batch(calls.map(({ call }) => call))
  for (const [i, increase] of increases.entries()) {
    const params = resultIn(calls[i]!, outcomes[i]!)
    if (params !== undefined) found.set(increaseKey(increase), params)
  }
  return found
}

function resultIn<Result>({ decode }: DiamondCall<Result>, outcome: RpcOutcome): Result | undefined {
  try {
    return decode(outcome)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}
