import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decimal, roundPrice, type NewMarketOrder } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { SOON, type SdkWorld } from '../sdk/sdkWorld.ts'
import { overflowOf, seriousFindings } from './axe.ts'
import { enterOrder, reviewOrder, signInAs } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'
import { DESK, LAPTOP, PHONE, screensFolder, type Visit } from './visit.ts'

/** A view or a dialog of it. */
interface View {
  readonly name: string
  readonly path: string
  /** Test id of an element that is there once the view is drawn. */
  readonly drawn: string
  /** Opens the dialog. */
  readonly open?: (visit: Visit) => Promise<void>
}

const clickFirst =
  (testIdStart: string, more = '') =>
  ({ page }: Visit): Promise<void> =>
    page.locator(`[data-testid^="${testIdStart}"]${more}`).filter({ visible: true }).first().click()

/** Waits for the drawing itself, whose program is loaded after the page. */
function chartOf(testId: string): (visit: Visit) => Promise<void> {
  return ({ at }) => at(testId).locator('canvas').first().waitFor()
}

/** Waits until the line of equity begins at one side of its chart and ends at the other. */
async function wholeEquity({ page, at }: Visit): Promise<void> {
  await at('equity-chart').locator('canvas').first().waitFor()
  // Not by waitForFunction, which asks again with an `eval` that the page's policy forbids.
  await until('the line of equity spans its chart', () => page.evaluate<boolean>(SPANS_THE_CHART))
}

/** Share of the width that the line may leave free at each side: the last time needs room there on a phone. */
const FREE_SHARE = 0.25

/**
 * True when the colour of the line is found near both sides of the widest drawing, in the page. The first point is half
 * a step from the left side. A drawing that is being made has no width yet.
 */
const SPANS_THE_CHART = `(() => {
  const canvases = [...document.querySelectorAll('[data-testid="equity-chart"] canvas')]
  const [widest] = canvases.toSorted((a, b) => b.width * b.height - a.width * a.height)
  const { width = 0, height = 0 } = widest ?? {}
  if (width * height === 0) return false
  const { data } = widest.getContext('2d').getImageData(0, 0, width, height)
  const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()
  const wanted = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16))
  const isLine = (x, y) => wanted.every((value, band) => Math.abs(data[(y * width + x) * 4 + band] - value) < 8)
  const hasLine = (x) => Array.from({ length: height }, (_, y) => y).some((y) => isLine(x, y))
  const columns = Array.from({ length: width }, (_, x) => x).filter(hasLine)
  return columns[0] < width * ${FREE_SHARE} && columns.at(-1) > width * ${1 - FREE_SHARE}
})()`

const TRADE: View = { name: 'trade', path: '/trade/ETH-USD', drawn: 'chart', open: chartOf('chart') }

const VIEWS: readonly View[] = [
  { name: 'markets', path: '/', drawn: 'market-row-BTC-USD' },
  TRADE,
  { name: 'portfolio', path: '/portfolio', drawn: 'flatten' },
  { name: 'agents', path: '/agents', drawn: 'agent-new' },
  { name: 'history', path: '/history', drawn: 'equity-chart', open: wholeEquity },
  { name: 'system', path: '/system', drawn: 'sandbox-panel' },
  { name: 'flatten', path: '/portfolio', drawn: 'positions', open: clickFirst('flatten') },
  { name: 'review', path: '/trade/ETH-USD', drawn: 'chart', open: fillTicket },
  { name: 'edit', path: '/portfolio', drawn: 'positions', open: clickFirst('position-edit-') },
  {
    // The portfolio has the last orders only, and the reviews of other sizes leave some behind.
    name: 'timeline',
    path: '/history/orders',
    drawn: 'history',
    open: clickFirst('order-timeline-', '[data-status="filled"]'),
  },
  { name: 'notices', path: '/markets', drawn: 'bell', open: clickFirst('bell') },
  { name: 'agent', path: '/agents', drawn: 'agent-new', open: newAgent },
]
const SIZES = [PHONE, LAPTOP, DESK]
const THEMES = ['dark', 'light'] as const

const IS_WHOLE = process.env['CAMPAIGN'] !== undefined
const MAKES_PICTURE = process.env['CONSOLE_PICTURE'] !== undefined
/** Bound of the picture of the README. */
const MAX_PICTURE_BYTES = 200_000
const PICTURE_FOLDER = join(import.meta.dirname, '../../docs/pictures')

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const

describeConsole('every view', {}, (story) => {
  let trading: Promise<void> | undefined
  const all = SIZES.flatMap((viewport) => THEMES.map((theme) => ({ viewport, theme })))
  for (const [turn, { viewport, theme }] of all.entries()) {
    // Each view once, and each size and theme once, unless all are asked for.
    const views = IS_WHOLE ? VIEWS : VIEWS.filter((_, place) => place % all.length === turn)
    const names = views.map(({ name }) => name).join(', ')
    story(`can be used at ${viewport.width} px in the ${theme} theme: ${names}`, async ({ world, open }) => {
      await (trading ??= trade(world))
      const visit = await open({ path: '/system', viewport, theme })
      await signInAs(visit, 'trader-1')
      const findings: string[] = []
      for (const view of views) findings.push(...(await look(visit, view, `${viewport.width}-${theme}`)))
      assert.deepEqual(findings, [])
    })
  }

  if (MAKES_PICTURE) {
    story('is pictured for the README', async ({ world, open }) => {
      await (trading ??= trade(world))
      const visit = await open({ viewport: LAPTOP })
      await signInAs(visit, 'trader-1')
      await look(visit, { ...TRADE, open: (of) => enterOrder(of, { size: '0.5' }) }, 'readme')
      mkdirSync(PICTURE_FOLDER, { recursive: true })
      const picture = join(PICTURE_FOLDER, 'console.png')
      copyFileSync(join(screensFolder(), 'trade-readme.png'), picture)
      assert.ok(statSync(picture).size < MAX_PICTURE_BYTES, `${statSync(picture).size} bytes`)
    })
  }
})

/** Looks at a view as everybody should be able to, and keeps a picture. Returns what is wrong with it. */
async function look(visit: Visit, view: View, suffix: string): Promise<string[]> {
  const { page, at } = visit
  const { name } = view
  await page.goto(view.path)
  await at('account-menu').first().waitFor()
  await at(view.drawn).first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await view.open?.(visit)
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await page.screenshot({ path: join(screensFolder(), `${name}-${suffix}.png`), animations: 'disabled' })
  const findings = (await seriousFindings(page)).map((finding) => `${name}: ${finding}`)
  const overflow = await overflowOf(page)
  return overflow === 0 ? findings : [...findings, `${name}: ${overflow} px wider than the window`]
}

/** Fills in the ticket, which is a sheet on a phone, and reviews the order. */
async function fillTicket(visit: Visit): Promise<void> {
  if ((visit.page.viewportSize()?.width ?? 0) < 640) await visit.at('sheet-long').click()
  await reviewOrder(visit, { size: '0.5' })
}

async function newAgent({ at }: Visit): Promise<void> {
  await at('agent-new').first().click()
  await at('agent-generate').click()
  await at('agent-key').waitFor()
}

/** Gives the account a history: a closed trade, positions with and without stops, and a resting order. */
async function trade(world: SdkWorld): Promise<void> {
  const { client } = await world.sdkAccount('trader-1', 'agent-1')
  const fill = async (order: Partial<NewMarketOrder>): Promise<string> => {
    const { fill: filled } = await (await client.orders.create({ ...ORDER, ...order })).waitForFill(SOON)
    return filled.positionId!
  }
  const closed = await fill({ side: 'short', size: '0.05' })
  await world.moveTo(59_600)
  await (await client.positions.close(closed)).waitForFill(SOON)
  await fill({ side: 'short' })
  const market = await client.markets.get('ETH/USD')
  const { markPrice } = await client.markets.book('ETH/USD', { levels: 1 })
  const at = (share: string): string => roundPrice(market, decimal.mul(markPrice, share))
  await fill({ market: 'ETH/USD', size: '0.5', tp: at('1.012'), sl: at('0.985') })
  const resting = { ...ORDER, market: 'ETH/USD', size: '0.5', type: 'limit', price: at('0.99') } as const
  await (await client.orders.create(resting)).wait(SOON)
}
