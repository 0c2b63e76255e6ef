import assert from 'node:assert/strict'
import { afterEach, describe, it, beforeEach } from 'node:test'
import { healthyAnswer, startStandInNode, type StandInNode } from '@bezel/testkit/standInNode.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { refuseOtherChain, refuseWrongNodes, verifyChain } from './chainIdentity.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { CHAINS, StartupError } from '@bezel/protocol'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import type { RpcClient } from '../rpcClient.ts'

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

const probe = (...urls: string[]): Promise<void> =>
  refuseWrongNodes([testChain('base', { rpcUrls: urls.map((url) => ({ url })) })])

describe('refuseWrongNodes', () => {
  it('lets a node of the right chain with the Diamond pass', async () => {
    const { url } = await node(healthyAnswer(8453))
    await probe(url)
  })

  it('refuses to start with a node of another chain', async () => {
    const { url } = await node(healthyAnswer(1))
    await assert.rejects(
      probe(url),
      /^StartupError: The node configured for base is on chain 1, not 8453: correct its rpcUrls/,
    )
  })

  it('refuses to start without the Diamond', async () => {
    const { url } = await node((method) => (method === 'eth_chainId' ? '0x2105' : '0x'))
    await assert.rejects(probe(url), /There is no contract at 0x6cD5aC19a07518A8092eEFfDA4f1174C72704eeb on base/)
  })

  it('lets one of several be wrong, which is left alone later', async () => {
    const [right, wrong] = await Promise.all([node(healthyAnswer(8453)), node(healthyAnswer(1))])
    await probe(wrong.url, right.url)
  })

  it('starts when the node is down or talks nonsense, which may pass', async () => {
    const down = await startStandInNode(healthyAnswer(8453))
    await down.close()
    await probe(down.url)
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
    for (const answer of nonsense) await probe((await node(answer)).url)
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
