import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHAINS, CHAIN_SLUGS, parseAddress, StartupError } from '@bezel/protocol'
import { parseFinality } from './finality.ts'
import { isLive, readChainsFile, readFeedUrl } from './servedChain.ts'

const LIVE = fileURLToPath(new URL('../../../../chains/live.json', import.meta.url))

interface LiveFile {
  readonly chains: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const file = JSON.parse(readFileSync(LIVE, 'utf8')) as LiveFile

describe('chains/live.json', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'bezel-live-chains-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))

  /** Fills in the URL of a provider for every chain, as an operator does. */
  function filledIn(): string {
    const path = join(scratch, 'chains.json')
    const chains = Object.entries(file.chains).map(([slug, entry]) => [slug, { ...entry, rpcUrl: 'https://node/key' }])
    writeFileSync(path, JSON.stringify({ ...file, chains: Object.fromEntries(chains) }))
    return path
  }

  it('needs nothing but the URL of a provider', () => {
    assert.throws(
      () => readChainsFile(LIVE),
      (error) =>
        error instanceof StartupError && /no http or https address at chains\.arbitrum\.rpcUrl/.test(error.message),
    )
    assert.deepEqual(
      readChainsFile(filledIn()).map(({ slug }) => slug),
      CHAIN_SLUGS,
    )
    assert.equal(readFeedUrl(LIVE), 'https://backend-pricing.eu.gains.trade')
  })

  it('says the same as the protocol, reads only, and begins with a snapshot', () => {
    for (const chain of readChainsFile(filledIn())) {
      const { chainId, testnet, liveDiamond, nativeMsPerBlock } = CHAINS[chain.slug]
      assert.deepEqual([chain.chainId, chain.testnet, chain.diamond], [chainId, testnet, liveDiamond])
      assert.ok(isLive(chain))
      assert.deepEqual([chain.writes, chain.startBlock], [false, undefined])
      assert.deepEqual(chain.finality, parseFinality({}, { slug: chain.slug, isLive: true }), chain.slug)
      assert.match(chain.backendUrl ?? '', /^https:\/\/backend-[a-z]+\.gains\.trade$/)
      assert.ok(Number.isSafeInteger(file.chains[chain.slug]!.firstBlock))
      // The contracts take from 60 to 300 s, at the pace that they assume.
      if (nativeMsPerBlock === undefined) {
        assert.equal(chain.requestTimeoutBlocks, undefined, 'nothing establishes it')
        continue
      }
      const timeoutMs = chain.requestTimeoutBlocks! * nativeMsPerBlock
      assert.ok(timeoutMs >= 60_000 && timeoutMs <= 300_000, chain.slug)
    }
  })

  it('has the Diamonds of the published SDK', () => {
    const addresses = createRequire(import.meta.url)('@gainsnetwork/sdk/lib/contracts/addresses.json') as Readonly<
      Record<string, { readonly global: { readonly gnsMultiCollatDiamond: string } }>
    >
    for (const { chainId, diamond, slug } of readChainsFile(filledIn())) {
      const published = addresses[chainId]?.global.gnsMultiCollatDiamond
      assert.equal(parseAddress(published ?? ''), diamond, slug)
    }
  })
})
