import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, SigningDomain } from '@bezel/protocol'
import fc from 'fast-check'
import { domainSeparator as viemDomainSeparator, toHex } from 'viem'
import { domainSeparator } from './domainSeparator.ts'
import { anyDomain, ARBITRUM_DOMAIN } from './testing/domains.ts'

describe('domainSeparator', () => {
  it('is the published one of arbitrum', () => {
    const published = '0xdf0aae34b2e8effb80dd5069f6b60ac9a1d7d6e36b8acf183a5e4a1b4b257662'
    assert.equal(toHex(domainSeparator(ARBITRUM_DOMAIN)), published)
  })

  it('equals the reference for any domain', () => {
    fc.assert(
      fc.property(anyDomain, (domain) => {
        assert.equal(toHex(domainSeparator(domain)), viemDomainSeparator({ domain }))
      }),
      { numRuns: 300 },
    )
  })

  it('is computed once for a domain, and apart for domains that differ in anything', () => {
    assert.equal(domainSeparator(ARBITRUM_DOMAIN), domainSeparator(ARBITRUM_DOMAIN))
    assert.deepEqual(domainSeparator({ ...ARBITRUM_DOMAIN }), domainSeparator(ARBITRUM_DOMAIN))
    const others: SigningDomain[] = [
      { ...ARBITRUM_DOMAIN, name: 'Bezel Trading API' },
      { ...ARBITRUM_DOMAIN, chainId: 1 },
      { ...ARBITRUM_DOMAIN, verifyingContract: `0x${'1'.repeat(40)}` as Address },
    ]
    const all = [ARBITRUM_DOMAIN, ...others].map((domain) => toHex(domainSeparator(domain)))
    assert.equal(new Set(all).size, all.length)
  })

  it('refuses a domain that can not exist', () => {
    assert.throws(() => domainSeparator({ ...ARBITRUM_DOMAIN, chainId: -1 }), /-1 is no chain id/)
    assert.throws(
      () => domainSeparator({ ...ARBITRUM_DOMAIN, verifyingContract: '0x12' as Address }),
      /0x12 is no address/,
    )
  })
})
