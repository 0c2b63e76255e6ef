import assert from 'node:assert/strict'
import {
  verifyPrepared,
  type BezelClient,
  type CreateOrderRequest,
  type Order,
  type Position,
  type VerifyOptions,
  type WriteRequest,
} from '@bezel/sdk'
import type { Shape } from '../../packages/sdk/src/testing/sampleShapes.ts'
import { until } from '@bezel/testkit/until.ts'
import { SOON, type SdkWorld } from './sdkWorld.ts'

const BTC = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const

/** Orders of each kind; resting prices are far from the mark, so that nothing executes. */
const OPENINGS: readonly CreateOrderRequest[] = [
  BTC,
  { ...BTC, side: 'short', slippage: '0.5', collateral: 'DAI', leverage: '7.25' },
  { ...BTC, price: '60000', collateral: 'WETH', sl: '55000', tp: '70000' },
  { ...BTC, price: '114000' },
  { ...BTC, type: 'limit', price: '59000.5', sl: '55000', collateral: 'GNS', size: '0.01127', leverage: '20' },
  { ...BTC, type: 'limit', side: 'short', price: '66000', tp: '50000', leverage: '33.333' },
  { ...BTC, type: 'stop', price: '61000', slippage: '65.535' },
  // Triggers that the market has passed already execute at its price.
  { ...BTC, type: 'limit', price: '63000' },
  { ...BTC, type: 'stop', side: 'short', price: '60200' },
  { ...BTC, type: 'stop', side: 'short', price: '58000', sl: '63000', tp: '40000', collateral: 'WETH' },
  { market: 'ETH/USD', side: 'short', type: 'market', size: '0.5', leverage: '20', collateral: 'DAI', slippage: '5' },
  { market: 'ETH/USD', side: 'long', type: 'limit', size: '1.2345', leverage: '5', price: '1234.56' },
  { market: 'SOL/USD', side: 'long', type: 'stop', size: '123.4', leverage: '11', price: '999.5', collateral: 'DAI' },
  { market: 'SHIB/USD', side: 'short', type: 'limit', size: '250000000', leverage: '3', price: '0.0000125' },
]

/**
 * Prepares every kind of transaction with the real service and verifies it with the client. Positions and orders stay
 * open.
 */
export async function prepareRealShapes(world: SdkWorld, client: BezelClient): Promise<Shape[]> {
  const shapes: Shape[] = []
  async function take(request: WriteRequest, prepare: () => Promise<unknown>, options?: VerifyOptions): Promise<void> {
    const prepared = (await prepare()) as Shape['prepared']
    const context = await client.verify(request, prepared, options)
    // Verifies without reading the chain too, where the request does not depend on it.
    const isBlind = 'slippage' in ('body' in request ? request.body : {}) && request.operation === 'closePosition'
    if (!isBlind) verifyPrepared(request, prepared, { ...context, onChain: undefined, impactP: undefined })
    shapes.push({ name: nameOf(request), request, prepared, context: exact(context) })
    const { order } = prepared
    // An agent may have twenty prepared orders, so this one is withdrawn.
    if (order?.status === 'prepared') await client.orders.prepareCancel(order.id)
  }
  const create = (body: CreateOrderRequest) =>
    take({ operation: 'createOrder', body }, () => client.orders.prepare(body))
  for (const body of OPENINGS) await create(body)

  const { order, position, second } = await openThings(client)
  const changes = [
    { price: '58000' },
    { price: '59005' },
    { sl: '50000', tp: '0', slippage: '2' },
    { size: '0.04' },
    { size: '0.05', price: '57000.1' },
  ]
  for (const body of changes) {
    await take({ operation: 'updateOrder', order, body }, () => client.orders.prepareUpdate(order.id, body))
  }
  await take({ operation: 'cancelOrder', order }, () => client.orders.prepareCancel(order.id))
  for (const body of [
    {},
    { size: '0.01' },
    { size: '0.01234', slippage: '3' },
    { slippage: '0.2' },
    { size: position.size },
  ]) {
    await take({ operation: 'closePosition', position, body }, () => client.positions.prepareClose(position.id, body))
  }
  const both = { ...BTC, side: 'short', size: '0.03', reduceOnly: true } as const
  await create(both)
  await create({ ...both, size: '5', price: '60100', slippage: '2', collateral: 'USDC' })
  const updates = [
    { sl: '57000' },
    { tp: '66000' },
    { sl: '0', tp: '64000.5' },
    { leverage: '8.123' },
    { collateral: { action: 'add', amount: '12.34' } },
    { collateral: { action: 'remove', amount: '10' } },
  ] as const
  for (const body of updates) {
    for (const held of [position, second]) {
      await take({ operation: 'updatePosition', position: held, body }, () =>
        client.positions.prepareUpdate(held.id, body),
      )
    }
  }
  await reclaimShapes(world, client, take)
  return shapes
}

/** Opens one resting order and two different positions. */
async function openThings(client: BezelClient): Promise<{ order: Order; position: Position; second: Position }> {
  const resting = await client.orders.create({ ...BTC, type: 'limit', price: '59000', sl: '52000', tp: '75000' })
  const order = await resting.waitFor('open', SOON)
  const ids: string[] = []
  for (const size of ['0.02', '0.025']) {
    const filled = await (await client.orders.create({ ...BTC, size })).waitForFill(SOON)
    ids.push(filled.fill.positionId!)
  }
  const [position, second] = await Promise.all(ids.map((id) => client.positions.get(id)))
  return { order, position: position!, second: second! }
}

/**
 * Prepares the reclaims of a market order, of a change of leverage and of a close that the oracles never answered. A
 * close and another change reclaim the change too.
 */
async function reclaimShapes(
  world: SdkWorld,
  client: BezelClient,
  take: (request: WriteRequest, prepare: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  await world.chain.control('bezel_pauseOracle', true)
  const opened = await client.orders.create({ ...BTC, size: '0.03' })
  await opened.waitFor('pending', SOON)
  await updateShapes(world, client, take)
  const closed = await client.orders.create({ ...BTC, side: 'short', size: '1', reduceOnly: true })
  await closed.waitFor('pending', SOON)
  await world.chain.control('hardhat_mine', 200)
  for (const tracked of [opened, closed]) {
    const order = await tracked.waitFor('timed_out', SOON)
    await take({ operation: 'cancelOrder', order }, () => client.orders.prepareCancel(order.id))
  }
}

/** Lets a change of leverage time out, prepares everything that reclaims it, and reclaims it. */
async function updateShapes(
  world: SdkWorld,
  client: BezelClient,
  take: (request: WriteRequest, prepare: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const [{ id } = assert.fail('a position')] = await client.positions.list()
  // A service that is behind the chain for a moment refuses reads.
  const untilUpdate = (what: string, isIt: (update: Position['pendingUpdate']) => boolean): Promise<Position> =>
    until(what, async () => {
      const found = await client.positions.get(id).catch(() => undefined)
      return found !== undefined && isIt(found.pendingUpdate) ? found : undefined
    })
  await client.positions.update(id, { leverage: '5' })
  await untilUpdate('the change is seen', (update) => update !== null)
  await world.chain.control('hardhat_mine', 200)
  const position = await untilUpdate('the change timed out', (update) => update?.status === 'timed_out')
  await take({ operation: 'closePosition', position, body: {} }, () => client.positions.prepareClose(id, {}))
  const body = { leverage: '8' }
  await take({ operation: 'updatePosition', position, body }, () => client.positions.prepareUpdate(id, body))
  await take({ operation: 'cancelPositionUpdate', position }, () => client.positions.prepareCancelUpdate(id))
  await client.positions.cancelUpdate(id)
  await untilUpdate('the change is reclaimed', (update) => update === null)
}

/**
 * Sets the price tolerance to zero: tokens of the local chain have fixed prices, so only rounding separates request and
 * result.
 */
function exact(context: Shape['context']): Shape['context'] {
  return { ...context, collateral: { ...context.collateral, priceTolerancePercent: '0' } }
}

function nameOf(request: WriteRequest): string {
  const what = 'body' in request ? JSON.stringify(request.body) : 'order' in request ? request.order.type : ''
  return `${request.operation} ${what}`
}
