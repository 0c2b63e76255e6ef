import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { diamondAbi } from '@bezel/protocol'
import { snippets } from './docs/snippets.ts'
import { startExample } from './examples/startExample.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const EXAMPLES = new URL('../examples/', import.meta.url)
const RUN_MS = 300_000

describe('the first trade', () => {
  let world: TradingWorld
  before(async () => {
    world = await startTradingWorld()
  })
  after(() => world?.stop())

  /** Reads the executions of trader-1 from the Diamond's events. */
  async function executions(): Promise<string[]> {
    const { client, diamond } = world.chain
    const events = await client.getContractEvents({
      address: diamond,
      abi: diamondAbi,
      eventName: 'MarketExecuted',
      fromBlock: 0n,
    })
    return events.map(({ args }) => (args.open === true ? 'opened' : 'closed'))
  }

  it('is in the README as it is run', () => {
    const [program, ...others] = snippets().filter(({ page, language }) => page === 'README.md' && language === 'js')
    assert.equal(others.length, 0)
    const source = readFileSync(new URL('firstTrade.mjs', EXAMPLES), 'utf8')
    const withoutHead = source.slice(source.indexOf('import '))
    assert.equal(withoutHead, `${program?.code}\n`)
    const steps = program!.code.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
    assert.ok(steps.length <= 10, `${steps.length} lines`)
  })

  it('opens and closes a position with the SDK, and says so', async () => {
    const example = startExample(world, ['firstTrade'])
    assert.equal(await example.ended, 0, example.lines.join('\n'))
    const [opened, closed] = example.lines
    assert.match(opened!, /^opened 0\.0\d+ BTC at [\d.]+$/)
    assert.match(closed!, /^closed 0\.0\d+ BTC at [\d.]+$/)
    assert.deepEqual(await executions(), ['opened', 'closed'])
  })

  it('opens and closes a position without the SDK, and says so', async () => {
    const env = { ...process.env, BEZEL_DATA: world.devnet.folder, BEZEL_URL: world.url() }
    const file = new URL('withoutSdk.mjs', EXAMPLES).pathname
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: RUN_MS })
    const [agent, opened, position, closed] = stdout.trim().split('\n')
    assert.match(agent!, /^agent 0x\w{40} trades for 0x\w{40}$/)
    assert.match(opened!, /^opened 0\.0\d+ BTC at [\d.]+, fee [\d.]+ USDC$/)
    assert.match(position!, /^position \d+: mark [\d.]+, PnL -?[\d.]+, liquidation [\d.]+$/)
    assert.match(closed!, /^closed 0\.0\d+ BTC at [\d.]+$/)
    assert.deepEqual(await executions(), ['opened', 'closed', 'opened', 'closed'])
  })
})
