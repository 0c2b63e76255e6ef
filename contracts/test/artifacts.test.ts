import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Hex } from 'viem'
import {
  artifactDir,
  compileContracts,
  readCompilationRecord,
  recordCompilation,
  serializeArtifact,
  type CompiledContract,
} from '../compile.ts'
import { FACETS } from '../diamond.ts'
import { sharedWorld } from './sharedWorld.ts'

// Compiling takes the better part of a minute, so it is done when the sources, the settings or the compiler are not
// those that the artifacts were recorded with, and always with CAMPAIGN_COMPILE=1. Otherwise each artifact must be the
// very file that was recorded.

/** Largest size of deployed code in bytes, set by EIP-170. */
const MAX_CODE_BYTES = 24_576

describe('the committed artifacts', () => {
  let committed: Record<string, string> = {}
  let contracts: CompiledContract[] = []
  before(() => {
    const files = readdirSync(artifactDir).toSorted()
    committed = Object.fromEntries(
      files.map((file) => [file.replace(/\.json$/, ''), readFileSync(join(artifactDir, file), 'utf8')]),
    )
    contracts = Object.values(committed).map((text) => JSON.parse(text) as CompiledContract)
  })

  it('are byte for byte what the sources compile to: run `npm run contracts` when this fails', (t) => {
    const recorded = readCompilationRecord()
    const current = recordCompilation(committed)
    assert.deepEqual(current.artifacts, recorded.artifacts, 'an artifact was changed by hand, or one came or went')
    if (current.input === recorded.input && !process.env['CAMPAIGN_COMPILE']) return
    t.diagnostic('compiling')
    const { artifacts } = compileContracts()
    for (const artifact of artifacts) {
      const { contractName } = artifact
      assert.ok(committed[contractName] === serializeArtifact(artifact), `${contractName} is out of date`)
    }
    assert.deepEqual(artifacts.map(({ contractName }) => contractName).toSorted(), Object.keys(committed))
    assert.equal(current.input, recorded.input, 'the artifacts are right, and compiled.json does not say so')
  })

  it('are of no contract that is gone', () => {
    assert.deepEqual(Object.keys(committed), Object.keys(readCompilationRecord().artifacts).toSorted())
  })

  it('have names of their own: two contracts of one name would share a file', () => {
    for (const [at, name] of Object.keys(committed).entries()) assert.equal(contracts[at]?.contractName, name)
    for (const facet of FACETS) assert.ok(facet in committed)
  })

  it('hold creation code that could only become code within the size limit', () => {
    for (const { contractName, bytecode } of contracts) {
      assert.ok((bytecode.length - 2) / 2 <= MAX_CODE_BYTES, `${contractName} is too large`)
    }
  })
})

describe('the deployed contracts', () => {
  const world = sharedWorld()

  it('are below the size limit of every live chain', async () => {
    const addresses = await world().read('facetAddresses', [])
    assert.equal(addresses.length, FACETS.length + 1)
    for (const address of [world().plan.diamond, ...addresses]) {
      const code = await world().chain.request<Hex>('eth_getCode', [address, 'latest'])
      const bytes = (code.length - 2) / 2
      assert.ok(bytes > 0 && bytes <= MAX_CODE_BYTES, `${address} has ${bytes} bytes`)
    }
  })
})
