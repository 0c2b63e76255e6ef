import type { Order, Position, PreparedOrder, PreparedTransaction, SigningDomain } from '@bezel/protocol'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import type { TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import type { Recorder } from './recorder.ts'

export const CHAIN = '/v1/arbitrum-sepolia'

/** More blocks than a request of the local chain may wait for the oracle. */
const TIMEOUT_BLOCKS = 200

/** The run: a local chain, the service over it, one trader with an agent. */
export interface Run {
  readonly world: TradingWorld
  readonly recorder: Recorder
  readonly domain: SigningDomain
  readonly client: TradingClient
  readonly apiKey: string
}

/** Records the life of a position and of orders. One position and one resting order are left at the end. */
export async function recordTrading(run: Run): Promise<void> {
  await tradeAndProtect(run)
  await restAndCancel(run)
  await refusedOrder(run)
  await previewAll(run)
  await endAll(run)
}

/** Opens a position, moves its stop, changes its leverage, and closes a part of it with a profit. */
async function tradeAndProtect(run: Run): Promise<void> {
  const { world, recorder, client } = run
  const terms = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.05', leverage: '10' }
  const create = { operation: 'createOrder', method: 'POST', path: `${CHAIN}/orders`, signer: client.agent }
  const stops = { price: '60000', sl: '58000', tp: '66000', slippage: '0.5', clientId: 'first-1', collateral: 'USDC' }
  const prepared = await recorder.ask({ ...create, body: { ...terms, ...stops, reduceOnly: false }, status: 201 })
  await recorder.ask({ ...create, body: { ...terms, ...stops, reduceOnly: false } })
  const { fill } = await execute(run, prepared.body, 'filled')
  const position = `${CHAIN}/positions/${fill!.positionId}`
  const update = { operation: 'updatePosition', method: 'PATCH', path: position, signer: client.agent }
  const moved = await recorder.ask({ ...update, body: { sl: '50000', tp: '70000' } })
  await client.broadcast(moved.body.transaction as PreparedTransaction)
  await world.chain.control('bezel_pauseOracle', true)
  const add = { collateral: { action: 'add', amount: '20' } }
  const changed = await recorder.ask({ ...update, body: add })
  await client.broadcast(changed.body.transaction as PreparedTransaction)
  const list = { operation: 'listPositions', path: `${CHAIN}/account/${client.trader.address}/positions` }
  await untilPosition(run, ({ pendingUpdate }) => pendingUpdate?.status === 'pending')
  await recorder.ask({ ...list, signer: client.agent })
  await world.chain.control('hardhat_mine', TIMEOUT_BLOCKS)
  await untilPosition(run, ({ pendingUpdate }) => pendingUpdate?.status === 'timed_out')
  const reclaim = { operation: 'cancelPositionUpdate', method: 'DELETE', path: `${position}/pending-update` }
  const reclaimed = await recorder.ask({ ...reclaim, signer: client.agent })
  await client.broadcast(reclaimed.body.transaction as PreparedTransaction)
  await world.chain.control('bezel_pauseOracle', false)
  await untilPosition(run, ({ pendingUpdate }) => pendingUpdate === null)
  const level = await recorder.ask({ ...update, body: { leverage: '8' } })
  await client.broadcast(level.body.transaction as PreparedTransaction)
  await untilPosition(run, ({ leverage }) => leverage === '8')
  await world.moveTo(60_900)
  const close = { operation: 'closePosition', method: 'POST', path: `${position}/close`, signer: client.agent }
  const closing = await recorder.ask({ ...close, body: { size: '0.03', slippage: '1.5' } })
  await execute(run, closing.body, 'filled')
  await recorder.ask({ ...list, signer: client.agent })
  await recorder.ask({ operation: 'getPosition', path: position, signer: client.agent })
}

/** Places a limit order, changes its price and prepares its cancellation. */
async function restAndCancel(run: Run): Promise<void> {
  const { recorder, client } = run
  const terms = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.05', leverage: '10', price: '55000' }
  const { order, transaction } = await client.prepare(terms)
  await client.submit(order.id, await client.broadcast(transaction))
  await client.orderOnce(order.id, ({ status }) => status === 'open')
  const path = `${CHAIN}/orders/${order.id}`
  const change = { price: '56000', size: '0.04', sl: '52000', tp: '68000', slippage: '0.8' }
  await recorder.ask({ operation: 'updateOrder', method: 'PATCH', path, body: change, signer: client.agent })
  await recorder.ask({ operation: 'cancelOrder', method: 'DELETE', path, signer: client.agent })
}

/** Sends an order that the contracts refuse for its slippage. */
async function refusedOrder(run: Run): Promise<void> {
  const terms = { market: 'BTC/USD', side: 'short', type: 'market', size: '0.02', leverage: '10', slippage: '0.001' }
  const { order, transaction } = await run.client.prepare(terms)
  await run.client.broadcast(transaction)
  await run.client.orderOnce(order.id, ({ status }) => status === 'rejected')
  await run.recorder.ask({ operation: 'getOrder', path: `${CHAIN}/orders/${order.id}`, signer: run.client.agent })
}

/** Asks what orders, closes and changes would do and cost. */
async function previewAll({ recorder, client }: Run): Promise<void> {
  const { body } = await client.account('/positions', 'listPositions')
  const [{ id }] = body.data as [Position]
  const preview = (operation: string, path: string, query: Record<string, string>) =>
    recorder.ask({
      operation,
      path: `${CHAIN}/account/${client.trader.address}/preview/${path}?${new URLSearchParams(query)}`,
      signer: client.agent,
    })
  const asked = { simulate: 'true', agent: client.agent.address }
  const terms = { market: 'BTC/USD', side: 'long', size: '0.05', leverage: '10', slippage: '1', collateral: 'USDC' }
  const stops = { sl: '52000', tp: '68000' }
  await preview('previewOrder', 'order', { ...terms, type: 'market', ...stops, reduceOnly: 'false', ...asked })
  await preview('previewOrder', 'order', { ...terms, type: 'limit', price: '56000' })
  // More than the wallet has, and more than the scope allows.
  await preview('previewOrder', 'order', { ...terms, type: 'market', size: '60', leverage: '2', ...asked })
  await preview('previewOrder', 'order', { ...terms, type: 'market', slippage: '0.001' })
  await preview('previewClose', `close/${id}`, { size: '0.01', slippage: '1.5', ...asked })
  await preview('previewPosition', `position/${id}`, { leverage: '7', ...asked })
  await preview('previewPosition', `position/${id}`, stops)
  await preview('previewPosition', `position/${id}`, { addCollateral: '20' })
  await preview('previewPosition', `position/${id}`, { removeCollateral: '10' })
}

/** Prepares the end of everything, and sends nothing. */
async function endAll({ recorder, client }: Run): Promise<void> {
  const signed = { signer: client.agent }
  const body = { market: 'BTC/USD', slippage: '1.5' }
  const orders = `${CHAIN}/orders?market=BTC-USD`
  await recorder.ask({ operation: 'cancelAllOrders', method: 'DELETE', path: orders, ...signed })
  const close = { operation: 'closeAllPositions', method: 'POST', path: `${CHAIN}/positions/close-all` }
  await recorder.ask({ ...close, body, ...signed })
  await recorder.ask({ operation: 'flatten', method: 'POST', path: `${CHAIN}/flatten`, body, ...signed })
}

/** Sends the transaction of an order, reports it, and waits for the status. */
async function execute({ recorder, client }: Run, prepared: PreparedOrder, status: Order['status']): Promise<Order> {
  const { order, transaction } = prepared
  const txHash = await client.broadcast(transaction!)
  const path = `${CHAIN}/orders/${order.id}`
  await recorder.ask({
    operation: 'submitOrder',
    method: 'POST',
    path: `${path}/submit`,
    body: { txHash },
    signer: client.agent,
  })
  await client.orderOnce(order.id, (now) => now.status === status)
  return (await recorder.ask({ operation: 'getOrder', path, signer: client.agent })).body as Order
}

/** Waits until the only position is as expected. While many blocks are mined at once, reads are refused. */
function untilPosition({ client }: Run, isExpected: (position: Position) => boolean): Promise<boolean> {
  return until(`a position with ${isExpected}`, async (saw) => {
    const { status, body } = await client.account('/positions', 'listPositions')
    saw(body)
    return status === 200 && isExpected(body.data[0])
  })
}
