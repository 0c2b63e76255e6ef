import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { ALICE } from '../testing/facadeWorld.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'

let world: FacadeStreamWorld
const start = async (options: Parameters<typeof startFacadeStream>[0] = {}): Promise<FacadeClient> => {
  world = await startFacadeStream(options)
  return world.connect()
}
afterEach(() => world.close())

interface Answer {
  readonly id: number
  readonly response: { readonly type: string; readonly payload: unknown }
}

async function post(client: FacadeClient, id: number, request: object): Promise<Answer['response']> {
  client.say({ method: 'post', id, request })
  await until('it is answered', () => client.dataOf<Answer>('post').some((answer) => answer.id === id))
  return client.dataOf<Answer>('post').find((answer) => answer.id === id)!.response
}

async function pinged(client: FacadeClient): Promise<void> {
  client.say({ method: 'ping' })
  await until('it is answered', () => client.dataOf('pong').length > 0)
}

describe('a post', () => {
  it('asks what /info is asked', async () => {
    const client = await start()
    const { type, payload } = await post(client, 7, { type: 'info', payload: { type: 'perpDexs' } })
    equal(type, 'info')
    deepEqual(payload, { type: 'perpDexs', data: [null] })
    const mids = await post(client, 8, { type: 'info', payload: { type: 'allMids' } })
    equal((mids.payload as { data: Record<string, string> }).data.BTC, '60000.00')
    const unknown = await post(client, 9, { type: 'info', payload: { type: 'l2Book', coin: 'NOPE' } })
    deepEqual(unknown.payload, { type: 'l2Book', data: null })
  })

  it('is refused under its id when it can not be read', async () => {
    const client = await start()
    const refused = { type: 'error', payload: 'Failed to deserialize the JSON body into the target type' }
    const bad = [{ type: 'info', payload: { type: 'nope' } }, { type: 'info' }, { type: 'dance' }, {}]
    for (const [at, request] of bad.entries()) deepEqual(await post(client, at, request), refused)
  })

  it('acts, with the keys of its envelope in their order', async () => {
    const client = await start()
    const envelope = { signature: { r: '0x1', s: '0x2', v: 27 }, nonce: 5, action: { type: 'order', orders: [], a: 1 } }
    deepEqual(await post(client, 1, { type: 'action', payload: envelope }), {
      type: 'action',
      payload: { status: 'ok', response: { type: 'default' } },
    })
    equal(JSON.stringify(world.envelopes[0]), JSON.stringify(envelope))
    world.exchange = async () => ({ status: 422, body: 'action must be an object.' })
    deepEqual(await post(client, 2, { type: 'action', payload: {} }), {
      type: 'error',
      payload: 'action must be an object.',
    })
  })

  it('that fails is no action that was done', async () => {
    const client = await start()
    world.exchange = () => Promise.reject(new Error('secret'))
    const { type, payload } = await post(client, 1, { type: 'action', payload: {} })
    equal(type, 'action')
    equal((payload as { status: string }).status, 'err')
    match((payload as { response: string }).response, /^The service failed at this request/)
    equal(world.errors.length, 1)
  })

  it('waits for nobody, and nobody for it; so many at once', async () => {
    const client = await start({ bounds: { maxPosts: 2 } })
    let finish = (): void => undefined
    const held = new Promise<void>((resolve) => (finish = resolve))
    world.exchange = async () => {
      await held
      return { status: 200, body: { status: 'ok' } }
    }
    client.say({ method: 'post', id: 1, request: { type: 'action', payload: {} } })
    client.say({ method: 'post', id: 2, request: { type: 'action', payload: {} } })
    const third = await post(client, 3, { type: 'info', payload: { type: 'perpDexs' } })
    deepEqual(third, { type: 'error', payload: 'Too many pending post requests id=3' })
    await pinged(client)
    client.say({ method: 'subscribe', subscription: { type: 'notification', user: ALICE } })
    await until('it is subscribed', () => client.dataOf('subscriptionResponse').length === 1)
    finish()
    await until('both are answered', () => client.dataOf('post').length === 3)
    equal((await post(client, 4, { type: 'info', payload: { type: 'perpDexs' } })).type, 'info')
  })

  it('is charged to the IP, in the words that clients know', async () => {
    const client = await start({ ipLimit: 2 })
    equal((await post(client, 1, { type: 'info', payload: { type: 'perpDexs' } })).type, 'info')
    const info = await post(client, 2, { type: 'info', payload: { type: 'perpDexs' } })
    equal(info.type, 'error')
    match(info.payload as string, /^Too many cumulative requests sent/)
    const { type, payload } = await post(client, 3, { type: 'action', payload: {} })
    equal(type, 'action')
    match((payload as { response: string }).response, /^Too many cumulative requests sent/)
    deepEqual(world.envelopes, [])
    await pinged(client)
  })
})
