import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'

const PAGE = new URL('../../docs/facade.md', import.meta.url)
const RUN_MS = 300_000

/** The programs of docs/facade.md, unchanged. */
describe('the guide to the facade', () => {
  let world: FacadeWorld
  const programs = [...readFileSync(PAGE, 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!)

  before(async () => {
    world = await startFacadeWorld()
  })
  after(() => world?.stop())

  /** Runs a program in a child process. Its file lies beside this one, so that it finds its packages. */
  async function run(program: string, trader: string, agent: string): Promise<string> {
    const file = new URL(`./guide-${process.pid}.mjs`, import.meta.url)
    writeFileSync(file, program)
    const env = {
      ...process.env,
      BASE: world.url(),
      RPC: world.devnet.file.chains['arbitrum-sepolia']!.rpcUrl,
      TRADER_KEY: world.keyOf(trader),
      AGENT_KEY: world.keyOf(agent),
    }
    try {
      return (await promisify(execFile)(process.execPath, [file.pathname], { env, timeout: RUN_MS })).stdout
    } finally {
      rmSync(file)
    }
  }

  it('has a program for each client that is tried', () => {
    assert.equal(programs.length, 2)
  })

  it('opens and closes a position with ccxt', async () => {
    assert.match(await run(programs[0]!, 'trader-1', 'agent-1'), /^opened (0\.05) at 6\d+.*\nclosed \1 at \d+/)
  })

  it('places and cancels an order with @nktkas/hyperliquid, and hears of it', async () => {
    const printed = await run(programs[1]!, 'trader-2', 'agent-2')
    const [, oid] = /^canceled (\d+)$/m.exec(printed)!
    assert.match(printed, new RegExp(`^order ${oid} is open$`, 'm'))
  })
})
