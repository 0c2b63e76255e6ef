import { privateKeyToAddress } from 'viem/accounts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import { MAX_AGENTS } from '../../agents/claims.ts'
import { notReady } from '../../ground/unavailable.ts'
import { findAgent } from '../../store/agentStore.ts'
import {
  BEARER,
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  statusesOf,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { refuseInserts } from '../../store/testing/refuseInserts.ts'

const OWN_KEY = `0x${'57'.repeat(32)}` as const
const OWNER: Address = parseAddress(privateKeyToAddress(OWN_KEY))!
const STRANGER: Address = parseAddress(`0x${'5a'.repeat(20)}`)!
const leverage = { type: 'updateLeverage', asset: 0, isCross: false, leverage: 20 }
const OK = { status: 'ok', response: { type: 'default' } }

describe('a trader who signs for itself', () => {
  let world: ExchangeWorld
  let isDelegated: boolean

  beforeEach(async () => {
    world = await openExchangeWorld()
    isDelegated = true
    // A signature recovers to one address for each network, of which only one is somebody's.
    world.base.node.isDelegator = (trader) => trader === STRANGER || (trader === OWNER && isDelegated)
  })
  afterEach(() => world.remove())

  const send = (action: Parameters<ExchangeWorld['send']>[0], of = {}) => world.send(action, { key: OWN_KEY, ...of })
  const err = async (of = {}): Promise<string> => {
    const answer = await send(leverage, of)
    assert.equal(answer.status, 'err')
    return answer.response as string
  }
  const registered = () => world.parts.registry.agent('arbitrum', OWNER) ?? undefined

  const overload = {
    admit() {
      throw notReady('overloaded')
    },
  }

  it('is not shed with its first action where the relayer is known as its delegate', async () => {
    await world.parts.orders.delegates.refresh([OWNER])
    world.parts = { ...world.parts, overload }
    const [status] = statusesOf(await send(orderAction(orderItem({ p: '50000', t: gtc }))))
    assert.ok('resting' in (status as object), JSON.stringify(status))
    assert.equal(registered()?.trader, OWNER)
  })

  it('is shed as a stranger with its first action while nothing is known of it, and never after it', async () => {
    const { parts } = world
    world.parts = { ...parts, overload }
    await assert.rejects(send(leverage), { code: 'NOT_READY' })
    world.parts = parts
    assert.deepEqual(await send(leverage), OK)
    world.parts = { ...parts, overload }
    assert.deepEqual(await send(leverage), OK)
  })

  it('is registered by its first action, in its transaction, and trades for itself', async () => {
    const nonce = world.base.market.nowMs - 7
    const [status] = statusesOf(await send(orderAction(orderItem({ p: '50000', t: gtc })), { nonce }))
    assert.ok('resting' in (status as object), JSON.stringify(status))
    const { trader: taken, origin } = world.relayer.taken.at(-1)!
    assert.deepEqual([taken, origin], [OWNER, { callerIp: BEARER.network }])
    const audited = await world.parts.store.read.get<object>('select kind, agent, caller_ip from audit_log')
    assert.deepEqual({ ...audited }, { kind: 'agent_added', agent: OWNER, caller_ip: BEARER.network })
    const { agent, trader, mode, agentSigned, signedAtMs, revoked } = registered()!
    assert.deepEqual(
      [agent, trader, mode, agentSigned, signedAtMs, revoked],
      [OWNER, OWNER, 'relayed', true, nonce, false],
    )
    assert.match(await err({ nonce: nonce - 1 }), /older than the registration/)
    await world.restart()
    assert.equal((await findAgent(world.parts.store.read, 'arbitrum', OWNER))?.signedAtMs, nonce)
    assert.match(await err({ nonce }), /already used/)
    assert.deepEqual(await send(leverage), OK)
  })

  it('leaves an agent of another trader known as used after its first order, without a look at the chain', async () => {
    await world.register({ agent: OWNER, trader: STRANGER, mode: 'relayed', standing: 'delegated', agentSigned: false })
    isDelegated = false
    const [status] = statusesOf(await send(orderAction(orderItem({ p: '50000', t: gtc }))))
    assert.ok('resting' in (status as object), JSON.stringify(status))
    assert.equal(registered()?.standing, 'used')
  })

  it('is registered also by an action that sends nothing', async () => {
    assert.deepEqual(await send(leverage), OK)
    assert.equal(registered()?.trader, OWNER)
  })

  it('is not registered when nothing was stored', async () => {
    await refuseInserts(world.parts.store, 'facade_nonces')
    await assert.rejects(send(orderAction(orderItem({ p: '50000', t: gtc }))))
    assert.equal(registered(), undefined)
  })

  it('is told what to do where the relayer is not its delegate, which is asked again each time', async () => {
    isDelegated = false
    assert.match(
      await err(),
      /does not exist\..* A trader who signs for itself first makes the relayer 0x7[eE]\w+ its delegate\.$/,
    )
    assert.equal(registered(), undefined)
    isDelegated = true
    assert.deepEqual(await send(leverage), OK)
  })

  it('needs one approveAgent for its own address on live mainnets, and is told so', async () => {
    world.parts = { ...world.parts, needsOwnApproval: true }
    const text = /does not exist\..* A trader who signs for itself first sends one approveAgent for its own address\.$/
    assert.match(await err(), text)
    assert.equal(registered(), undefined)
    await world.register({ agent: OWNER, trader: OWNER, mode: 'relayed' })
    assert.deepEqual(await send(leverage), OK)
  })

  it('stays revoked until its master wallet says otherwise', async () => {
    assert.deepEqual(await send(leverage), OK)
    await world.parts.registry.changeAgent('arbitrum', OWNER, (stored) => ({ ...stored!, revoked: true }))
    assert.match(await err(), /does not exist any more: it was revoked/)
    await world.restart()
    assert.match(await err(), /does not exist any more: it was revoked/)
  })

  it('trades for itself also where a stranger claimed its address as an agent', async () => {
    for (const mode of ['relayed', 'self'] as const) {
      const claim = { agent: OWNER, trader: STRANGER, agentSigned: false, standing: 'claimed', mode } as const
      await world.register({ ...claim, signedAtMs: world.base.market.nowMs + 60_000 })
      const [status] = statusesOf(await send(orderAction(orderItem({ p: '50000', t: gtc }))))
      assert.ok('resting' in (status as object), JSON.stringify(status))
      assert.equal(world.relayer.taken.at(-1)!.trader, OWNER)
      assert.deepEqual([registered()?.trader, registered()?.mode], [OWNER, 'relayed'])
      assert.deepEqual(await world.parts.registry.agentsOf('arbitrum', STRANGER), [])
      await world.restart()
      assert.equal((await world.parts.registry.findAgent('arbitrum', OWNER))?.trader, OWNER)
    }
  })

  it('trades for itself also where the claim comes while its first action is on its way', async () => {
    const { node } = world.base
    node.whileAsked = async () => {
      await world.register({ agent: OWNER, trader: STRANGER, agentSigned: false, standing: 'claimed', mode: 'relayed' })
      node.whileAsked = () => undefined
    }
    const [status] = statusesOf(await send(orderAction(orderItem({ p: '50000', t: gtc }))))
    assert.ok('resting' in (status as object), JSON.stringify(status))
    assert.deepEqual([world.relayer.taken.at(-1)!.trader, registered()?.trader], [OWNER, OWNER])
  })

  it('serves another trader where it is no delegator, or where it signed for that one', async () => {
    isDelegated = false
    await world.register({ agent: OWNER, trader: STRANGER, agentSigned: false, standing: 'claimed', mode: 'relayed' })
    assert.deepEqual(await send(leverage), OK)
    assert.equal(registered()?.trader, STRANGER)
    isDelegated = true
    await world.register({ agent: OWNER, trader: STRANGER, agentSigned: true, mode: 'relayed' })
    assert.deepEqual(await send(leverage), OK)
    assert.equal(registered()?.trader, STRANGER)
  })

  it('is told to approve itself on live mainnets, not taken for the agent of a stranger', async () => {
    world.parts = { ...world.parts, needsOwnApproval: true }
    await world.register({ agent: OWNER, trader: STRANGER, agentSigned: false, standing: 'claimed', mode: 'relayed' })
    assert.match(await err(), /A trader who signs for itself first sends one approveAgent for its own address\.$/)
  })

  it('may be revoked at once, whatever the clock of its client says', async () => {
    const { nowMs } = world.base.market
    assert.deepEqual(await send(leverage, { nonce: nowMs + 59_000 }), OK)
    assert.equal(registered()?.signedAtMs, nowMs)
  })

  it('counts among the agents of the trader, of which there are only so many', async () => {
    for (let i = 0; i < MAX_AGENTS; i += 1) {
      const agent = parseAddress(`0x${(i + 1).toString(16).padStart(40, '0')}`)!
      await world.register({ agent, trader: OWNER, mode: 'relayed' })
    }
    assert.match(await err(), /^This trader has 50 agents on this chain/)
    assert.equal(registered(), undefined)
  })

  it('is looked for at most sixty times a minute from one address', async () => {
    isDelegated = false
    for (let i = 0; i < 60; i += 1) assert.match(await err(), /does not exist/)
    assert.match(await err(), /^Too many cumulative requests sent/)
  })
})
