import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import type { SdkWorld } from '../sdk/sdkWorld.ts'
import { collectComplaints } from './complaints.ts'
import { installWallet, type ExtensionWallet } from './extensionWallet.ts'

export const PHONE = { width: 390, height: 844 }
export const LAPTOP = { width: 1280, height: 800 }
export const DESK = { width: 1920, height: 1080 }

export interface VisitOptions {
  /** Path and query of the first page. Default `/`. */
  readonly path?: string
  readonly viewport?: { readonly width: number; readonly height: number }
  /** Default dark. */
  readonly theme?: 'dark' | 'light'
  /** Account of an extension wallet, as the local chain names it. Default: no extension. */
  readonly wallet?: string
  /** Difference between the clock of the browser and that of the service. With one given, `passTime` can move it. */
  readonly clockOffMs?: number
  /** A script that runs in every page before those of the console. */
  readonly script?: string
  /** True for a newcomer, whom the guide greets. Default false. */
  readonly isNewcomer?: boolean
}

/** One browser profile at the console, as one person uses it. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly wallet: ExtensionWallet
  /** Finds an element of the first page by its test id. */
  at(testId: string): Locator
  /** Opens another tab of the same browser. */
  newTab(path: string): Promise<Page>
  reload(): Promise<void>
  /** Lets time pass on the clock of the first page alone, until it is loaded anew. */
  passTime(byMs: number): Promise<void>
  /** Names faults that the story itself causes, for instance failed requests while the service is away. */
  expect(...patterns: readonly RegExp[]): void
  /** Returns the faults that nobody expected. */
  complaints(): string[]
  /** Returns true when the service said that it was not ready, so that steps were repeated. */
  wasNotReady(): boolean
  close(): Promise<void>
}

const SKIP_GUIDE = `if (location.protocol !== 'about:') localStorage.setItem('bezel.guide', '{"status":"skipped"}')`

/** Timeout that ends a hanging story. A shorter one helps while a story is written. */
const TIMEOUT_MS = Number(process.env['CONSOLE_TIMEOUT_MS'] ?? PATIENCE_MS)

let folder: string | undefined

/** Returns the folder that pictures are written to. Makes it for the first one. */
export function screensFolder(): string {
  folder ??= process.env['CONSOLE_SCREENS'] ?? mkdtempSync(join(tmpdir(), 'bezel-screens-'))
  mkdirSync(folder, { recursive: true })
  return folder
}

export async function openVisit(browser: Browser, world: SdkWorld, options: VisitOptions): Promise<Visit> {
  const { viewport = LAPTOP, theme = 'dark', clockOffMs, path = '/' } = options
  const context = await browser.newContext({
    baseURL: world.url(),
    viewport,
    colorScheme: theme,
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    hasTouch: viewport.width < 640,
    acceptDownloads: true,
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const complaints = collectComplaints({ service: world.url, node: world.rpcUrl })
  context.on('page', (page) => complaints.watch(page))
  if (options.isNewcomer !== true) await context.addInitScript(SKIP_GUIDE)
  if (options.script !== undefined) await context.addInitScript(options.script)
  if (clockOffMs !== undefined) await context.addInitScript(shiftedClock(clockOffMs))
  const wallet =
    options.wallet === undefined
      ? undefined
      : await installWallet(context, world.devnet, world.chain.account(options.wallet))
  const page = await context.newPage()
  await page.goto(path)
  return {
    page,
    context,
    get wallet() {
      if (wallet === undefined) throw new Error('this visit has no extension wallet')
      return wallet
    },
    at: (testId) => page.getByTestId(testId),
    async newTab(of) {
      const tab = await context.newPage()
      await tab.goto(of)
      return tab
    },
    reload: async () => void (await page.reload()),
    passTime: (byMs) => page.evaluate(`globalThis.testClockOffMs += ${byMs}`),
    expect: complaints.expect,
    complaints: complaints.list,
    wasNotReady: complaints.wasNotReady,
    close: () => context.close(),
  }
}

/** Describes what a visitor sees when a story fails, and writes a picture of it. */
export async function describeScreen({ page }: Visit, name: string): Promise<string> {
  const file = join(screensFolder(), `failed-${name.replaceAll(/\W+/g, '-').slice(0, 60)}.png`)
  await page.screenshot({ path: file }).catch(() => undefined)
  const text = await page.evaluate('document.body.innerText').catch(() => 'no page')
  return `The page was ${page.url()}, pictured in ${file}. It said:\n${String(text).slice(0, 3000)}`
}

/** Makes the script that shifts the clock of a page by `testClockOffMs`. */
function shiftedClock(byMs: number): string {
  return `{
    const Real = Date
    globalThis.testClockOffMs = ${byMs}
    globalThis.Date = class extends Real {
      constructor(...of) { if (of.length === 0) super(Real.now() + testClockOffMs); else super(...of) }
      static now() { return Real.now() + testClockOffMs }
    }
  }`
}
