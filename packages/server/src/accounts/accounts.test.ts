import { StoreUnavailableError, NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { AccountSchema, type Account } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { RpcOutcome } from '../chain/rpcClient.ts'
import { NOBODY, traderOf, word } from './testing/accountNode.ts'
import { createAccountWorld, REFRESH_MS, type AccountWorld } from './testing/accountWorld.ts'

const ALICE = traderOf(0xa1)
const AGENT = traderOf(0xabc)

function agentRecord(of: Partial<AgentRecord> = {}): AgentRecord {
  return {
    chain: 'base',
    agent: AGENT,
    trader: ALICE,
    name: 'bot',
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
    mode: 'self',
    agentSigned: true,
    revoked: false,
    standing: 'used',
    createdAtMs: 1,
    signedAtMs: 1,
    ...of,
  }
}

describe('an account', () => {
  let world: AccountWorld

  beforeEach(() => {
    world = createAccountWorld()
  })

  const text = (): Promise<string> => world.accounts.accountText(ALICE)
  const account = async (): Promise<Account> => JSON.parse(await text()) as Account

  it('is read in one round trip, and not again before the setting', async () => {
    world.node.delegate = AGENT
    assert.equal(...(await Promise.all([text(), text()])))
    const shown = await account()
    assert.deepEqual([...Value.Errors(AccountSchema, shown)], [])
    assert.deepEqual(shown.balances[1], { collateral: 'USDC', balance: '0.000005', allowance: '0.000007' })
    assert.deepEqual([shown.address, shown.referrer, shown.feeTierMultiplier], [ALICE, null, '1'])
    assert.equal(world.agents.delegates.known(ALICE), AGENT)

    world.nowMs += REFRESH_MS - 1
    await text()
    assert.equal(world.node.batches.length, 1)
    world.nowMs += 1
    await text()
    assert.equal(world.node.batches.length, 2)
    world.accounts.forget(ALICE)
    await text()
    assert.equal(world.node.batches.length, 3)
  })

  it('is known for a minute after a read, as long as its trader stays in the rounds', async () => {
    const { balances } = await world.accounts.knownHoldings(ALICE)
    assert.equal(balances[1]!.balance, '0.000005')
    world.nowMs += 59_999
    assert.equal(await world.accounts.knownHoldings(ALICE), await world.accounts.knownHoldings(ALICE))
    assert.equal(world.node.batches.length, 1)
    world.nowMs += 1
    await world.accounts.knownHoldings(ALICE)
    assert.equal(world.node.batches.length, 2)
  })

  it('tells the terms of its trader in a pair with one read an hour, and none while the node is away', async () => {
    const pair = { trader: ALICE, pairIndex: 3 }
    await world.accounts.learnTerms(pair)
    await world.accounts.learnTerms(pair)
    assert.equal(world.node.batches.length, 1)
    world.nowMs += 3_600_000
    world.node.state = 'down'
    await world.accounts.learnTerms(pair)
    assert.equal(world.node.batches.length, 2)
  })

  it('has the multiplier of the fee at any precision, and none where the Diamond has no tiers', async () => {
    const multiplierOf = async (fee: (amount: bigint) => RpcOutcome) => {
      world.node.fee = fee
      world.accounts.forget(ALICE)
      return (await account()).feeTierMultiplier
    }
    assert.equal(await multiplierOf((amount) => word((amount * 975n) / 1_000n)), '0.975')
    assert.equal(await multiplierOf((amount) => word((amount * 975n * 980n) / 1_000_000n)), '0.9555')
    const reverts: RpcOutcome = { ok: false, code: 3, message: 'execution reverted', data: '0xa932492f' }
    assert.equal(await multiplierOf(() => reverts), null)
    const fails: RpcOutcome = { ok: false, code: -32_005, message: 'too many requests', data: undefined }
    await assert.rejects(
      multiplierOf(() => fails),
      /too many requests/,
    )
  })

  it('is not made of what no contract would say', async () => {
    for (const result of ['0x', '0x12', null, 5, `0x${'zz'.repeat(32)}`]) {
      world.node.fee = () => ({ ok: true, result })
      await assert.rejects(text(), NodeUnavailableError)
    }
  })

  it('is asked for again after a failure', async () => {
    world.node.state = 'down'
    await assert.rejects(text(), NodeUnavailableError)
    world.node.state = 'refusing'
    await assert.rejects(text(), NodeUnavailableError)
    world.node.state = 'up'
    world.node.referrer = BigInt(AGENT)
    assert.equal((await account()).referrer, AGENT)
  })

  it('is not ready before the collaterals are known', async () => {
    world.collaterals = undefined
    await assert.rejects(text(), { code: 'NOT_READY' })
    world.collaterals = []
    assert.deepEqual((await account()).balances, [])
  })

  it('has its agents as the chain and the clock make them', async () => {
    const { scope } = agentRecord()
    world.records.push(agentRecord({ scope: { ...scope, expiresAt: world.nowMs + 2 * REFRESH_MS } }))
    const status = async () => (await account()).agents[0]!.status
    assert.equal(await status(), 'pending_delegation')
    world.agents.delegates.learn(ALICE, AGENT)
    assert.equal(await status(), 'active', 'as another read has found')
    world.node.delegate = AGENT
    world.nowMs += 2 * REFRESH_MS
    assert.equal(await status(), 'expired')
  })

  it('has the same text when it is the same account', async () => {
    const { scope } = agentRecord()
    world.records.push(agentRecord())
    const before = await text()
    const { permissions, ...others } = scope
    world.records[0] = agentRecord({ scope: { permissions, ...others } })
    assert.equal(await text(), before, 'also when a scope was written in another order')
    assert.equal(world.told.length, 1)
  })

  it('is shown although it can not be told now, and told later', async () => {
    await text()
    world.node.balance = 6n
    world.nowMs += REFRESH_MS
    world.beforeLog = () => Promise.reject(new StoreUnavailableError('full'))
    assert.equal((await account()).balances[1]!.balance, '0.000006')
    assert.ok(world.failures[0] instanceof StoreUnavailableError)
    world.beforeLog = async () => {}
    await text()
    assert.deepEqual(
      world.told.map(({ text: told }) => (JSON.parse(told) as Account).balances[1]!.balance),
      ['0.000005', '0.000006'],
    )
  })

  it('is told before it is shown', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    world.beforeLog = () => promise
    let isShown = false
    const shown = text().then(() => (isShown = true))
    await new Promise((later) => setImmediate(later))
    assert.equal(isShown, false)
    resolve()
    await shown
    assert.equal(world.told.length, 1)
  })

  it('is never told, nor shown, as it was before what was told', async () => {
    const slow = Promise.withResolvers<void>()
    world.node.gate = slow.promise
    const early = text()
    world.accounts.forget(ALICE)
    world.node.gate = Promise.resolve()
    world.node.balance = 9n
    const late = await text()
    slow.resolve()
    assert.equal(await early, late)
    assert.deepEqual(
      world.told.map((told) => told.text),
      [late],
    )
  })

  it('goes by the newest look at its delegate', async () => {
    world.records.push(agentRecord())
    world.node.delegate = AGENT
    await text()
    world.node.delegate = NOBODY
    world.nowMs += REFRESH_MS
    assert.equal((await account()).agents[0]!.status, 'pending_delegation')
    assert.equal(world.told.length, 2)
  })
})
