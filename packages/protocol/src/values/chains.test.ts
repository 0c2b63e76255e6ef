import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from './identifiers.ts'
import { CHAIN_SLUGS, CHAINS, parseChainSlug } from './chains.ts'

describe('CHAINS', () => {
  it('has the five chains with their ids', () => {
    const ids = Object.fromEntries(CHAIN_SLUGS.map((slug) => [slug, CHAINS[slug].chainId]))
    assert.deepEqual(ids, { arbitrum: 42161, base: 8453, polygon: 137, megaeth: 4326, 'arbitrum-sepolia': 421614 })
  })

  it('names each chain by its key and has Diamonds in EIP-55 form', () => {
    for (const slug of CHAIN_SLUGS) {
      assert.equal(CHAINS[slug].slug, slug)
      assert.equal(parseAddress(CHAINS[slug].liveDiamond), CHAINS[slug].liveDiamond)
    }
  })

  it('calls only Sepolia a testnet', () => {
    assert.deepEqual(
      CHAIN_SLUGS.filter((slug) => CHAINS[slug].testnet),
      ['arbitrum-sepolia'],
    )
  })
})

describe('parseChainSlug', () => {
  it('accepts exactly the slugs', () => {
    for (const slug of CHAIN_SLUGS) assert.equal(parseChainSlug(slug), slug)
    for (const text of ['', 'Arbitrum', 'optimism', '__proto__', 'toString', 'constructor', 'arbitrum ']) {
      assert.equal(parseChainSlug(text), undefined, text)
    }
  })
})
