import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { build } from 'esbuild'
import { chromium, type Browser } from 'playwright-core'
import { installChromium } from '../../scripts/installChromium.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { createSdkPackageProject, type SdkPackageProject } from './sdkPackageProject.ts'
import type { TradeReport, TradeSettings } from './sdkPackageTrade.ts'
import { tradeSettings } from './sdkTradeSettings.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const PAGE = '<!doctype html><meta charset="utf-8"><title>trade</title><script type="module" src="/page.js"></script>'
const ENTRY = "import { trade } from './trade.ts'\nglobalThis.trade = trade\n"
const READY_MS = 120_000

const found = installChromium()
if ('problem' in found) console.error(`NOT TESTED: the SDK in a browser, because ${found.problem}.`)

describe('the packed SDK in a browser', { skip: 'problem' in found ? found.problem : false }, () => {
  let world: TradingWorld
  let project: SdkPackageProject
  let server: Server
  let browser: Browser

  before(async () => {
    ;[world, project] = await Promise.all([startTradingWorld(), createSdkPackageProject()])
    server = await serve(await bundle(project.folder))
    const executablePath = 'path' in found ? found.path : ''
    browser = await chromium.launch({ executablePath, args: FLAGS, headless: true })
  })
  after(async () => {
    await browser?.close()
    server?.close()
    project?.remove()
    await world?.stop()
  })

  it('authorises, trades, closes and reads the stream from a page of another origin', async () => {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction(() => 'trade' in globalThis, undefined, { timeout: READY_MS })
    const report = await page.evaluate(
      (settings) => (globalThis as typeof globalThis & PageGlobals).trade(settings),
      tradeSettings(world, 'trader-1', 'agent-1'),
    )
    assert.deepEqual(complaints, [])
    assert.equal(report.price, '60000')
    assert.deepEqual([...new Set(report.statuses)], ['prepared', 'pending', 'filled'])
    assert.deepEqual(report.positions, [1, 0])
    assert.equal(report.closed.size, report.filled.size)
    assert.deepEqual(
      report.seqs,
      Array.from({ length: report.seqs.length }, (_, at) => at + 1),
    )
  })
})

interface PageGlobals {
  trade(settings: TradeSettings): Promise<TradeReport>
}

/** Bundles the SDK as the build of a web page does: anything that only node has is an error. */
async function bundle(folder: string): Promise<string> {
  const entry = join(folder, 'page.ts')
  writeFileSync(entry, ENTRY)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}

async function serve(script: string): Promise<Server> {
  const server = createServer(({ url }, response) => {
    if (url === '/') response.setHeader('content-type', 'text/html').end(PAGE)
    else if (url === '/page.js') response.setHeader('content-type', 'text/javascript').end(script)
    // A browser requests an icon, and complains about a 404.
    else response.writeHead(204).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}
