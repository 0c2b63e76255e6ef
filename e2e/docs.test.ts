import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { diamondAbi } from '@bezel/protocol'
import { hashTypedData, keccak256, stringToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parseCommandLine } from '../packages/cli/src/commandLine/parseCommandLine.ts'
import { COMMANDS } from '../packages/cli/src/runCli.ts'
import { installPython } from '../scripts/installPython.ts'
import { call, keyIssue, send } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { describeInBrowser } from './docs/inBrowser.ts'
import { readOperationCode, runCurl, runPython, type OperationCode } from './docs/operationCode.ts'
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
let operations: readonly OperationCode[]
before(async () => {
  devnet = await startDevnet({ DEVNET_BLOCK_MS: '300', DEVNET_ORACLE_DELAY_MS: '150' })
  chain = createChainClient(devnet.file)
  service = await startService(devnet, { BEZEL_IP_LIMIT: '100000', BEZEL_AGENT_WRITE_LIMIT: '1000' })
  operations = await readOperationCode(service.url)
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
    const inPages = all.filter(({ language }) => language === 'ts').map(({ code }) => code)
    const ofOperations = operations.flatMap(({ code }) => code.TypeScript ?? [])
    assert.ok(inPages.length >= 1 && ofOperations.length >= 30)
    const programs = [...inPages, ...ofOperations]
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
    // Runbooks need a world with the trouble that they are about: e2e/runbooks.test.ts.
    if (page.startsWith('docs/runbooks/') || !own.some(({ language }) => language === 'sh')) continue
    it(`does what ${page} says`, async () => {
      const printed = await runPage(own, worldOf())
      for (const pattern of PRINTED[page] ?? []) assert.match(printed, pattern)
    })
  }
})

/** Issues a read-only key of trader-1. */
async function apiKeyOf(label: string): Promise<string> {
  const { domain } = (await call(service.url, `/v1/${CHAIN}`)).body.signing
  const asked = await keyIssue(domain, chain.account('trader-1'), label)
  return (await send(service.url, 'POST', `/v1/${CHAIN}/api-keys`, asked)).body.apiKey as string
}

describe('the code of each operation', () => {
  const isRead = ({ method, id }: OperationCode): boolean => method === 'GET' || id === 'hlInfo'
  // Only the signature of a wallet or an agent opens this one.
  const isKeyEnough = ({ id }: OperationCode): boolean => id !== 'listApiKeys'
  // Examples name orders and positions that this sandbox may not have.
  const mayBeMissing = ({ id, path }: OperationCode): boolean => path.includes('{id}') || id === 'getOrderByClientId'

  it('reads with curl as it stands there', async () => {
    const reads = operations.filter((of) => isRead(of) && isKeyEnough(of))
    const statuses = await runCurl(reads, { API_KEY: await apiKeyOf('curl') })
    assert.equal(statuses.size, reads.length)
    for (const read of reads) {
      const expected = mayBeMissing(read) ? /^(?:200|404)$/ : /^200$/
      assert.match(statuses.get(read.id) ?? '', expected, `${read.id}: ${read.code.curl}`)
    }
  })

  it('reads with Python as it stands there, and writes with methods that there are', async (test) => {
    const python = installPython()
    if ('missing' in python) return test.skip(`THE PYTHON CODE IS NOT TESTED: ${python.missing}`)
    const codes = operations.map((of) => ({ ...of, isRun: isRead(of) && isKeyEnough(of) }))
    const outcomes = await runPython(python.command, codes, { API_KEY: await apiKeyOf('python') })
    assert.equal(outcomes.size, operations.length)
    for (const of of operations) {
      const expected = mayBeMissing(of) ? /^(?:ok|\w+_NOT_FOUND .*)$/ : /^ok$/
      assert.match(outcomes.get(of.id) ?? '', expected, `${of.id}: ${of.code.Python}`)
    }
  })

  it('is understood by the command line', () => {
    for (const { id, code } of operations.filter((of) => of.code.CLI !== undefined)) {
      const [settings = '', command = ''] = code.CLI!.split('\n')
      assert.equal(settings, `export BEZEL_URL=${service.url} BEZEL_CHAIN=${CHAIN}`, id)
      const parsed = parseCommandLine(command.replace('npx bezel ', '').split(' '), COMMANDS)
      assert.equal(parsed.kind, 'command', id)
    }
  })
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
    const env = { BASE: service.url, API_KEY: await apiKeyOf('guide') }
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

  it('opens in a browser that asks the root, and lists for programs what there is', async () => {
    const opened = await fetch(`${service.url}/`, { headers: BROWSER })
    assert.equal(new URL(opened.url).pathname, '/')
    assert.match(await opened.text(), /<script type="module" src="\/assets\/main-\w+\.js">/)
    const { body } = await call(service.url, '/')
    assert.deepEqual(
      body.chains.map((served: { chain: string }) => served.chain),
      [CHAIN],
    )
    for (const path of [body.docs, body.llms, body.openapi, body.asyncapi, body.health, body.ready, body.time]) {
      assert.equal((await fetch(service.url + path)).status, 200, path)
    }
    const [{ info, markets, prices, facade }] = body.chains
    for (const path of [info, markets, prices]) assert.equal((await call(service.url, path)).status, 200, path)
    assert.equal((await send(service.url, 'POST', facade.info, { type: 'meta' })).status, 200)
  })
})

describeInBrowser({ url: () => service.url, apiKey: () => apiKeyOf('browser'), snippets: all })
