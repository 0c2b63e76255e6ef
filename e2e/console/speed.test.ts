import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import { until } from '@bezel/testkit/until.ts'
import type { CDPSession, Page } from 'playwright-core'
import { SOON } from '../sdk/sdkWorld.ts'
import { signInAs } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'

/** Bound of the compressed scripts of the first page. */
const MAX_SCRIPT_BYTES = 300_000
const LEAST_MARKETS = 50
/** Price updates over which the page is watched: at four a second ten seconds, in a campaign three minutes. */
const UPDATES = process.env['CAMPAIGN'] === undefined ? 40 : 720
const HOUR_MS = 3_600_000

/**
 * A script that counts the messages of the stream, and notes when the first one about a fill came and when its row
 * appeared. `performance.now()` of the page is the clock of both.
 */
const WATCH = `{
  const noted = (globalThis.noted = { updates: 0, fillMs: null, shownMs: null, longTasks: [] })
  const Real = globalThis.WebSocket
  globalThis.WebSocket = class extends Real {
    constructor(...of) {
      super(...of)
      this.addEventListener('message', ({ data }) => {
        const head = String(data).slice(0, 400)
        if (head.includes('"prices"')) noted.updates += 1
        if (head.includes('"fills"') && head.includes('"snapshot":false')) noted.fillMs ??= performance.now()
      })
    }
  }
  new PerformanceObserver((list) => noted.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
  new MutationObserver(() => {
    if (noted.shownMs !== null || noted.fillMs === null) return
    if (document.querySelector('[data-testid^="fill-"]') !== null) noted.shownMs = performance.now()
  }).observe(document, { childList: true, subtree: true })
}`

interface Noted {
  readonly updates: number
  readonly fillMs: number | null
  readonly shownMs: number | null
  readonly longTasks: readonly number[]
}

interface Script {
  readonly name: string
  readonly bytes: number
}

describeConsole('speed of the console', {}, (story) => {
  story('is reported, and the first page is small', async ({ open }) => {
    const idle = await idleShare()
    const { page, at } = await open()
    await at('market-row-BTC-USD').waitFor()
    const usableMs = await page.evaluate<number>('performance.now()')
    const paintMs = await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    const scripts = await scriptsOf(page)
    const bytes = scripts.reduce((sum, script) => sum + script.bytes, 0)
    report('processor idle before', `${(idle * 100).toFixed(0)} %`)
    report('first paint', `${paintMs.toFixed(0)} ms`)
    report('usable', `${usableMs.toFixed(0)} ms`)
    report('compressed script of the first page', `${bytes} bytes in ${scripts.length} files`)
    assert.ok(bytes <= MAX_SCRIPT_BYTES, JSON.stringify(scripts))
    await page.goto('/trade/BTC-USD')
    await page.getByTestId('chart').locator('canvas').first().waitFor()
    const later = (await scriptsOf(page)).filter(({ name }) => scripts.every((first) => first.name !== name))
    assert.ok(later.length > 0, 'the chart was loaded before it was seen')
  })

  story('stays calm while all prices move', async ({ open }) => {
    const visit = await open({ script: WATCH })
    await visit.at('market-row-BTC-USD').waitFor()
    const rows = await visit.page.locator('[data-testid^="market-row-"]').count()
    assert.ok(rows >= LEAST_MARKETS, `${rows} markets`)
    const debug = await visit.context.newCDPSession(visit.page)
    await debug.send('Performance.enable')
    const before = await measure(debug, visit.page)
    await until('so many updates', async () => (await notedBy(visit.page)).updates >= before.noted.updates + UPDATES)
    const after = await measure(debug, visit.page)
    const spanMs = after.atMs - before.atMs
    const busy = (after.taskMs - before.taskMs) / spanMs
    const growth = ((after.heapBytes - before.heapBytes) / spanMs) * HOUR_MS
    const long = after.noted.longTasks.slice(before.noted.longTasks.length)
    report(`main thread with ${rows} markets`, `${(busy * 100).toFixed(1)} % busy over ${(spanMs / 1000).toFixed(0)} s`)
    report('tasks over 50 ms', `${long.length}, the longest of ${Math.max(0, ...long).toFixed(0)} ms`)
    report('heap growth in an hour', `${(growth / 1e6).toFixed(1)} MB`)
  })

  story('has a fill on the screen soon after its message', async ({ world, open }) => {
    const { client } = await world.sdkAccount('trader-1', 'agent-1')
    const visit = await open({ path: '/portfolio', script: WATCH })
    await signInAs(visit, 'trader-1')
    const order = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
    const { fill } = await (await client.orders.create(order)).waitForFill(SOON)
    await visit.at(`position-${fill.positionId}`).waitFor()
    const { fillMs, shownMs } = await until('both moments', async (saw) => {
      const noted = await notedBy(visit.page)
      saw(noted)
      return noted.fillMs === null || noted.shownMs === null ? undefined : noted
    })
    report('fill to screen', `${(shownMs! - fillMs!).toFixed(0)} ms`)
  })
})

function report(what: string, figure: string): void {
  console.log(`console: ${what}: ${figure}`)
}

function notedBy(page: Page): Promise<Noted> {
  return page.evaluate<Noted>('globalThis.noted')
}

/** Returns the scripts that a page has loaded, with their compressed sizes. */
function scriptsOf(page: Page): Promise<Script[]> {
  return page.evaluate<Script[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .map(({ name, encodedBodySize }) => ({ name: new URL(name).pathname, bytes: encodedBodySize }))`,
  )
}

async function measure(debug: CDPSession, page: Page) {
  await debug.send('HeapProfiler.collectGarbage')
  const { metrics } = await debug.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((metric) => metric.name === name)!.value
  return {
    atMs: of('Timestamp') * 1000,
    taskMs: of('TaskDuration') * 1000,
    heapBytes: of('JSHeapUsedSize'),
    noted: await notedBy(page),
  }
}

/** Measures the share of the processors that is idle, until enough of their time has passed to tell. */
async function idleShare(): Promise<number> {
  const first = processorTimes()
  const passed = await until('processor time passes', () => {
    const now = processorTimes()
    return now.all - first.all > 1000 ? { idle: now.idle - first.idle, all: now.all - first.all } : undefined
  })
  return passed.idle / passed.all
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times)
  const sum = (pick: (of: (typeof times)[number]) => number): number => times.reduce((total, of) => total + pick(of), 0)
  return { idle: sum(({ idle }) => idle), all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq) }
}
