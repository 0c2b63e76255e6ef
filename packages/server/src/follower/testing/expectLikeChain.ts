import assert from 'node:assert/strict'
import { diamondAbi, type Address, type OrderId } from '@bezel/protocol'
import type { ContractFunctionArgs, ContractFunctionName } from 'viem'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { listOrders, type StoredOrder } from '../../store/orderStore.ts'
import { listOpenPositions } from '../../store/positionStore.ts'
import type { Store } from '../../store/sql.ts'

const LAST_ID = '9007199254740991' as OrderId
const CHAIN = 'arbitrum-sepolia'

/** Lists the orders of a trader, oldest first. */
export async function ordersOf({ read }: Store, trader: string): Promise<StoredOrder[]> {
  return (await listOrders(read, CHAIN, trader as Address, LAST_ID, 1_000)).toReversed()
}

type ViewName = ContractFunctionName<typeof diamondAbi, 'view' | 'pure'>

/** Fails unless the stored state of a trader equals that of the Diamond. No block may be mined meanwhile. */
export async function expectLikeChain(store: Store, chain: ChainClient, trader: string): Promise<void> {
  const view = async <N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<typeof diamondAbi, 'view' | 'pure', N>,
  ) =>
    chain.client.readContract({
      address: chain.diamond,
      abi: diamondAbi,
      functionName,
      args,
    } as never) as Promise<never>

  const trades: readonly ChainTrade[] = await view('getTrades', [trader as Address])
  const positions = (await listOpenPositions(store.read, CHAIN)).filter(({ record }) => record.trader === trader)
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
    resting.map(({ state }) => state!.tradeIndex).toSorted(),
    trades
      .filter(({ tradeType }) => tradeType !== 0)
      .map(({ index }) => index)
      .toSorted(),
  )
  const pending: readonly ChainRequest[] = await view('getPendingOrders', [trader as Address])
  assert.deepEqual(
    orders.flatMap(({ state }) => state!.unanswered).toSorted(),
    pending
      .filter(({ orderType }) => orderType !== 7)
      .map(({ index }) => index)
      .toSorted(),
  )
  const timeoutBlocks: number = await view('getMarketOrdersTimeoutBlocks', [])
  assert.deepEqual(
    positions.flatMap(({ state }) => {
      const update = state!.pendingUpdate
      return update === null ? [] : [[update.pendingIndex, state!.trade.index, update.timesOutAtBlock]]
    }),
    pending
      .filter(({ orderType }) => orderType === 7 || orderType === 8)
      .map(({ index, trade, createdBlock }) => [index, trade.index, createdBlock + timeoutBlocks]),
  )
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
