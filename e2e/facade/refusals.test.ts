import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ACTIONS } from '../../packages/server/src/facade/exchange/actions.ts'
import { changeText, changeValue } from '../fuzz/bodies.ts'
import { createRandom } from '../fuzz/random.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { connectRaw, envelopeOf, freshNonce, postRaw } from './rawExchange.ts'

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const MUTATIONS = 400
const GTC = { limit: { tif: 'Gtc' } }
const BTC = { a: 0, b: true, p: '50000', s: '0.05', r: false, t: GTC }

/** Requests that no careful client sends. */
describe('the exchange of the facade', () => {
  let world: FacadeWorld
  let wallet: PrivateKeyAccount

  before(async () => {
    world = await startFacadeWorld()
    wallet = await connectRaw(world, 'trader-1', 'agent-1')
  })
  after(() => world?.stop())

  const order = (changes: object = {}) => ({ type: 'order', orders: [{ ...BTC, ...changes }], grouping: 'na' })

  async function answerOf(...of: Parameters<typeof envelopeOf>) {
    const { status, type, text } = await postRaw(world, await envelopeOf(...of))
    assert.deepEqual([status, type], [200, 'application/json'], text)
    return JSON.parse(text)
  }

  async function errorOf(changes: object): Promise<string> {
    const { status, response } = await answerOf(wallet, order(changes))
    assert.equal(status, 'ok')
    return response.data.statuses[0].error
  }

  it('refuses orders in the words that clients know', async () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ a: 9_999 }, /^There is no asset 9999\. asset=9999$/],
      [{ a: 4 }, /is delisted: it can not be traded\. asset=4$/],
      [{ p: '50000.123' }, /^Price must be divisible by tick size\./],
      [{ s: '0.0500001' }, /^Order has invalid size/],
      [{ s: '0' }, /^Order has zero size\./],
      [{ s: '0.00001' }, /^Order must have minimum value of \$10/],
      [{ p: '1000' }, /^Order price cannot be more than 80% away from the reference price/],
      [{ p: '500000' }, /^Order price cannot be more than 80% away from the reference price/],
      [{ p: '0' }, /^Order has invalid price\./],
      [{ p: '59000', t: { limit: { tif: 'Ioc' } } }, /^Order could not immediately match/],
      [{ p: '61000', t: { limit: { tif: 'Alo' } } }, /^Post only order would have immediately matched, bbo was /],
      [{ r: true }, /^Reduce only order would increase position\./],
      [{ s: '9000' }, /^Insufficient margin to place order\./],
      [{ t: { trigger: { isMarket: true, triggerPx: '55000', tpsl: 'sl' } } }, /^Invalid TP\/SL price\./],
    ]
    for (const [changes, text] of cases) assert.match(await errorOf(changes), text, JSON.stringify(changes))
    const { response } = await answerOf(wallet, { type: 'cancel', cancels: [{ a: 0, o: 999_999 }] })
    assert.deepEqual(response.data.statuses, [{ error: 'Order was never placed, already canceled, or filled.' }])
  })

  it('takes an envelope once, in its time, and only from an agent', async () => {
    const envelope = await envelopeOf(wallet, { type: 'scheduleCancel' })
    const first = await postRaw(world, envelope)
    assert.equal(JSON.parse(first.text).status, 'ok')
    const replayed = JSON.parse((await postRaw(world, envelope)).text)
    assert.equal(
      replayed.response,
      `Invalid nonce: ${envelope.nonce} was already used by this signer. Use a new one for each action.`,
    )

    const action = { type: 'scheduleCancel' }
    const err = async (...of: Parameters<typeof envelopeOf>): Promise<string> => {
      const { status, response } = await answerOf(...of)
      assert.equal(status, 'err')
      return response
    }
    assert.match(await err(wallet, action, { nonce: Date.now() - 61_000 }), /^Invalid nonce: \d+ is more than 60 s/)
    assert.match(
      await err(wallet, action, { expiresAfter: Date.now() - 1 }),
      /^Action expired: expiresAfter \d+ is before/,
    )
    const stranger = world.chain.account('agent-2')
    const unknown = await err(stranger, action)
    assert.match(unknown, /^User or API Wallet 0x[0-9a-f]{40} does not exist\./)
    assert.ok(unknown.includes(stranger.address.toLowerCase()))
    const { text } = await postRaw(world, { ...(await envelopeOf(wallet, action)), nonce: freshNonce() })
    assert.match(JSON.parse(text).response, /^User or API Wallet 0x[0-9a-f]{40} does not exist\./)
  })

  it('refuses custody by its name alone, and passes over what clients send unasked', async () => {
    for (const [type, kind] of Object.entries(ACTIONS)) {
      if (kind === 'trade' || kind === 'user-signed') continue
      const signature = { r: '0x1', s: '0x1', v: 27 }
      const { status, text } = await postRaw(world, { action: { type }, nonce: 1, signature })
      const answer = JSON.parse(text)
      assert.deepEqual([status, answer.status], [200, kind === 'noop' ? 'ok' : 'err'], type)
      if (kind === 'custody') assert.match(answer.response, /never moves funds or accounts/, type)
    }
  })

  it('answers what can not be read with 422 and plain text', async () => {
    for (const body of ['', '{', '[]', '{}', 'null', '{"action":{}}', '{"action":{"type":"order"},"nonce":1}']) {
      const { status, type, text } = await postRaw(world, body)
      assert.deepEqual([status, type.split(';')[0]], [422, 'text/plain'], `${body}: ${text}`)
    }
    const lost = await fetch(`${world.base}/nothing`, { method: 'POST' })
    assert.deepEqual([lost.status, lost.headers.get('content-type')?.split(';')[0]], [404, 'text/plain'])
  })

  it('never fails, whatever is done to an envelope', async () => {
    console.log(`FUZZ_SEED=${SEED}`)
    const actions: readonly Record<string, unknown>[] = [
      order(),
      { type: 'cancel', cancels: [{ a: 0, o: 1 }] },
      { type: 'cancelByCloid', cancels: [{ asset: 0, cloid: `0x${'1'.repeat(32)}` }] },
      { type: 'modify', oid: 1, order: BTC },
      { type: 'batchModify', modifies: [{ oid: `0x${'1'.repeat(32)}`, order: BTC }] },
      { type: 'updateLeverage', asset: 0, isCross: true, leverage: 10 },
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 1_000_000 },
      { type: 'scheduleCancel', time: 1 },
      {
        type: 'approveAgent',
        hyperliquidChain: 'Mainnet',
        signatureChainId: '0x1',
        agentAddress: wallet.address,
        nonce: 1,
      },
    ]
    const statuses = new Map<number, number>()
    for (let i = 0; i < MUTATIONS; i += 1) {
      const random = createRandom(SEED, i)
      const action = random.pick(actions)
      // An action that is changed before signing gets past the signature check; an envelope changed afterwards does
      // not.
      const changed = random.chance(0.6) ? (changeValue(action, random).value as Record<string, unknown>) : action
      const isObject = typeof changed === 'object' && changed !== null && !Array.isArray(changed)
      const envelope = isObject ? await envelopeOf(wallet, changed).catch(() => undefined) : undefined
      const whole = envelope ?? { action: changed, nonce: freshNonce(), signature: { r: '0x1', s: '0x1', v: 27 } }
      const body = random.chance(0.6)
        ? JSON.stringify(whole)
        : random.chance(0.5)
          ? JSON.stringify(changeValue(whole, random).value)
          : Buffer.from(changeText(whole, random).bytes).toString('latin1')
      const { status, type, text } = await postRaw(world, body)
      const expected = status === 200 ? 'application/json' : 'text/plain; charset=utf-8'
      assert.ok([200, 413, 422].includes(status), `seed ${SEED}, ${i}: ${status} ${text} for ${body.slice(0, 500)}`)
      assert.equal(type, expected, `seed ${SEED}, ${i}`)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    assert.ok(statuses.get(200)! > MUTATIONS / 10 && statuses.get(422)! > MUTATIONS / 10, JSON.stringify([...statuses]))
    assert.equal((await fetch(`${world.url()}/ready`)).status, 200)
  })
})
