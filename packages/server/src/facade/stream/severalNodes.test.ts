import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { ALICE } from '../testing/facadeWorld.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'

/** Channels that begin with what is known of a user. */
const OF_USER = ['webData2', 'userFills', 'openOrders', 'clearinghouseState', 'userHistoricalOrders'] as const
const LAGGING = /does not know yet what another one committed/

describe("the facade's socket on one of several nodes", () => {
  let world: FacadeStreamWorld
  let client: FacadeClient
  /** Age of what the node knows, and whether it is read again. */
  let ageMs: number
  let isReloading: boolean
  /** Number of times that the commits of other nodes were waited for. */
  let settles: number
  let settling: Promise<boolean>

  beforeEach(async () => {
    ageMs = 0
    isReloading = false
    settles = 0
    settling = Promise.resolve(true)
    world = await startFacadeStream({
      commits: {
        ageMs: () => ageMs,
        isReloading: () => isReloading,
        settled: () => ((settles += 1), settling),
      },
    })
    client = await world.connect()
  })
  afterEach(() => world.close())

  const refusals = (): string[] => client.dataOf<string>('error')
  const dataCount = (channel: string): number => client.dataOf(channel).length

  async function post(id: number, payload: object): Promise<{ readonly type: string; readonly payload: unknown }> {
    type Answer = { readonly id: number; readonly response: { readonly type: string; readonly payload: unknown } }
    client.say({ method: 'post', id, request: { type: 'info', payload } })
    const find = (): Answer | undefined => client.dataOf<Answer>('post').find((answer) => answer.id === id)
    await until('it is answered', () => find() !== undefined)
    return find()!.response
  }

  it('waits for what the others committed before it tells anything of a user', async () => {
    const settled = Promise.withResolvers<boolean>()
    settling = settled.promise
    client.say({ method: 'subscribe', subscription: { type: 'userFills', user: ALICE } })
    await until('it waits', () => settles === 1)
    deepEqual(await client.ask({ method: 'ping' }), { channel: 'pong' })
    equal(dataCount('userFills'), 0)
    settled.resolve(true)
    await until('it is told', () => dataCount('userFills') === 1)
    equal((await post(1, { type: 'openOrders', user: ALICE })).type, 'info')
    equal(settles, 2)
  })

  it('waits for nothing that is no matter of a user', async () => {
    await client.subscribe({ type: 'allMids' })
    equal((await post(1, { type: 'perpDexs' })).type, 'info')
    equal(settles, 0)
  })

  for (const type of OF_USER) {
    it(`does not begin ${type} with what is more than 2 s old, or is being read again`, async () => {
      settling = Promise.resolve(false)
      ageMs = 2_001
      client.say({ method: 'subscribe', subscription: { type, user: ALICE } })
      await until('it is refused', () => refusals().length === 1)
      match(refusals()[0]!, LAGGING)
      ageMs = 0
      isReloading = true
      client.say({ method: 'subscribe', subscription: { type, user: ALICE } })
      await until('it is refused again', () => refusals().length === 2)
      equal(dataCount(type), 0)
      isReloading = false
      ageMs = 2_000
      await client.subscribe({ type, user: ALICE })
      await until('it is told', () => dataCount(type) === 1)
    })
  }

  it('answers no post about a user by what is too old', async () => {
    ageMs = 2_001
    const { type, payload } = await post(1, { type: 'clearinghouseState', user: ALICE })
    equal(type, 'error')
    match(String(payload), LAGGING)
    equal((await post(2, { type: 'perpDexs' })).type, 'info')
  })
})
