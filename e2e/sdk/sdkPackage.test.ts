import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { createSdkPackageProject, type SdkPackageProject } from './sdkPackageProject.ts'
import type { TradeReport } from './sdkPackageTrade.ts'
import { tradeSettings } from './sdkTradeSettings.ts'

const RUN_MS = 300_000
const IMPORT = /^(?:import|export|\})[^'"\n]*\bfrom ["']([^"']+)["'];?$/gm
const MAIN = `import { trade } from './out/trade.js'
console.log(JSON.stringify(await trade(JSON.parse(process.argv[2]))))
`

describe('the packed SDK in a project of somebody else', () => {
  let world: TradingWorld
  let project: SdkPackageProject
  before(async () => {
    ;[world, project] = await Promise.all([startTradingWorld(), createSdkPackageProject()])
  })
  after(async () => {
    project?.remove()
    await world?.stop()
  })

  it('has all it needs, and nothing of this repository', () => {
    const manifest = JSON.parse(readFileSync(join(project.sdk, 'package.json'), 'utf8')) as Record<string, unknown>
    assert.deepEqual(
      [manifest['name'], manifest['type'], manifest['sideEffects'], manifest['dependencies']],
      ['@bezel/sdk', 'module', false, undefined],
    )
    assert.deepEqual(Object.keys(manifest['peerDependencies'] as object), ['viem'])
    const files = globSync('**/*.{js,ts}', { cwd: project.sdk })
    assert.ok(files.includes('index.js') && files.includes(join('types', 'index.d.ts')), files.join())
    for (const file of files) {
      assert.ok(file.endsWith('.d.ts') || file === 'index.js', file)
      const imported = readFileSync(join(project.sdk, file), 'utf8').matchAll(IMPORT)
      for (const [, name] of imported) assert.match(name!, /^(\.{1,2}\/.*\.js|viem(\/\w+)?)$/, file)
    }
  })

  it('compiles under strict rules, trades in plain node, and lets the program end', async () => {
    await project.compile({ module: 'esnext', moduleResolution: 'bundler', noEmit: true, skipLibCheck: true })
    await project.compile()
    writeFileSync(join(project.folder, 'main.js'), MAIN)
    const settings = JSON.stringify(tradeSettings(world, 'trader-1', 'agent-1'))
    const { stdout } = await promisify(execFile)(process.execPath, ['main.js', settings], {
      cwd: project.folder,
      timeout: RUN_MS,
    })
    expectTrade(JSON.parse(stdout) as TradeReport)
  })
})

function expectTrade({ price, statuses, filled, positions, closed, seqs }: TradeReport): void {
  assert.equal(price, '60000')
  assert.deepEqual([...new Set(statuses)], ['prepared', 'pending', 'filled'])
  assert.deepEqual(positions, [1, 0])
  assert.equal(closed.size, filled.size)
  assert.deepEqual(
    seqs,
    Array.from({ length: seqs.length }, (_, at) => at + 1),
  )
}
