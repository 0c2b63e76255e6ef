import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CHAIN_SLUGS, parseAddress, SANDBOX_ADDRESSES, StartupError } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { refuseUnsafeStart, type StartOptions } from './refuseUnsafeStart.ts'
import { DEFAULT_DOMAIN_NAME } from './settings/config.ts'

const LOCAL_DIAMOND = parseAddress(`0x${'12'.repeat(20)}`)!
const OWN_KEY = parseAddress(`0x${'34'.repeat(20)}`)!

describe('refuseUnsafeStart', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'bezel-unsafe-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))
  const ownFolder = join(scratch, 'own')
  const live: StartOptions = {
    chains: [testChain('base')],
    domainName: 'My API',
    dataFolder: ownFolder,
    relayer: OWN_KEY,
  }
  const sandboxKeys = Object.values(SANDBOX_ADDRESSES).map((address) => parseAddress(address)!)

  const refusal = (changed: Partial<StartOptions>): string => {
    try {
      refuseUnsafeStart({ ...live, ...changed })
    } catch (error) {
      assert.ok(error instanceof StartupError, String(error))
      return error.message
    }
    return ''
  }

  it('lets a deployment with everything of its own serve live Diamonds, with and without a relayer', () => {
    assert.equal(refusal({}), '')
    assert.equal(refusal({ relayer: undefined }), '')
  })

  it('refuses the default signing name at every live Diamond, also beside a local one', () => {
    for (const slug of CHAIN_SLUGS) {
      const chains = [testChain('polygon', { diamond: LOCAL_DIAMOND }), testChain(slug)]
      const sentence = new RegExp(`^BEZEL_DOMAIN_NAME is the default and the live Diamond of ${slug} is served`)
      assert.match(refusal({ chains, domainName: DEFAULT_DOMAIN_NAME }), sentence)
    }
  })

  it('refuses every key of the sandbox', () => {
    assert.equal(sandboxKeys.length, 19)
    for (const relayer of sandboxKeys)
      assert.match(refusal({ relayer }), /is one of the sandbox's, which everybody knows/)
  })

  it("refuses the sandbox's folder, which its next start wipes", () => {
    writeFileSync(join(scratch, 'bezel-devnet-marker.json'), '{}')
    assert.match(refusal({ dataFolder: scratch }), /is the sandbox's, which wipes it at each start/)
  })

  it('lets the sandbox have all of these', () => {
    const chains = CHAIN_SLUGS.map((slug) => testChain(slug, { diamond: LOCAL_DIAMOND }))
    for (const relayer of sandboxKeys) {
      assert.equal(refusal({ chains, relayer, domainName: DEFAULT_DOMAIN_NAME, dataFolder: scratch }), '')
    }
  })
})
