import { depthFinality } from '../../chain/finality.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Relayer, startRelayer } from './startRelayer.ts'
import { createRelayerKey } from './relayerKey.ts'
import { defaultRelayerSettings } from './relayerSettings.ts'
import { loadSigningEngine } from './signingEngine.ts'
import {
  attemptOf,
  CHAIN,
  FINAL_BLOCKS,
  openRelayWorld,
  testKey,
  TRADER,
  type RelayWorld,
} from './testing/relayWorld.ts'
import { until as waitUntil } from '@bezel/testkit/until.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

describe('a running relayer', () => {
  let world: RelayWorld
  const relayers: Relayer[] = []
  const told: string[] = []

  beforeEach(async () => {
    world = await openRelayWorld()
    told.length = 0
  })
  afterEach(async () => {
    await Promise.all(relayers.splice(0).map((relayer) => relayer.close()))
    await world.close()
  })

  async function start(key = testKey, of: { isStandby?: boolean; feesMs?: number } = {}): Promise<Relayer> {
    const tell = (_of: unknown, text: string): number => told.push(text)
    const { isStandby = false, feesMs = 20 } = of
    const relayer = await startRelayer({
      chain: CHAIN,
      client: world.node.client,
      store: world.opened.store,
      key,
      settings: { ...defaultRelayerSettings(CHAIN.slug), pollMs: 5, feesMs, maxFeesAgeMs: 500 },
      isStandby,
      // Questions wait for the steps of a slow machine too.
      seeMs: 120_000,
      now: Date.now,
      log: { info: tell, warn: tell, error: tell } as never,
      head: () => world.node.headBlock(),
      finality: depthFinality(FINAL_BLOCKS),
    })
    relayers.push(relayer)
    return relayer
  }

  async function until(isTrue: () => boolean): Promise<void> {
    for (const deadlineMs = Date.now() + 120_000; Date.now() < deadlineMs; await sleep(2)) if (isTrue()) return
    assert.fail('it did not come')
  }

  const away = (): void => {
    throw new NodeUnavailableError('away')
  }

  async function enqueue(running: Relayer): Promise<ReturnType<Relayer['enqueue']>> {
    const attempt = attemptOf({ expiresAtMs: Date.now() + 60_000 })
    return world.opened.store.transaction(TEST_SCOPE, (sql) =>
      running.enqueue(sql, { attempt, trader: TRADER, agent: TRADER, purpose: { kind: 'other' } }),
    )
  }

  it('starts without its node, and works when that is there', async () => {
    world.node.before = away
    const running = await start()
    await until(() => told.length > 0)
    assert.notEqual(running.health().problem, null)
    world.node.before = undefined
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    await running.broadcast(hash)
    assert.equal(world.node.mempool.get(0)?.hash, hash)
  })

  it('sends what is committed though nobody asks it to', async () => {
    const running = await start()
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    await until(() => world.node.mempool.get(0)?.hash === hash)
  })

  it('lets go of whoever waits when it is closed', async () => {
    const running = await start()
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    world.node.before = away
    const waiting = running.broadcast(hash)
    await running.close()
    await waiting
    await running.broadcast(hash)
  })

  it('learns at once what became of a transaction of another process that it is asked about', async () => {
    let calls = 0
    world.node.before = () => void (calls += 1)
    const standby = await start(testKey, { isStandby: true, feesMs: 3_600_000 })
    // The calls of its first two steps, after which it rests.
    await until(() => calls === 2)
    const running = await start()
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    await running.broadcast(hash)
    assert.equal(await standby.isOnItsWay(hash), true)
    world.node.mine()
    await waitUntil('it is mined', async () => !(await standby.isOnItsWay(hash)))
  })

  it('looks before it says that a transaction is on its way, when it has just begun to send', async () => {
    const running = await start()
    const next = await start(testKey, { isStandby: true })
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    await running.broadcast(hash)
    world.node.mine()
    await waitUntil('it is mined', async () => !(await running.isOnItsWay(hash)))
    await running.close()
    await next.lead(world.opened.store)
    assert.equal(await next.isOnItsWay(hash), false)
  })

  it('tells of transactions that another key left behind, and waits for none of them', async () => {
    const running = await start()
    await until(() => running.health().problem === null)
    const { hash } = await enqueue(running)
    await running.close()
    const other = await start(createRelayerKey(Buffer.alloc(32, 9), await loadSigningEngine()))
    assert.ok(told.some((text) => text.includes('another relayer key')))
    assert.equal(await other.isOnItsWay(hash), false)
  })
})
