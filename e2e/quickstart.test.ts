import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startTradingWorld, type TradingWorld } from './tradingWorld.ts'

const EXAMPLE = new URL('../examples/firstTrade.mjs', import.meta.url).pathname
const RUN_MS = 60_000

describe('the example of the README', () => {
  let world: TradingWorld
  before(async () => {
    world = await startTradingWorld()
  })
  after(() => world?.stop())

  it('opens and closes a position, and says so', async () => {
    const env = {
      ...process.env,
      BEZEL_DEVNET_FILE: join(world.devnet.folder, 'devnet.json'),
      BEZEL_URL: world.url(),
    }
    const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { env, timeout: RUN_MS })
    const [agent, opened, position, closed] = stdout.trim().split('\n')
    assert.match(agent!, /^agent 0x\w{40} trades for 0x\w{40}$/)
    assert.match(opened!, /^opened 0\.0\d+ BTC at [\d.]+, fee [\d.]+ USDC$/)
    assert.match(position!, /^position \d+: mark [\d.]+, PnL -?[\d.]+, liquidation [\d.]+$/)
    assert.match(closed!, /^closed 0\.0\d+ BTC at [\d.]+$/)
  })
})
