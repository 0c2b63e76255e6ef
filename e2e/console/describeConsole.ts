import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { call } from '@bezel/testkit/agentClient.ts'
import type { TradingWorldOptions } from '@bezel/testkit/tradingWorld.ts'
import { chromium, type Browser } from 'playwright-core'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { installChromium } from '../../scripts/installChromium.ts'
import { startSdkWorld, type SdkWorld } from '../sdk/sdkWorld.ts'
import { describeScreen, openVisit, type Visit, type VisitOptions } from './visit.ts'

/** Everything a story has: the local chain with its service, and browsers to open. */
export interface Stage {
  readonly world: SdkWorld
  open(options?: VisitOptions): Promise<Visit>
}

/** Registers one story. It fails when a page of it complains, even if all else went well. */
export type Story = (title: string, work: (stage: Stage) => Promise<void>) => void

const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** Blocks that are slow enough for a story to see a request that waits, and fast enough to wait for. */
const CHAIN = { DEVNET_BLOCK_MS: '150' }

/**
 * Registers stories that share a browser, a local chain and a service. They are skipped, loudly, where there is no
 * browser and none can be installed; in CI they fail.
 */
export function describeConsole(title: string, options: TradingWorldOptions, define: (story: Story) => void): void {
  const found = installChromium()
  if ('problem' in found) {
    if (process.env['CI']) throw new Error(`The console can't be tested: ${found.problem}.`)
    console.error(`NOT TESTED: the console (${title}), because ${found.problem}.`)
  }
  describe(title, { skip: 'problem' in found ? found.problem : false }, () => {
    let world: SdkWorld
    let browser: Browser
    before(async () => {
      const executablePath = 'path' in found ? found.path : ''
      ;[world, browser] = await Promise.all([
        startConsoleWorld(options),
        chromium.launch({ executablePath, args: CHROMIUM_ARGS, headless: true }),
      ])
    })
    after(async () => {
      await browser?.close()
      await world?.stop()
    })
    define((name, work) => void it(name, () => perform(name, world, browser, work)))
  })
}

/** Starts the local chain and the service on a port that it keeps over restarts, as a browser's address needs it. */
async function startConsoleWorld({ devnet, service }: TradingWorldOptions): Promise<SdkWorld> {
  const port = await lastingPort()
  const world = await startSdkWorld({
    devnet: { ...CHAIN, ...devnet },
    service: { PORT: String(port), BEZEL_MARKETS_REFRESH_MS: '1000', ...service },
  })
  const { status } = await call(world.url(), '/console.json').catch(() => ({ status: 0 }))
  assert.equal(status, 200, 'the service has no console: build it with npm run console')
  return world
}

async function perform(name: string, world: SdkWorld, browser: Browser, work: (stage: Stage) => Promise<void>) {
  const visits: Visit[] = []
  async function open(options: VisitOptions = {}): Promise<Visit> {
    const visit = await openVisit(browser, world, options)
    visits.push(visit)
    return visit
  }
  try {
    await work({ world, open })
    assert.deepEqual(
      visits.flatMap((visit) => visit.complaints()),
      [],
      'the pages complained',
    )
  } catch (error) {
    const screens = await Promise.all(visits.map((visit, at) => describeScreen(visit, `${name}-${at}`)))
    const complaints = visits.flatMap((visit) => visit.complaints())
    throw new Error([String(error), ...screens, ...complaints].join('\n'), { cause: error })
  } finally {
    await Promise.all(visits.map((visit) => visit.close()))
    // A story that failed in the middle must not fail the next ones.
    await world.chain.control('bezel_pauseOracle', false)
    await world.setPrice(60_000)
  }
}
