import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { installChromium } from '../../scripts/installChromium.ts'
import { allFindings } from '../console/axe.ts'
import type { Snippet } from './snippets.ts'

/** The service that the stories are about. It is not there before the tests run. */
export interface BrowserWorld {
  readonly url: () => string
  /** A read-only key of trader-1, whose agent-1 is authorised. */
  readonly apiKey: () => Promise<string>
  readonly snippets: readonly Snippet[]
}

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 900 }
const CHROMIUM_ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Bounds of the requests and the bytes, as they are sent, that one page may take. */
const MAX_REQUESTS = 5
const MAX_PAGE_BYTES = 40_000
const MAX_INDEX_BYTES = 200_000

const RULES = readFileSync(new URL('accessibility.js', import.meta.url), 'utf8')

interface OpenPage {
  readonly page: Page
  /** Errors of the page, and requests to anybody else. */
  readonly complaints: string[]
  /** Paths that were requested, in their order. */
  readonly asked: string[]
}

/** A reader of the pages, with a browser of its own. */
interface Reader extends BrowserWorld {
  open(path: string, viewport?: typeof PHONE, colorScheme?: 'light' | 'dark'): Promise<OpenPage>
}

/** Registers the stories of a reader with a browser; they are skipped, loudly, where there is none. */
export function describeInBrowser(world: BrowserWorld): void {
  describe('the reference in a browser', () => {
    const found = installChromium()
    const skip = 'problem' in found ? found.problem : false
    let browser: Browser
    before(async () => {
      if ('path' in found) browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_ARGS })
    })
    after(() => browser?.close())
    const reader: Reader = { ...world, open: (...of) => openPage(browser, world.url(), ...of) }

    for (const [size, viewport] of Object.entries({ phone: PHONE, desk: DESK })) {
      const title = `fits a ${size}, can be used by everybody, and breaks no rule of its policy`
      it(title, { skip }, () => visitAll(reader, viewport))
    }
    it('breaks no rule that axe knows, narrow and dark or wide and light', { skip }, () => runAxe(reader))
    it('finds what any page says, and leads to it by the keyboard alone', { skip }, () => searchByKeyboard(reader))
    it('loads one operation in few requests and bytes, and the index in one', { skip }, () => countBytes(reader))
    it('shows code for each client, with the address that the page came from', { skip }, () => chooseClient(reader))
    it('sends reads from the page: public ones, with a key, and signed as agent-1', { skip }, () => sendReads(reader))
    it('prepares an order on the sandbox, signed in the page', { skip }, () => prepareOrder(reader))
    it('copies a program as it stands there', { skip }, () => copyProgram(reader))
  })
}

async function openPage(
  browser: Browser,
  url: string,
  path: string,
  viewport = PHONE,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<OpenPage> {
  const page = await browser.newPage({ viewport, colorScheme })
  const complaints: string[] = []
  const asked: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (request.url().startsWith(url)) asked.push(request.url().slice(url.length))
    else complaints.push(`asked for ${request.url()}`)
  })
  await page.goto(url + path)
  return { page, complaints, asked }
}

async function visitAll({ url, open }: Reader, viewport: typeof PHONE): Promise<void> {
  const list = await (await fetch(`${url()}/llms.txt`)).text()
  const paths = [...list.matchAll(/\((\/docs\/[\w-]+)\.md\)/g)].map(([, path]) => path!.replace('/index', ''))
  assert.ok(paths.length >= 15)
  const scheme = viewport === PHONE ? 'dark' : 'light'
  const { page, complaints } = await open('/docs', viewport, scheme)
  const operations = ['/docs/rest/getMarket', '/docs/rest/createOrder', '/docs/rest/previewOrder']
  for (const path of [...paths, ...operations, '/docs/no-such-page']) {
    await page.goto(url() + path)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.equal(overflow, 0, path)
    assert.deepEqual(await page.evaluate(RULES), [], path)
    assert.deepEqual(path.includes('no-such') ? [] : complaints, [], path)
  }
  await page.close()
}

/** The page of all operations takes axe longer than all others together, and has nothing that theirs lack. */
const LARGE = process.env['CAMPAIGN'] === undefined ? [] : ['/docs/rest']

/** Runs axe on pages of every kind: narrow in the dark, wide in the light. */
async function runAxe({ url, open }: Reader): Promise<void> {
  const { page } = await open('/docs', PHONE, 'dark')
  const judge = async (what: string): Promise<void> => {
    for (const [viewport, colorScheme] of [
      [PHONE, 'dark'],
      [DESK, 'light'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      // The page has seen its new size once a frame is drawn.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      assert.deepEqual(await allFindings(page), [], `${what}, ${viewport.width} pixels wide, ${colorScheme}`)
    }
  }
  for (const path of ['/docs', '/docs/api', '/docs/rest/createOrder', '/docs/no-such-page', ...LARGE]) {
    await page.goto(url() + path)
    await judge(path)
  }
  await page.goto(`${url()}/docs`)
  await page.keyboard.press('/')
  await page.keyboard.type('clientId')
  await page.locator('#found a').first().waitFor()
  await judge('what a search found')
  await page.close()
}

async function searchByKeyboard({ open }: Reader): Promise<void> {
  const { page, complaints, asked } = await open('/docs', DESK, 'dark')
  assert.ok(!asked.some((path) => /index\.js|search\.js/.test(path)), 'nothing is loaded before somebody searches')
  await page.keyboard.press('/')
  await page.keyboard.type('nonce_reu')
  await page.locator('#found a').first().waitFor()
  assert.deepEqual(await page.evaluate(RULES), [])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/errors#nonce_reused')
  // A sentence in the middle of a page, then a field of a schema.
  await page.keyboard.press('/')
  await page.keyboard.type('used up as soon as the signature')
  await page.locator('#found mark', { hasText: 'used up as soon as the signature' }).first().waitFor()
  await page.locator('#search').fill('clientId schema: order')
  const field = page.locator('#found a[href="/docs/rest#schema-order.clientid"]')
  await field.waitFor()
  while (!(await field.evaluate((node) => node.matches(':focus')))) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/rest#schema-order.clientid')
  await page.locator('tr[id="schema-order.clientid"]').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('xyzzy')
  await page.getByText('Nothing says that').waitFor()
  assert.deepEqual(complaints, [])
  await page.close()
}

async function countBytes({ url, open }: Reader): Promise<void> {
  const { page, asked } = await open('/docs/rest/getMarket')
  await page.locator('.try').waitFor()
  const files = [...new Set(asked)]
  assert.ok(files.length <= MAX_REQUESTS, files.join(' '))
  const bytesOf = async (path: string): Promise<number> => {
    const answer = await fetch(url() + path, { headers: { 'accept-encoding': 'br' } })
    const size = answer.headers.get('content-length')
    return size === null ? (await answer.arrayBuffer()).byteLength : Number(size)
  }
  const sizes = await Promise.all(files.map(bytesOf))
  const sum = sizes.reduce((total, size) => total + size, 0)
  assert.ok(sum <= MAX_PAGE_BYTES, `${sum} bytes`)
  assert.ok((await bytesOf('/docs/index.js')) <= MAX_INDEX_BYTES, `index of ${await bytesOf('/docs/index.js')} bytes`)
  await page.close()
}

async function chooseClient({ url, open }: Reader): Promise<void> {
  const { page, complaints } = await open('/docs/rest/getMarket')
  await page.getByRole('tab', { name: 'Python' }).click()
  await page.getByText(`Client("${url()}"`).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tabpanel').getByText('npx bezel markets BTC/USD').waitFor()
  // The choice holds for other pages too.
  await page.goto(`${url()}/docs/rest/listFills`)
  await page.getByRole('tabpanel').getByText('npx bezel fills').waitFor()
  assert.deepEqual(complaints, [])
  // Under another name of this machine the same page names that one.
  const other = url().replace('127.0.0.1', 'localhost')
  await page.goto(`${other}/docs/getting-started`)
  await page.getByText(`curl -s ${other}/v1/`).first().waitFor()
  await page.close()
}

async function sendReads({ url, apiKey, open }: Reader): Promise<void> {
  const { page, complaints } = await open('/docs/rest/getMarket')
  const sendIt = async (answered: RegExp): Promise<void> => {
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('status').filter({ hasText: answered }).waitFor()
  }
  await sendIt(/^200 OK in \d+ ms, [\d,]+ bytes\./)
  const answer = page.getByLabel('Answer')
  assert.equal(JSON.parse((await answer.textContent())!).symbol, 'BTC/USD')
  await page.getByText('Headers', { exact: true }).click()
  await page.getByRole('row', { name: /^ratelimit-remaining \d+$/ }).waitFor()
  assert.deepEqual(await page.evaluate(RULES), [])
  await page.getByLabel('symbol').fill('NO-SUCH')
  await sendIt(/^404 /)
  assert.equal(JSON.parse((await answer.textContent())!).code, 'MARKET_NOT_FOUND')

  await page.goto(`${url()}/docs/rest/getAccount`)
  await sendIt(/^200 OK/)
  assert.ok(Array.isArray(JSON.parse((await answer.textContent())!).balances))
  await page.getByLabel('Credentials').selectOption('key')
  await sendIt(/^401 /)
  await page.getByLabel('API key').fill(await apiKey())
  await sendIt(/^200 OK/)
  assert.equal(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0)
  // The browser itself reports refused requests on its console.
  assert.deepEqual(
    complaints.filter((text) => !/status of 40[14]/.test(text)),
    [],
  )
  await page.close()
}

async function prepareOrder({ open }: Reader): Promise<void> {
  const { page, complaints } = await open('/docs/rest/createOrder')
  const order = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
  await page.getByLabel('Body').fill(JSON.stringify(order))
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('status').filter({ hasText: /^201 / }).waitFor()
  assert.equal(JSON.parse((await page.getByLabel('Answer').textContent())!).order.status, 'prepared')
  assert.deepEqual(complaints, [])
  await page.close()
}

async function copyProgram({ url, snippets, open }: Reader): Promise<void> {
  const { page } = await open('/docs/signing')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const program = snippets.find(({ page: name, language }) => name === 'docs/signing.md' && language === 'ts')!
  const block = page.locator('.block', { hasText: 'import { keccak256, stringToBytes, type Hex' })
  await block.locator('.copy').click()
  await block.getByText('Copied').waitFor()
  assert.equal(
    await page.evaluate('navigator.clipboard.readText()'),
    program.code.replaceAll('http://127.0.0.1:8080', url()),
  )
  await page.close()
}
