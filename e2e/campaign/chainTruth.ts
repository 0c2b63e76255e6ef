import { diamondAbi, PendingOrderType, TradeType } from '@bezel/protocol'
import { parseEventLogs, type Address, type Hex } from 'viem'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'

/** The log that creates an order on the chain. */
export interface Creation {
  readonly blockHash: Hex
  readonly logIndex: number
  readonly txHash: Hex
  readonly trader: Address
  /** The state of the order on the chain: a request waits for its answer, a resting order may rest. */
  readonly outcome: 'waiting' | 'resting' | 'executed' | 'refused' | 'canceled'
}

/** All order logs of the Diamond, in the order of the chain. */
export interface ChainTruth {
  readonly creations: readonly Creation[]
  /** The number of closes by take profit, stop loss and liquidation. */
  readonly keeperCloses: number
}

const MARKET_REQUESTS: ReadonlySet<number> = new Set([
  PendingOrderType.MARKET_OPEN,
  PendingOrderType.MARKET_CLOSE,
  PendingOrderType.MARKET_PARTIAL_OPEN,
  PendingOrderType.MARKET_PARTIAL_CLOSE,
])
const TRIGGERED_OPENS: ReadonlySet<number> = new Set([PendingOrderType.LIMIT_OPEN, PendingOrderType.STOP_OPEN])
const CHUNK_BLOCKS = 2_000n

type Outcome = Creation['outcome']

/** Reads the logs of the chain directly, with none of the service's code. */
export async function readChainTruth(chain: ChainClient): Promise<ChainTruth> {
  const outcomes = new Map<string, Outcome>()
  const creations: (Omit<Creation, 'outcome'> & { readonly handle: string; readonly from: Outcome })[] = []
  let keeperCloses = 0
  for (const event of await readEvents(chain)) {
    const { blockHash, logIndex, transactionHash: txHash } = event
    const place = { blockHash: blockHash!, logIndex: logIndex!, txHash: txHash! }
    switch (event.eventName) {
      case 'PendingOrderStored': {
        const { user, index, orderType } = event.args.pendingOrder
        if (!MARKET_REQUESTS.has(orderType)) break
        creations.push({ ...place, trader: user, handle: `pending ${user} ${index}`, from: 'waiting' })
        break
      }
      case 'TradeStored': {
        const { user, index, trade } = event.args
        if (trade.tradeType === TradeType.TRADE) break
        creations.push({ ...place, trader: user, handle: `trade ${user} ${index}`, from: 'resting' })
        break
      }
      case 'MarketExecuted':
        outcomes.set(pendingHandle(event.args.orderId), 'executed')
        break
      case 'MarketOpenCanceled':
      case 'MarketCloseCanceled':
        outcomes.set(pendingHandle(event.args.orderId), 'refused')
        break
      case 'PositionSizeDecreaseExecuted':
        outcomes.set(pendingHandle(event.args.orderId), event.args.cancelReason === 0 ? 'executed' : 'refused')
        break
      case 'ChainlinkCallbackTimeout':
        outcomes.set(pendingHandle(event.args.pendingOrderId), 'canceled')
        break
      case 'LimitExecuted': {
        const { user, limitIndex, orderType } = event.args
        if (TRIGGERED_OPENS.has(orderType)) outcomes.set(`trade ${user} ${limitIndex}`, 'executed')
        else keeperCloses += 1
        break
      }
      case 'OpenLimitCanceled':
        outcomes.set(`trade ${event.args.trader} ${event.args.index}`, 'canceled')
        break
      default:
    }
  }
  return {
    creations: creations.map(({ handle, from, ...creation }) => ({
      ...creation,
      outcome: outcomes.get(handle) ?? from,
    })),
    keeperCloses,
  }
}

function pendingHandle({ user, index }: { readonly user: Address; readonly index: number }): string {
  return `pending ${user} ${index}`
}

async function readEvents({ client, diamond }: ChainClient) {
  const head = await client.getBlockNumber()
  const logs = []
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += CHUNK_BLOCKS) {
    logs.push(...(await client.getLogs({ address: diamond, fromBlock, toBlock: fromBlock + CHUNK_BLOCKS - 1n })))
  }
  return parseEventLogs({ abi: diamondAbi, logs })
}
