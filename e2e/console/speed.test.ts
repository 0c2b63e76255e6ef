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
const IS_CAMPAIGN = process.env['CAMPAIGN'] !== undefined
/** Price updates before the watch: code that is new is compiled meanwhile, which is no growth. Four come a second. */
const FIRST_UPDATES = IS_CAMPAIGN ? 120 : 8
/** Price updates between two looks at the page. */
const UPDATES_PER_LOOK = 16
/** Looks at the page: eight seconds, in a campaign three minutes. */
const LOOKS = IS_CAMPAIGN ? 45 : 2
const HOUR_MS = 3_600_000

/**
 * A script that counts the messages of the stream, and notes when the first one about a fill came and when the frame
 * after its row began, by when the row was drawn. `performance.now()` of the page is the clock of all.
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
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) noted.longTasks.push({ startMs: startTime, ms: duration })
  }).observe({ type: 'longtask', buffered: true })
  const rows = new MutationObserver(() => {
    if (noted.fillMs === null || document.querySelector('[data-testid^="fill-"]') === null) return
    rows.disconnect()
    requestAnimationFrame((frameMs) => (noted.shownMs = frameMs))
  })
  rows.observe(document, { childList: true, subtree: true })
}`

interface Noted {
  readonly updates: number
  readonly fillMs: number | null
  readonly shownMs: number | null
  readonly longTasks: readonly { readonly startMs: number; readonly ms: number }[]
}

interface Script {
  readonly name: string
  readonly bytes: number
}

/** A look at a page: its counters, then its memory after everything that nobody needs was collected. */
interface Look {
  readonly before: Metrics
  readonly after: Metrics
  /** `performance.now()` of the page at both ends of the look, which itself keeps the page busy. */
  readonly fromMs: number
  readonly toMs: number
}

type Metrics = Readonly<Record<'Timestamp' | 'TaskDuration' | 'ThreadTime' | 'JSHeapUsedSize' | 'Nodes', number>>

describeConsole('speed of the console', {}, (story) => {
  story('is reported, and the first page is small', async ({ open }) => {
    const idle = watchIdle()
    const { page, at } = await open()
    await at('market-row-BTC-USD').waitFor()
    const usableMs = await page.evaluate<number>('performance.now()')
    const paintMs = await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    const scripts = await scriptsOf(page)
    const bytes = scripts.reduce((sum, script) => sum + script.bytes, 0)
    report('first paint', `${paintMs.toFixed(0)} ms`, idle())
    report('usable', `${usableMs.toFixed(0)} ms`, idle())
    report('compressed script of the first page', `${bytes} bytes in ${scripts.length} files`)
    assert.ok(bytes <= MAX_SCRIPT_BYTES, JSON.stringify(scripts))
    await page.goto('/trade/BTC-USD')
    await page.getByTestId('chart').locator('canvas').first().waitFor()
    const later = (await scriptsOf(page)).filter(({ name }) => scripts.every((first) => first.name !== name))
    assert.ok(later.length > 0, 'the chart was loaded before it was seen')
  })

  story('stays calm while all prices move', async ({ open }) => {
    const visit = await open({ script: WATCH })
    // As most people see it: prices flash when they move.
    await visit.page.emulateMedia({ reducedMotion: 'no-preference' })
    await visit.at('market-row-BTC-USD').waitFor()
    const rows = await visit.page.locator('[data-testid^="market-row-"]').count()
    assert.ok(rows >= LEAST_MARKETS, `${rows} markets`)
    const debug = await visit.context.newCDPSession(visit.page)
    await debug.send('Performance.enable')
    await updates(visit.page, FIRST_UPDATES)
    const idle = watchIdle()
    const looks = [await look(debug, visit.page)]
    while (looks.length <= LOOKS) {
      await updates(visit.page, UPDATES_PER_LOOK)
      looks.push(await look(debug, visit.page))
    }
    reportBusy(`main thread with ${rows} markets`, looks, idle())
    reportLongTasks(looks, (await notedBy(visit.page)).longTasks, idle())
    reportMemory(looks)
  })

  story('has a fill on the screen soon after its message', async ({ world, open }) => {
    const { client } = await world.sdkAccount('trader-1', 'agent-1')
    const visit = await open({ path: '/portfolio', script: WATCH })
    await signInAs(visit, 'trader-1')
    const idle = watchIdle()
    const order = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
    const { fill } = await (await client.orders.create(order)).waitForFill(SOON)
    await visit.at(`position-${fill.positionId}`).waitFor()
    const { fillMs, shownMs } = await until('both moments', async (saw) => {
      const noted = await notedBy(visit.page)
      saw(noted)
      return noted.fillMs === null || noted.shownMs === null ? undefined : noted
    })
    report('fill to screen', `${(shownMs! - fillMs!).toFixed(0)} ms`, idle())
  })
})

/** Writes a figure, with the share of the processors that was idle while it was measured. */
function report(what: string, figure: string, idle?: number): void {
  const beside = idle === undefined ? '' : ` (processors ${(idle * 100).toFixed(0)} % idle)`
  console.log(`console: ${what}: ${figure}${beside}`)
}

/** Reports how busy the page was between the looks: by the clock, and by the time that its thread really ran. */
function reportBusy(what: string, looks: readonly Look[], idle: number): void {
  const sum = (name: keyof Metrics): number =>
    looks.slice(1).reduce((total, { before }, place) => total + before[name] - looks[place]!.after[name], 0)
  const share = (name: keyof Metrics): string => `${((sum(name) / sum('Timestamp')) * 100).toFixed(1)} %`
  const span = `over ${sum('Timestamp').toFixed(0)} s`
  report(what, `${share('TaskDuration')} busy by the clock, ${share('ThreadTime')} of a processor, ${span}`, idle)
}

/** Reports the tasks that held up a frame. Those of the looks themselves don't count. */
function reportLongTasks(looks: readonly Look[], all: Noted['longTasks'], idle: number): void {
  const own = all.filter(({ startMs }) =>
    looks.some(({ toMs }, at) => startMs > toMs && startMs < (looks[at + 1]?.fromMs ?? 0)),
  )
  report(
    'tasks over 50 ms',
    `${own.length}, the longest of ${Math.max(0, ...own.map(({ ms }) => ms)).toFixed(0)} ms`,
    idle,
  )
}

/**
 * Reports the memory. What is in use after a collection is more at some moments than at others, but never less than
 * what is kept, so the least of the first third is compared with the least of the last.
 */
function reportMemory(looks: readonly Look[]): void {
  const third = Math.ceil(looks.length / 3)
  const least = (part: readonly Look[]): Metrics =>
    part.map(({ after }) => after).reduce((best, next) => (next.JSHeapUsedSize < best.JSHeapUsedSize ? next : best))
  const [first, last] = [least(looks.slice(0, third)), least(looks.slice(-third))]
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`
  report('heap', `${megabytes(first.JSHeapUsedSize)}, then ${megabytes(last.JSHeapUsedSize)}`)
  report('nodes', `${first.Nodes}, then ${last.Nodes}`)
  if (!IS_CAMPAIGN) return
  const perMs = (last.JSHeapUsedSize - first.JSHeapUsedSize) / ((last.Timestamp - first.Timestamp) * 1000)
  report('heap growth in an hour', `${megabytes(perMs * HOUR_MS)} at this pace`)
}

/** Waits for more price updates. */
async function updates(page: Page, count: number): Promise<void> {
  const { updates: before } = await notedBy(page)
  await until('so many updates', async () => (await notedBy(page)).updates >= before + count)
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

async function look(debug: CDPSession, page: Page): Promise<Look> {
  const now = (): Promise<number> => page.evaluate<number>('performance.now()')
  const fromMs = await now()
  const before = await metricsOf(debug)
  await debug.send('HeapProfiler.collectGarbage')
  const after = await metricsOf(debug)
  return { before, after, fromMs, toMs: await now() }
}

async function metricsOf(debug: CDPSession): Promise<Metrics> {
  const { metrics } = await debug.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((metric) => metric.name === name)!.value
  return {
    Timestamp: of('Timestamp'),
    TaskDuration: of('TaskDuration'),
    ThreadTime: of('ThreadTime'),
    JSHeapUsedSize: of('JSHeapUsedSize'),
    Nodes: of('Nodes'),
  }
}

/** Begins to watch the processors. Returns a function that tells the share of them that has been idle since. */
function watchIdle(): () => number {
  const first = processorTimes()
  return () => {
    const now = processorTimes()
    return (now.idle - first.idle) / Math.max(1, now.all - first.all)
  }
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times)
  const sum = (pick: (of: (typeof times)[number]) => number): number => times.reduce((total, of) => total + pick(of), 0)
  return { idle: sum(({ idle }) => idle), all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq) }
}
