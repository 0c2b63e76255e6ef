import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { selectEngine } from '../signatures/engines.ts'
import { checkSignature } from '../signatures/recovery.ts'
import { createMetrics, type Metrics } from './createMetrics.ts'
import { watchNode, watchSignatures } from './watchNode.ts'

/** Returns the lines of the series that begin with a name, without their help texts. */
async function series({ registry }: Metrics, name: string): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(name))
}

describe('metrics of a node among others', () => {
  it('tell what it leads and how far it follows the others, at each scrape', async () => {
    const metrics = createMetrics()
    let isHeld = true
    watchNode(metrics, {
      id: 'a1',
      version: '1.2.3',
      lostLines: () => 7,
      leads: () => [
        { role: 'follower', chain: 'base', isHeld },
        { role: 'keeper', chain: '', isHeld: true },
      ],
      commits: new Map([['base', { applied: () => 41, ageMs: () => 250, isReloading: () => false }]]),
    })
    assert.deepEqual(await series(metrics, 'bezel_node_info'), ['bezel_node_info{node="a1",version="1.2.3"} 1'])
    assert.deepEqual(await series(metrics, 'bezel_log'), ['bezel_log_lines_lost_total 7'])
    assert.deepEqual(await series(metrics, 'bezel_journal'), [
      'bezel_journal_commit{chain="base"} 41',
      'bezel_journal_age_seconds{chain="base"} 0.25',
      'bezel_journal_reloading{chain="base"} 0',
    ])
    isHeld = false
    assert.deepEqual(await series(metrics, 'bezel_lease_held'), [
      'bezel_lease_held{chain="base",role="follower"} 0',
      'bezel_lease_held{chain="none",role="keeper"} 1',
    ])
  })

  it('count signatures, and change nothing about them', async () => {
    const metrics = createMetrics()
    const engine = watchSignatures(metrics, await selectEngine())
    const signature = `0x${'11'.repeat(64)}1b`
    const digest = Buffer.alloc(32, 7)
    const address = '0x0000000000000000000000000000000000000001'
    assert.equal(checkSignature(engine, { digest, signature, address }).isValid, false)
    assert.deepEqual(await series(metrics, 'bezel_signature_checks'), ['bezel_signature_checks_total 1'])
  })
})
