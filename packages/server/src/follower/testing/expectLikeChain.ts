import assert from 'node:assert/strict'
import { diamondAbi, PendingOrderType, type Address, type OrderId } from '@bezel/protocol'
import type { ContractFunctionArgs, ContractFunctionName } from 'viem'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { listOrders, type StoredOrder } from '../../store/orderStore.ts'
import { listOpenPositionsOf } from '../../store/positionStore.ts'
import { fromExactJson, type Store } from '../../store/sql.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'

const LAST_ID = '9007199254740991' as OrderId
const CHAIN = 'arbitrum-sepolia'

/** Lists the orders of a trader, oldest first. */
export async function ordersOf({ read }: Store, trader: string): Promise<StoredOrder[]> {
  return (await listOrders(read, CHAIN, trader as Address, LAST_ID, 1_000)).toReversed()
}

type ViewName = ContractFunctionName<typeof diamondAbi, 'view' | 'pure'>

/** Returns a function that reads a view of the Diamond at the latest block. */
function viewsOf({ client, diamond }: Pick<ChainClient, 'client' | 'diamond'>) {
  return async <N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<typeof diamondAbi, 'view' | 'pure', N>,
  ) => client.readContract({ address: diamond, abi: diamondAbi, functionName, args } as never) as Promise<never>
}

/** Fails unless the stored state of a trader equals that of the Diamond. No block may be mined meanwhile. */
export async function expectLikeChain(
  store: Store,
  chain: Pick<ChainClient, 'client' | 'diamond'>,
  trader: string,
): Promise<void> {
  const view = viewsOf(chain)
  const trades: readonly ChainTrade[] = await view('getTrades', [trader as Address])
  const positions = await listOpenPositionsOf(store.read, CHAIN, trader as Address)
  const open = trades.filter(({ tradeType }) => tradeType === 0)
  assert.deepEqual(
    positions.map(({ state }) => state!.trade).toSorted((a, b) => a.index - b.index),
    open.map(({ __placeholder: _, ...trade }) => trade),
  )
  for (const { state } of positions) {
    const { index, collateralIndex } = state!.trade
    const info: Record<string, unknown> = await view('getTradeInfo', [trader as Address, index])
    const { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock, maxSlippageP } = info
    assert.deepEqual(state!.info, { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock })
    assert.equal(state!.maxClosingSlippageP, maxSlippageP)
    assert.deepEqual(state!.liquidationParams, await view('getTradeLiquidationParams', [trader as Address, index]))
    const fees: Record<string, unknown> = await view('getTradeFeesData', [trader as Address, index])
    const { realizedTradingFeesCollateral, realizedPnlCollateral, initialAccFundingFeeP, initialAccBorrowingFeeP } =
      fees
    assert.deepEqual(state!.feesData, {
      realizedTradingFeesCollateral,
      realizedPnlCollateral,
      initialAccFundingFeeP,
      initialAccBorrowingFeeP,
    })
    const old: Record<string, unknown> = await view('getBorrowingInitialAccFees', [
      collateralIndex,
      trader as Address,
      index,
    ])
    const { accPairFee, accGroupFee, block } = old
    assert.deepEqual(state!.oldBorrowing, { accPairFee, accGroupFee, block })
  }

  const orders = await ordersOf(store, trader)
  const resting = orders.filter(({ state }) => state!.status === 'open')
  assert.deepEqual(
    resting.map(({ state }) => state!.tradeIndex!).toSorted(byNumber),
    trades
      .filter(({ tradeType }) => tradeType !== 0)
      .map(({ index }) => index)
      .toSorted(byNumber),
  )
  const all: readonly ChainRequest[] = await view('getPendingOrders', [trader as Address])
  const pending = all.filter(({ orderType }) => !TRIGGERS.has(orderType))
  assert.deepEqual(
    orders.flatMap(({ state }) => state!.unanswered).toSorted(byNumber),
    pending
      .filter(({ orderType }) => orderType !== PendingOrderType.UPDATE_LEVERAGE)
      .map(({ index }) => index)
      .toSorted(byNumber),
  )
  const timeoutBlocks: number = await view('getMarketOrdersTimeoutBlocks', [])
  assert.deepEqual(
    await listUpdates(store, trader),
    pending
      .filter(({ orderType }) => UPDATES.has(orderType))
      .map(({ index, trade, createdBlock }) => [index, trade.index, createdBlock + timeoutBlocks])
      .toSorted(([a], [b]) => a! - b!),
  )
}

/** Requests of bots, which no order shows. */
const TRIGGERS: ReadonlySet<number> = new Set([
  PendingOrderType.LIMIT_OPEN,
  PendingOrderType.STOP_OPEN,
  PendingOrderType.TP_CLOSE,
  PendingOrderType.SL_CLOSE,
  PendingOrderType.LIQ_CLOSE,
])

/** Requests that a position shows as its pending change. */
const UPDATES: ReadonlySet<number> = new Set([PendingOrderType.UPDATE_LEVERAGE, PendingOrderType.MARKET_PARTIAL_OPEN])

/** Lists the pending changes of a trader's positions: pending index, trade index and the block of the timeout. */
async function listUpdates({ read }: Store, trader: string): Promise<number[][]> {
  const rows = await read.all<{ state: string }>(
    'select state from positions where chain = $1 and trader = $2 and update_index is not null order by update_index',
    CHAIN,
    trader,
  )
  return rows.map((row) => {
    const { pendingUpdate, trade } = fromExactJson<PositionState>(row.state)
    return [pendingUpdate!.pendingIndex, trade.index, pendingUpdate!.timesOutAtBlock]
  })
}

function byNumber(a: number, b: number): number {
  return a - b
}

interface ChainRequest {
  readonly orderType: number
  readonly index: number
  readonly createdBlock: number
  readonly trade: ChainTrade
}

interface ChainTrade {
  readonly index: number
  readonly tradeType: number
  readonly __placeholder: number
}
