import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { testedPeers } from '../../packages/sdk/build/buildPackage.ts'
import { createSdkPackageProject, type SdkPackageProject } from './sdkPackageProject.ts'
import type { TradeReport } from './sdkPackageTrade.ts'
import { tradeSettings } from './sdkTradeSettings.ts'

const RUN_MS = 300_000
const IMPORT = /^(?:import|export|\})[^'"\n]*\bfrom ["']([^"']+)["'];?$/gm
/** Programs that run one function of the compiled project and print what it returns. */
const MAINS = {
  trade: `import { trade } from './out/trade.js'\nconsole.log(JSON.stringify(await trade(JSON.parse(process.argv[2]))))\n`,
  // The first example of the README.
  walk: `import { walk } from './out/snippet0.js'\nconsole.log(JSON.stringify(await walk(JSON.parse(process.argv[2]))))\n`,
}

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
    // The README installs the version that this test runs.
    const { version } = JSON.parse(readFileSync(join(project.folder, 'node_modules', 'viem', 'package.json'), 'utf8'))
    assert.deepEqual(testedPeers(), [`viem@${version}`])
    const readme = readFileSync(join(project.sdk, 'README.md'), 'utf8')
    assert.ok(readme.includes(`bezel-sdk-${manifest['version']}.tgz ${testedPeers().join(' ')}\n`))
    const files = globSync('**/*.{js,ts}', { cwd: project.sdk })
    assert.ok(files.includes('index.js') && files.includes(join('types', 'index.d.ts')), files.join())
    for (const file of files) {
      assert.ok(file.endsWith('.d.ts') || file === 'index.js', file)
      const imported = readFileSync(join(project.sdk, file), 'utf8').matchAll(IMPORT)
      for (const [, name] of imported) assert.match(name!, /^(\.{1,2}\/.*\.js|viem(\/\w+)?)$/, file)
    }
  })

  /** Runs a program as one of the trader's, and returns what it printed last. */
  async function run(name: keyof typeof MAINS, trader: string, agent: string): Promise<unknown> {
    const file = `${name}Main.js`
    writeFileSync(join(project.folder, file), MAINS[name])
    const settings = JSON.stringify(tradeSettings(world, trader, agent))
    const of = { cwd: project.folder, timeout: RUN_MS }
    const { stdout } = await promisify(execFile)(process.execPath, [file, settings], of)
    return JSON.parse(stdout.trim().split('\n').at(-1)!)
  }

  it('compiles under strict rules, trades in plain node, and lets the program end', async () => {
    // The types of viem's own dependencies do not pass a check of declarations under node16.
    const loose = { noEmit: true, skipLibCheck: true }
    await project.compile({ module: 'esnext', moduleResolution: 'bundler', ...loose })
    await project.compile({ module: 'node16', moduleResolution: 'node16', ...loose })
    await project.compile()
    const [traded, books] = await Promise.all([run('trade', 'trader-1', 'agent-1'), run('walk', 'trader-2', 'agent-2')])
    expectTrade(traded as TradeReport)
    expectBooks(books as string[])
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

/** Expects the books of the README's walk: a position that was opened and closed, newest first. */
function expectBooks([head, ...entries]: readonly string[]): void {
  assert.match(head!, /^time,market,action,side,/)
  assert.deepEqual(
    entries.map((entry) => entry.split(',').slice(1, 5)),
    [
      ['BTC/USD', 'TradeClosedMarket', 'long', entries[1]!.split(',')[4]],
      ['BTC/USD', 'TradeOpenedMarket', 'long', entries[0]!.split(',')[4]],
    ],
  )
}
