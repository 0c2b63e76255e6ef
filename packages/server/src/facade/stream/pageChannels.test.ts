import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { until } from '@bezel/testkit/until.ts'
import { ALICE } from '../testing/facadeWorld.ts'
import { aliceSteps, placeOrder } from './testing/aliceTrades.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'

// Channels that pages of the exchange subscribe to: all markets at once, and the whole of a user.

const USER = ALICE.toLowerCase()

let world: FacadeStreamWorld
let client: FacadeClient

beforeEach(async () => {
  world = await startFacadeStream()
  client = await world.connect()
})
afterEach(async () => {
  deepEqual(world.errors, [])
  await world.close()
})

const { store, info, move } = aliceSteps(() => world)

describe('assetCtxs, allDexsAssetCtxs and fastAssetCtxs', () => {
  it('tell all markets as /info does, at once and when prices move', async () => {
    const told = (type: string) => client.dataOf<Record<string, never>>(type).at(-1)
    const pricesOf = (text: unknown) => JSON.parse(inflateRawSync(Buffer.from(String(text), 'base64')).toString())
    for (const type of ['assetCtxs', 'allDexsAssetCtxs', 'fastAssetCtxs']) await client.subscribe({ type })
    for (const price of ['60000.00', '61000.00']) {
      const [, ctxs] = await info('metaAndAssetCtxs', {})
      await until('the markets are told', () => JSON.stringify(told('assetCtxs')?.ctxs) === JSON.stringify(ctxs))
      deepEqual(told('assetCtxs'), { dex: '', ctxs })
      await until(
        'all are told',
        () => JSON.stringify(told('allDexsAssetCtxs')) === JSON.stringify({ ctxs: [['', ctxs]] }),
      )
      await until('prices are told', () => pricesOf(told('fastAssetCtxs')).BTC.markPx === price)
      deepEqual(pricesOf(told('fastAssetCtxs')).BTC, { markPx: price, midPx: price })
      world.tick({ 0: 61_000 })
    }
  })

  it('are empty in dexs that there are not', async () => {
    await client.subscribe({ type: 'assetCtxs', dex: 'other' })
    deepEqual((await client.next()).data, { dex: 'other', ctxs: [] })
  })
})

describe('allDexsClearinghouseState and webData3', () => {
  it('are those of /info in another shape', async () => {
    await client.subscribe({ type: 'allDexsClearinghouseState', user: USER })
    const state = await info('clearinghouseState')
    deepEqual((await client.next()).data, { user: USER, clearinghouseStates: [['', state]] })
    await client.subscribe({ type: 'webData3', user: USER })
    const { userState, perpDexStates } = (await client.next()).data as Record<string, Record<string, unknown>>
    const page = await info('webData2')
    equal(page.clearinghouseState.withdrawable, state.withdrawable)
    for (const field of ['user', 'agentAddress', 'agentValidUntil', 'isVault', 'cumLedger']) {
      equal(userState![field], page[field], field)
    }
    deepEqual(perpDexStates, [{ totalVaultEquity: '0.0', perpsAtOpenInterestCap: [], leadingVaults: [] }])
  })
})

describe('userHistoricalOrders', () => {
  interface History {
    readonly user: string
    readonly isSnapshot?: boolean
    readonly orderHistory: readonly { readonly order: { readonly oid: number }; readonly status: string }[]
  }
  const told = (of = client) => of.dataOf<History>('userHistoricalOrders')

  it('begins with what /info answers, and tells each change', async () => {
    await placeOrder(store(), 7)
    await client.subscribe({ type: 'userHistoricalOrders', user: ALICE })
    await until('the snapshot is told', () => told().length === 1)
    deepEqual(told()[0], { isSnapshot: true, user: USER, orderHistory: await info('historicalOrders') })
    await move(7, { status: 'canceled', updatedAtMs: 9_000 })
    await until('the change is told', () => told().length === 2)
    deepEqual(told()[1], { user: USER, orderHistory: await info('historicalOrders') })
  })

  it('misses nothing that happens while it begins', async () => {
    for (let id = 10; id < 30; id += 1) {
      await placeOrder(store(), id)
      const one = await world.connect()
      const begun = one.subscribe({ type: 'userHistoricalOrders', user: USER })
      await move(id, { status: 'canceled' })
      await begun
      const isTold = ({ order, status }: History['orderHistory'][number]) => order.oid === id && status === 'canceled'
      await until('the change is told', () => told(one).some(({ orderHistory }) => orderHistory.some(isTold)))
      equal(told(one)[0]!.isSnapshot, true)
      one.socket.close()
    }
  })
})
