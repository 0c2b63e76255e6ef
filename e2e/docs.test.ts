import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { diamondAbi } from '@bezel/protocol'
import { chromium, type Browser } from 'playwright-core'
import { hashTypedData, keccak256, stringToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { installChromium } from '../scripts/installChromium.ts'
import { call, keyIssue, send } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { runPage, type PageWorld } from './docs/runPage.ts'
import { runProgram } from './docs/runProgram.ts'
import { snippetProblem } from './docs/snippetRules.ts'
import { snippets } from './docs/snippets.ts'
import { typeCheck } from './docs/typeCheck.ts'
import { startExample } from './examples/startExample.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'

const EXAMPLES = new URL('../examples/', import.meta.url)
const CHAIN = 'arbitrum-sepolia'
const RUN_MS = 300_000
const BROWSER = { accept: 'text/html,*/*;q=0.8' }
const PHONE = { width: 380, height: 800 }
const CHROMIUM_ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const all = snippets()

/** Texts that the commands of a page must print. No command of any page may fail. */
const PRINTED: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [
    /^closed 0\.0\d+ BTC at /m,
    /^Market +BTC\/USD long 0\.01 at 10x[\s\S]*^\d+ +BTC\/USD +long/m,
    /^Market +BTC\/USD short 0\.01[\s\S]*^Filled /m,
  ],
  'docs/getting-started.md': [/"symbol":"BTC\/USD"/, /"bids":\[/, /"interval"|"open":/, /^closed 0\.0\d+ BTC at /m],
  'docs/local-chain.md': [/"result":/],
  'docs/signing.md': [/"status":"prepared"[\s\S]*"status":"prepared"/, /^balances \[\{/m, /^order \d+ prepared$/m],
}

let devnet: RunningDevnet
let chain: ChainClient
let service: RunningService
before(async () => {
  devnet = await startDevnet({ DEVNET_BLOCK_MS: '300', DEVNET_ORACLE_DELAY_MS: '150' })
  chain = createChainClient(devnet.file)
  service = await startService(devnet, { BEZEL_IP_LIMIT: '100000', BEZEL_AGENT_WRITE_LIMIT: '1000' })
})
after(async () => {
  await service?.stop()
  await devnet?.stop()
})

function worldOf(): PageWorld {
  const { rpcUrl } = devnet.file.chains[CHAIN]!
  return {
    serviceUrl: service.url,
    devnetUrl: new URL(rpcUrl).origin,
    devnetFile: join(devnet.folder, 'devnet.json'),
  }
}

describe('every block of code in the pages', () => {
  it('is run, type-checked or parsed, or says that it is only text', () => {
    const problems = all.flatMap((snippet) => {
      const problem = snippetProblem(snippet)
      return problem === undefined ? [] : [`${snippet.page}: ${problem}:\n${snippet.code.slice(0, 200)}`]
    })
    assert.deepEqual(problems, [])
    assert.ok(all.length > 80)
  })

  it('compiles when it is TypeScript', async () => {
    const programs = all.filter(({ language }) => language === 'ts').map(({ code }) => code)
    assert.ok(programs.length >= 1)
    await typeCheck(programs)
    await assert.rejects(typeCheck(['const size: number = "0.01"\nexport { size }']), /TS2322/)
  })

  it('has values for other languages that are right', async () => {
    const example = all.find(({ page, language }) => page === 'docs/signing.md' && language === 'json')!
    const { domain, primaryType, body, message, digest, signature } = JSON.parse(example.code)
    const { signing } = (await call(service.url, `/v1/${CHAIN}`)).body
    assert.equal(domain.name, signing.domain.name)
    assert.equal(message.bodyHash, keccak256(stringToBytes(body)))
    const typedData = { domain, primaryType, types: { [primaryType]: signing.fields }, message }
    assert.equal(hashTypedData(typedData), digest)
    assert.equal(await privateKeyToAccount(`0x${'11'.repeat(32)}`).signTypedData(typedData), signature)
  })

  it('is not done by an answer that refuses', async () => {
    const refused = { page: 'x.md', language: 'sh', code: 'curl -s http://127.0.0.1:8080/v1/mars | cat' }
    await assert.rejects(runPage([refused], worldOf()))
  })

  for (const [page, own] of Map.groupBy(all, (snippet) => snippet.page)) {
    if (!own.some(({ language }) => language === 'sh')) continue
    it(`does what ${page} says`, async () => {
      const printed = await runPage(own, worldOf())
      for (const pattern of PRINTED[page] ?? []) assert.match(printed, pattern)
    })
  }
})

/** Returns the one program in JavaScript of a page. */
function programOf(name: string): string {
  const [program, ...others] = all.filter(({ page, language }) => page === name && language === 'js')
  assert.equal(others.length, 0)
  return program!.code
}

describe('the first trade', () => {
  /** Runs a program and reads what it executed from the Diamond's events. */
  async function executionsOf(program: () => Promise<void>): Promise<string[]> {
    const { client, diamond } = chain
    const fromBlock = (await client.getBlockNumber({ cacheTime: 0 })) + 1n
    await program()
    const filter = { address: diamond, abi: diamondAbi, eventName: 'MarketExecuted', fromBlock } as const
    return (await client.getContractEvents(filter)).map(({ args }) => (args.open === true ? 'opened' : 'closed'))
  }

  it('is in the README as it is run', () => {
    const code = programOf('README.md')
    const source = readFileSync(new URL('firstTrade.mjs', EXAMPLES), 'utf8')
    const withoutHead = source.slice(source.indexOf('import '))
    assert.equal(withoutHead, `${code}\n`)
    const steps = code.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
    assert.ok(steps.length <= 10, `${steps.length} lines`)
  })

  it('opens and closes a position with the SDK, and says so', async () => {
    const executed = await executionsOf(async () => {
      const example = startExample({ devnet, url: () => service.url }, ['firstTrade'])
      assert.equal(await example.ended, 0, example.lines.join('\n'))
      const [opened, closed] = example.lines
      assert.match(opened!, /^opened 0\.0\d+ BTC at [\d.]+$/)
      assert.match(closed!, /^closed 0\.0\d+ BTC at [\d.]+$/)
    })
    assert.deepEqual(executed, ['opened', 'closed'])
  })

  it('opens and closes a position without the SDK, and says so', async () => {
    const executed = await executionsOf(async () => {
      const env = { ...process.env, BEZEL_DATA: devnet.folder, BEZEL_URL: service.url }
      const file = new URL('withoutSdk.mjs', EXAMPLES).pathname
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: RUN_MS })
      const [agent, opened, position, closed] = stdout.trim().split('\n')
      assert.match(agent!, /^agent 0x\w{40} trades for 0x\w{40}$/)
      assert.match(opened!, /^opened 0\.0\d+ BTC at [\d.]+, fee [\d.]+ USDC$/)
      assert.match(position!, /^position \d+: mark [\d.]+, PnL -?[\d.]+, liquidation [\d.]+$/)
      assert.match(closed!, /^closed 0\.0\d+ BTC at [\d.]+$/)
    })
    assert.deepEqual(executed, ['opened', 'closed'])
  })
})

describe('the guides', () => {
  const keyOf = (name: string): string => devnet.file.accounts.find((account) => account.name === name)!.privateKey

  it('have a program that makes the first trade as it stands there', async () => {
    const { rpcUrl: RPC } = devnet.file.chains[CHAIN]!
    const env = { BASE: service.url, RPC, TRADER_KEY: keyOf('trader-1'), AGENT_KEY: keyOf('agent-1') }
    await runProgram(programOf('docs/api.md'), env, async (stdout) => assert.match(await readText(stdout), /^filled /))
  })

  it('have a program for the stream that hears of the account as it stands there', async () => {
    const { domain } = (await call(service.url, `/v1/${CHAIN}`)).body.signing
    const asked = await keyIssue(domain, chain.account('trader-1'), 'guide')
    const issued = await send(service.url, 'POST', `/v1/${CHAIN}/api-keys`, asked)
    const env = { BASE: service.url, API_KEY: issued.body.apiKey as string }
    await runProgram(programOf('docs/stream.md'), env, async (stdout) => {
      let printed = ''
      for await (const part of stdout) {
        printed += String(part)
        const isTold = ['trades', 'orders', 'fills', 'positions', 'account'].every((channel) =>
          printed.includes(`${channel} snapshot`),
        )
        if (isTold) return
      }
      assert.fail(printed)
    })
  })
})

/** Returns the addresses that a page links to, without their anchors. */
function addressesOf(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"#]+)/g)].map(([, address]) => address!)
}

/** Requests every address that can be reached from the overview. */
async function crawl(): Promise<ReadonlyMap<string, { readonly status: number; readonly text: string }>> {
  const found = new Map<string, { status: number; text: string }>()
  const open = ['/docs']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path) || !path.startsWith('/')) continue
    const answer = await fetch(service.url + path, { headers: BROWSER })
    const text = await answer.text()
    found.set(path, { status: answer.status, text })
    if (answer.headers.get('content-type')?.startsWith('text/html')) open.push(...addressesOf(text))
  }
  return found
}

describe('the reference of a running service', () => {
  it('has no dead link', async () => {
    const found = await crawl()
    assert.ok(found.size > 40)
    assert.deepEqual(
      [...found].filter(([, { status }]) => status !== 200).map(([path]) => path),
      [],
    )
    for (const path of ['/docs/rest', '/docs/rest.md', '/llms.txt', '/openapi.json', '/docs/examples/firstTrade.mjs']) {
      assert.ok(found.has(path), path)
    }
  })

  it('tells the operations of this very service', async () => {
    const page = await (await fetch(`${service.url}/docs/rest`)).text()
    const document = (await call(service.url, '/openapi.json')).body
    const ids = Object.values<object>(document.paths).flatMap((path) =>
      Object.values<{ operationId: string }>({ ...path }).map(({ operationId }) => operationId),
    )
    assert.ok(ids.length >= 30)
    for (const id of ids) assert.ok(page.includes(`<h3 id="${id.toLowerCase()}">`), id)
  })

  it('counts against the limit like everything, and adds no series to the metrics', async () => {
    const answer = await fetch(`${service.url}/docs`)
    assert.ok(answer.headers.has('ratelimit-remaining'))
    await fetch(`${service.url}/docs/no-such-page-${Date.now()}`, { headers: BROWSER })
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    assert.doesNotMatch(metrics, /docs|no-such-page/)
  })

  it('opens in a browser that asks the root, and tells programs that there is nothing', async () => {
    const opened = await fetch(`${service.url}/`, { headers: BROWSER })
    assert.equal(new URL(opened.url).pathname, '/docs')
    const asked = await call(service.url, '/')
    assert.equal(asked.status, 404)
    assert.equal(asked.body.code, 'NOT_FOUND')
  })
})

describe('the reference in a browser', () => {
  const found = installChromium()
  const skip = 'problem' in found ? found.problem : false
  let browser: Browser
  before(async () => {
    if ('path' in found) browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_ARGS })
  })
  after(() => browser?.close())

  async function open(path: string, colorScheme: 'light' | 'dark' = 'light') {
    const page = await browser.newPage({ viewport: PHONE, colorScheme })
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url)) complaints.push(`asked for ${request.url()}`)
    })
    await page.goto(service.url + path)
    return { page, complaints }
  }

  it('fits a phone, asks nobody else, and breaks no rule of its policy', { skip }, async () => {
    const list = await (await fetch(`${service.url}/llms.txt`)).text()
    const paths = [...list.matchAll(/\((\/docs\/[\w-]+)\.md\)/g)].map(([, path]) => path!.replace('/index', ''))
    assert.ok(paths.length >= 15)
    const { page, complaints } = await open('/docs')
    for (const path of [...paths, '/docs/no-such-page']) {
      await page.goto(service.url + path)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.equal(overflow, 0, path)
      assert.deepEqual(path.includes('no-such') ? [] : complaints, [], path)
    }
    await page.close()
  })

  it('finds headings, and leads to them', { skip }, async () => {
    const { page, complaints } = await open('/docs', 'dark')
    await page.keyboard.press('/')
    await page.keyboard.type('nonce_reu')
    await page.locator('#found a').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/errors#nonce_reused')
    assert.deepEqual(complaints, [])
    await page.close()
  })

  it('copies a program as it stands there', { skip }, async () => {
    const { page } = await open('/docs/signing')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const program = all.find(({ page: name, language }) => name === 'docs/signing.md' && language === 'ts')!
    const block = page.locator('.block', { hasText: 'import { keccak256, stringToBytes, type Hex' })
    await block.locator('.copy').click()
    await block.getByText('Copied').waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), program.code)
    await page.close()
  })
})
