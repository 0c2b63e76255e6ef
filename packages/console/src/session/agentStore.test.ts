import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FULL_SCOPE } from '@bezel/sdk'
import { createMemoryStore } from '../data/storage.ts'
import { createAgentStore, type StoredAgent } from './agentStore.ts'
import { coinsOf, sendCoins } from './coins.ts'
import { KEYS } from './testing/fakeWallet.ts'

const OWNER = { chain: 'base', trader: '0xAbC' }
const AGENT: StoredAgent = { privateKey: KEYS[0], scope: FULL_SCOPE, stage: 'funding', isActive: true }

describe('the session agents of a tab', () => {
  it('survive a reload in the middle of being made, each for its chain and account', () => {
    const tab = createMemoryStore()
    createAgentStore(tab).write(OWNER, AGENT)
    const again = createAgentStore(tab)
    assert.deepEqual(again.agentOf({ ...OWNER, trader: '0xabc' }), AGENT)
    assert.equal(again.agentOf({ ...OWNER, chain: 'polygon' }), null)
    again.write(OWNER, null)
    assert.deepEqual([again.agentOf(OWNER), again.version.value], [null, 1])
  })

  it('get their gas by one transaction, which is waited for', async () => {
    const asked: unknown[] = []
    const provider = {
      async request({ method, params }: { readonly method: string; readonly params?: unknown }) {
        asked.push(method === 'eth_sendTransaction' ? params : method)
        return method === 'eth_sendTransaction' ? '0x1' : { status: '0x1' }
      },
    }
    await sendCoins(provider, '0x1', '0x2', '0.01')
    const transaction = { from: '0x1', to: '0x2', value: '0x2386f26fc10000' }
    assert.deepEqual(asked, [[transaction], 'eth_getTransactionReceipt'])
  })

  it('are paid amounts only', () => {
    assert.equal(coinsOf('1.5'), 1_500_000_000_000_000_000n)
    for (const bad of ['', '-1', '1e18', '0,5', 'x']) assert.throws(() => coinsOf(bad), /no amount of coins/)
  })
})
