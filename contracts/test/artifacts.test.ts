import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Hex } from 'viem'
import { artifactDir, compileContracts, serializeArtifact, type CompiledContract } from '../compile.ts'
import { FACETS } from '../diamond.ts'
import { createWorld, type World } from './world.ts'

/** Largest size of deployed code in bytes, set by EIP-170. */
const MAX_CODE_BYTES = 24_576

describe('the committed artifacts', () => {
  let compiled: CompiledContract[] = []
  before(() => {
    compiled = compileContracts().artifacts
  })

  it('are byte for byte what the sources compile to: run `npm run contracts` when this fails', () => {
    for (const artifact of compiled) {
      const committed = readFileSync(join(artifactDir, `${artifact.contractName}.json`), 'utf8')
      assert.ok(committed === serializeArtifact(artifact), `${artifact.contractName} is out of date`)
    }
  })

  it('are of no contract that is gone', () => {
    const expected = compiled.map(({ contractName }) => `${contractName}.json`)
    assert.deepEqual(readdirSync(artifactDir).toSorted(), expected.toSorted())
  })

  it('have names of their own: two contracts of one name would share a file', () => {
    assert.equal(new Set(compiled.map(({ contractName }) => contractName)).size, compiled.length)
    for (const facet of FACETS) assert.ok(compiled.some(({ contractName }) => contractName === facet))
  })

  it('hold creation code that could only become code within the size limit', () => {
    for (const { contractName, bytecode } of compiled) {
      assert.ok((bytecode.length - 2) / 2 <= MAX_CODE_BYTES, `${contractName} is too large`)
    }
  })
})

describe('the deployed contracts', () => {
  let world: World
  before(async () => {
    world = await createWorld()
  })

  it('are below the size limit of every live chain', async () => {
    const addresses = await world.read('facetAddresses', [])
    assert.equal(addresses.length, FACETS.length + 1)
    for (const address of [world.plan.diamond, ...addresses]) {
      const code = await world.chain.request<Hex>('eth_getCode', [address, 'latest'])
      const bytes = (code.length - 2) / 2
      assert.ok(bytes > 0 && bytes <= MAX_CODE_BYTES, `${address} has ${bytes} bytes`)
    }
  })
})
