import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAIN_SLUGS, CHAINS, type Address } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { allowedSources } from './allowedSources.ts'

const LOCAL = { diamond: `0x${'1'.repeat(40)}` as Address }

describe('allowedSources', () => {
  it("takes only the testnet's where a live chain has real money", () => {
    for (const slug of CHAIN_SLUGS) {
      const expected = CHAINS[slug].testnet ? ['b', 'a'] : ['b']
      assert.deepEqual(allowedSources(testChain(slug), 'auto'), expected, slug)
    }
  })

  it('takes both on local chains', () => {
    for (const slug of CHAIN_SLUGS) assert.deepEqual(allowedSources(testChain(slug, LOCAL), 'auto'), ['b', 'a'], slug)
  })

  it('does as the setting says, whatever the chain', () => {
    for (const slug of CHAIN_SLUGS) {
      assert.deepEqual(allowedSources(testChain(slug), 'both'), ['b', 'a'])
      assert.deepEqual(allowedSources(testChain(slug, LOCAL), 'testnet'), ['b'])
    }
  })
})
