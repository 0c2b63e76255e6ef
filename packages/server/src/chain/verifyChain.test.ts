import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CHAINS, StartupError } from '@bezel/protocol'
import { migrate } from '../store/migrate.ts'
import { openTestStore, type TestStore } from '../store/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { RpcClient } from './rpcClient.ts'
import { refuseOtherChain, verifyChain } from './verifyChain.ts'

const BASE = testChain('base')

const hashOf = (digit: string): string => `0x${digit.repeat(64)}`

/** A node that gives this as its first block. */
function nodeWith(block: unknown): RpcClient {
  return { roundTrips: () => 0, batch: async () => [{ ok: true, result: block }] }
}

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
