import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { diamondAbi } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { CALLED_FUNCTIONS, readDiamond } from './diamondCheck.ts'
import type { ServedChain } from './servedChain.ts'
import { createFakeDiamond, type FakeDiamond } from './testing/fakeDiamond.ts'

const CHAIN = testChain('base')

const SOURCE = fileURLToPath(new URL('../', import.meta.url))

describe('the functions that are checked', () => {
  it('are those that the source calls, no more and no less', () => {
    const ofAbi = new Set<string>(diamondAbi.filter(({ type }) => type === 'function').map(({ name }) => name))
    // The loupe is asked for the others, and stands outside of the facets on live chains.
    ofAbi.delete('facets')
    const named = new Set<string>()
    for (const path of globSync('**/*.ts', { cwd: SOURCE })) {
      if (/\.test\.ts$|\/testing\/|diamondCheck\.ts$/.test(path)) continue
      for (const [, name] of readFileSync(`${SOURCE}${path}`, 'utf8').matchAll(/'(\w+)'/g)) {
        if (ofAbi.has(name!)) named.add(name!)
      }
    }
    assert.deepEqual([...CALLED_FUNCTIONS].toSorted(), [...named].toSorted())
  })
})

describe('readDiamond', () => {
  const read = (fake: FakeDiamond, atLeast = 0, chain: ServedChain = CHAIN) => readDiamond(fake.client, chain, atLeast)

  it("finds nothing missing when one facet answers everything, at the node's head", async () => {
    assert.deepEqual(await read(createFakeDiamond()), { block: 10, problem: undefined })
  })

  it('reads at a later block where that is asked for, and behind the head never', async () => {
    const fake = createFakeDiamond()
    assert.equal((await read(fake, 12)).block, 12)
    assert.equal((await read(fake, 3)).block, 10)
    assert.deepEqual(fake.readAt, [12, 10])
  })

  it('names the missing functions with their selectors', async () => {
    const fake = createFakeDiamond()
    fake.functions = fake.functions.filter((name) => name !== 'openTrade' && name !== 'pairsCount')
    const sentence = /^The Diamond at 0x\w+ on base does not answer openTrade \(0x5bfcc4f8\), pairsCount \(0x\w{8}\): /
    assert.match((await read(fake)).problem!, sentence)
  })

  it('counts functions of a facet without code as missing', async () => {
    const fake = createFakeDiamond()
    fake.facetCode = '0x' as never
    assert.equal((await read(fake)).problem!.split('(0x').length - 1, CALLED_FUNCTIONS.length)
  })

  it('says that a contract without a loupe lacks it', async () => {
    for (const loupe of ['revert', '0x'] as const) {
      const fake = createFakeDiamond()
      fake.loupe = loupe as never
      assert.match((await read(fake)).problem!, /does not answer facets \(0x7a0ed627\): correct the diamond/)
    }
  })

  it('blames the node for an answer that is no list of facets', async () => {
    const fake = createFakeDiamond()
    fake.loupe = '0x6001' as never
    await assert.rejects(read(fake), NodeUnavailableError)
  })

  it('names the value that is not as expected', async () => {
    const bare = createFakeDiamond()
    bare.collaterals = 0
    assert.match((await read(bare)).problem!, /on base has 0 collaterals: correct the diamond/)
    const empty = createFakeDiamond()
    empty.pairs = 0n
    assert.match((await read(empty)).problem!, /on base lists 0 pairs: correct the diamond/)
    const slow = createFakeDiamond()
    slow.timeoutBlocks = 31
    assert.equal((await read(slow)).problem, undefined)
    const { problem } = await read(slow, 0, { ...CHAIN, requestTimeoutBlocks: 30 })
    assert.match(problem!, /gives requests back after 31 blocks, not 30: correct requestTimeoutBlocks/)
  })
})
