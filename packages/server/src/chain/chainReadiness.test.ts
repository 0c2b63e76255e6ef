import assert from 'node:assert/strict'
import { afterEach, describe, it, beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { healthyAnswer, startStandInNode, type StandInNode } from '@bezel/testkit/standInNode.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { watchChains, type ChainReadiness, refuseOtherChain, verifyChain } from './chainReadiness.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { CHAINS, StartupError } from '@bezel/protocol'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { RpcClient } from './rpcClient.ts'

const BASE = testChain('base')

const hashOf = (digit: string): string => `0x${digit.repeat(64)}`

const open: { close: () => unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function node(answer: (method: string) => unknown): Promise<StandInNode> {
  const started = await startStandInNode(answer)
  open.push(started)
  return started
}

async function watch(
  rpcUrl: string,
  onChange: (slug: string, state: string) => void = () => undefined,
): Promise<ChainReadiness> {
  const readiness = await watchChains([testChain('base', { rpcUrl })], { intervalMs: 10, onChange })
  open.push(readiness)
  return readiness
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadlineMs = Date.now() + 120_000; !condition(); await sleep(5)) {
    assert.ok(Date.now() < deadlineMs, 'took too long')
  }
}

describe('watchChains', () => {
  it('is ready when the node is on the right chain and has the Diamond', async () => {
    const { url } = await node(healthyAnswer(8453))
    assert.equal((await watch(url)).isReady('base'), true)
  })

  it('is not ready for a chain nobody asked it to watch', async () => {
    const { url } = await node(healthyAnswer(8453))
    assert.equal((await watch(url)).isReady('polygon'), false)
  })

  it('refuses to start with a node of another chain', async () => {
    const { url } = await node(healthyAnswer(1))
    await assert.rejects(
      watch(url),
      /^StartupError: The node configured for base is on chain 1, not 8453: correct its rpcUrl/,
    )
  })

  it('refuses to start without the Diamond', async () => {
    const { url } = await node((method) => (method === 'eth_chainId' ? '0x2105' : '0x'))
    await assert.rejects(watch(url), /There is no contract at 0x6cD5aC19a07518A8092eEFfDA4f1174C72704eeb on base/)
  })

  it('starts, not ready, when the node is down or talks nonsense', async () => {
    const down = await startStandInNode(healthyAnswer(8453))
    await down.close()
    assert.equal((await watch(down.url)).isReady('base'), false)
    const nonsense: readonly (() => unknown)[] = [
      () => null,
      () => 'zz',
      () => ({}),
      () => [],
      () => true,
      () => {
        throw '<html>Bad gateway</html>'
      },
      () => {
        throw ''
      },
      () => {
        throw '[1,2'
      },
    ]
    for (const answer of nonsense) {
      const { url } = await node(answer)
      assert.equal((await watch(url)).isReady('base'), false, String(answer))
    }
  })

  it('follows a node that goes and comes back, and tells each change once', async () => {
    const changes: string[] = []
    const flaky = await node(healthyAnswer(8453))
    const readiness = await watch(flaky.url, (slug, state) => changes.push(`${slug} ${state}`))
    flaky.answer = () => {
      throw 'gone'
    }
    await until(() => !readiness.isReady('base'))
    flaky.answer = healthyAnswer(8453)
    await until(() => readiness.isReady('base'))
    assert.deepEqual(changes, ['base ready', 'base unreachable', 'base ready'])
  })

  it('stays up, not ready, when the node turns into another chain later', async () => {
    const turning = await node(healthyAnswer(8453))
    const readiness = await watch(turning.url)
    turning.answer = healthyAnswer(1)
    await until(() => !readiness.isReady('base'))
  })

  it('asks no more once closed', async () => {
    const { url, calls } = await node(healthyAnswer(8453))
    const readiness = await watch(url)
    readiness.close()
    await sleep(50)
    const soFar = calls.length
    await sleep(50)
    assert.equal(calls.length, soFar)
  })
})

describe('verifyChain', () => {
  let test: TestStore
  beforeEach(async () => {
    test = openTestStore()
    await migrate(test.store)
  })
  afterEach(() => test.remove())

  it('knows the chain again, whatever the case of its hash', async () => {
    await verifyChain(test.store, BASE, nodeWith({ hash: hashOf('a') }))
    await verifyChain(test.store, BASE, nodeWith({ hash: hashOf('A') }))
  })

  it('refuses another chain, at the start and later', async () => {
    await verifyChain(test.store, BASE, nodeWith({ hash: hashOf('a') }))
    const other = nodeWith({ hash: hashOf('b') })
    await assert.rejects(verifyChain(test.store, BASE, other), StartupError)
    await assert.rejects(refuseOtherChain(test.store, BASE, other), StartupError)
  })

  it('remembers nothing of a node that does not tell, and lets the start go on', async () => {
    for (const block of [null, {}, { hash: '0x12' }, 'garbage', { hash: 7 }]) {
      await assert.rejects(verifyChain(test.store, BASE, nodeWith(block)), NodeUnavailableError)
      await refuseOtherChain(test.store, BASE, nodeWith(block))
    }
    assert.deepEqual(await test.store.read.all('select * from chains'), [])
  })

  it('refuses another Diamond even while the node is down', async () => {
    await verifyChain(test.store, BASE, nodeWith({ hash: hashOf('a') }))
    const moved = { ...BASE, diamond: CHAINS.polygon.liveDiamond }
    await assert.rejects(refuseOtherChain(test.store, moved, nodeWith(null)), StartupError)
  })
})

/** Returns a node whose first block is the given one. */
function nodeWith(block: unknown): RpcClient {
  return { roundTrips: () => 0, batch: async () => [{ ok: true, result: block }] }
}
