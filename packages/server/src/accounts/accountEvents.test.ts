import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Account, ChainSlug } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { openRegistry, type Registry } from '../agents/registry.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { until } from '@bezel/testkit/until.ts'
import { type AccountLog, createAccountLog } from '../journal/accountLog.ts'
import { openChainAccounts, type ChainAccountsOptions } from './openChainAccounts.ts'
import { traderOf } from './testing/accountNode.ts'
import { createAccountWorld, REFRESH_MS, type AccountWorld } from './testing/accountWorld.ts'

const ALICE = traderOf(0xa1)
const BOB = traderOf(0xb2)
const AGENT = traderOf(0xabc)

function logOver({ store }: TestStore, chain: ChainSlug = 'base'): AccountLog {
  return createAccountLog({
    chain,
    store,
    positionsText: () => assert.fail('no position changed'),
    now: Date.now,
    alsoKeep: async () => {},
    onError: (error) => assert.fail(String(error)),
  })
}

async function accountsIn(log: AccountLog, trader = ALICE): Promise<Account[]> {
  const events = await log.read(trader, { after: 0, limit: 100 })
  assert.deepEqual(
    events.map(({ seq, channel }) => `${seq} ${channel}`),
    events.map((_, at) => `${at + 1} account`),
  )
  return events.map(({ data }) => JSON.parse(data) as Account)
}

describe('the events of an account', () => {
  let opened: TestStore
  let log: AccountLog
  let world: AccountWorld

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    log = logOver(opened)
    world = createAccountWorld(log)
    world.accounts.watch(ALICE)
    await round()
  })
  afterEach(() => opened.remove())

  async function round(): Promise<void> {
    world.nowMs += REFRESH_MS
    await world.accounts.round()
  }

  async function restart(): Promise<void> {
    await opened.reopen()
    log = logOver(opened)
    const { node, nowMs } = world
    world = createAccountWorld(log)
    Object.assign(world, { nowMs: nowMs + 3_600_000 })
    const { balance, allowance, delegate, referrer } = node
    Object.assign(world.node, { balance, allowance, delegate, referrer })
  }

  it('begin with the first difference, because there is nothing to tell of the first look', async () => {
    assert.deepEqual(await accountsIn(log), [])
    await round()
    await world.accounts.accountText(ALICE)
    assert.deepEqual(await accountsIn(log), [])
  })

  it('tell every difference once, in the bytes that are shown', async () => {
    const changes: (() => void)[] = [
      () => (world.node.balance = 6n),
      () => (world.node.allowance = 0n),
      () => (world.node.referrer = 0xf00n),
      () => (world.node.delegate = AGENT),
    ]
    const record = { chain: 'base', agent: AGENT, trader: ALICE, name: '', revoked: false } as AgentRecord
    const scope = { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null } as AgentRecord['scope']
    world.records.push({ ...record, scope, mode: 'self', createdAtMs: 1 })
    await round()
    const texts: string[] = []
    for (const change of changes) {
      change()
      await round()
      await round()
      texts.push(await world.accounts.accountText(ALICE))
    }
    const events = await log.read(ALICE, { after: 0, limit: 100 })
    assert.deepEqual(
      events.map(({ data }) => data),
      texts,
    )
    const last = (await accountsIn(log)).at(-1)!
    assert.equal(last.agents[0]!.status, 'active')
    assert.deepEqual(last.balances[1], { collateral: 'USDC', balance: '0.000006', allowance: '0' })
  })

  it('tell nothing after a restart when nothing happened meanwhile, whoever looks first', async () => {
    await restart()
    await Promise.all([world.accounts.accountText(ALICE), world.accounts.accountText(ALICE)])
    world.accounts.watch(ALICE)
    await round()
    assert.deepEqual(await accountsIn(log), [])
    assert.equal(world.told.length, 1, 'the log was asked once')
  })

  it('tell after a restart what happened meanwhile, once', async () => {
    world.node.balance = 8n
    await restart()
    world.accounts.watch(ALICE)
    await round()
    await round()
    assert.deepEqual(
      (await accountsIn(log)).map(({ balances }) => balances[1]!.balance),
      ['0.000008'],
    )
  })

  it('tell what was there and gone as two differences when both were seen', async () => {
    for (const balance of [6n, 5n]) {
      world.node.balance = balance
      world.accounts.forget(ALICE)
      await world.accounts.idle()
    }
    assert.deepEqual(
      (await accountsIn(log)).map(({ balances }) => balances[1]!.balance),
      ['0.000006', '0.000005'],
    )
  })

  it('do not run backwards when the older answer of another node comes late', async () => {
    const [first, second] = [createAccountWorld(log, true), createAccountWorld(log, true)]
    for (const { accounts } of [first, second]) accounts.watch(ALICE)
    const read = async (of: AccountWorld, head: number, balance: bigint): Promise<void> => {
      Object.assign(of.node, { head, balance })
      of.accounts.forget(ALICE)
      await of.accounts.idle()
    }
    await read(first, 10, 5n)
    const late = Promise.withResolvers<void>()
    second.node.gate = late.promise
    const reading = read(second, 11, 6n)
    await read(first, 12, 7n)
    late.resolve()
    await reading
    const told = async (): Promise<string[]> =>
      (await accountsIn(log)).map(({ balances }) => balances[1]!.balance.replace('0.00000', ''))
    assert.deepEqual(await told(), ['7'])
    // It was not recorded as told, so it is told once it is the state of a later block.
    await read(second, 13, 6n)
    assert.deepEqual(await told(), ['7', '6'])
    await read(first, 14, 7n)
    assert.deepEqual(await told(), ['7', '6'], 'the first node does not know of the second event yet')
    first.accounts.noteTold(ALICE)
    await read(first, 15, 7n)
    assert.deepEqual(await told(), ['7', '6', '7'])
    assert.deepEqual([first.failures, second.failures], [[], []])
  })

  it('are no matter of agents alone: whoever registers many of them could fill the store', async () => {
    world.records.push({ agent: AGENT, trader: ALICE, scope: {}, createdAtMs: 1 } as AgentRecord)
    await round()
    assert.deepEqual(await accountsIn(log), [])
    assert.equal((JSON.parse(await world.accounts.accountText(ALICE)) as Account).agents.length, 1)
  })

  it('are of those who are known here: a block makes no log for a stranger', async () => {
    world.accounts.forget(BOB)
    await round()
    assert.equal(await log.lastSeq(BOB), 0)
    const logs = await opened.store.read.all<{ trader: string }>('select trader from account_logs')
    assert.deepEqual(
      logs.map(({ trader }) => trader),
      [ALICE],
    )
  })
})

describe('the accounts of a chain', () => {
  let opened: TestStore
  let world: AccountWorld
  let registry: Registry
  let log: AccountLog
  let options: ChainAccountsOptions
  const errors: unknown[] = []

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    registry = await openRegistry(opened.store)
    log = logOver(opened)
    world = createAccountWorld()
    const agents = { ...world.agents, registry }
    options = {
      agents,
      collaterals: () => chainMarkets().collaterals,
      positions: { ofTrader: () => [], active: () => [], packedPairs: () => [] },
      hasOrders: async () => false,
      terms: world.terms,
      accountLog: log,
      refreshMs: 5,
      now: Date.now,
      log: { error: (line: unknown) => void errors.push(line) } as ChainAccountsOptions['log'],
    }
  })
  afterEach(() => opened.remove())

  it('are kept fresh in the background, also after the node was away, until that is closed', async () => {
    const accounts = openChainAccounts('base', options)
    accounts.watch(ALICE)
    await until('a few rounds', () => accounts.stats().rounds > 3)
    world.node.state = 'down'
    const before = world.node.batches.length
    await until('a few rounds without a node', () => world.node.batches.length > before + 3)
    world.node.state = 'up'
    world.node.balance = 9n
    await until('an event', async () => (await log.lastSeq(ALICE)) === 1)
    await accounts.close()
    const { rounds } = accounts.stats()
    // A second instance serves as the clock: once it has made some rounds, the closed one would have made some too.
    const other = openChainAccounts('base', options)
    other.watch(ALICE)
    await until('a few rounds of another', () => other.stats().rounds > 3)
    await other.close()
    assert.equal(accounts.stats().rounds, rounds)
    assert.deepEqual(errors, [])
  })
})
