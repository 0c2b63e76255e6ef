import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CHAINS, diamondAbi } from '@bezel/protocol'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService } from '@bezel/testkit/startService.ts'
import { toFunctionSelector, type AbiFunction } from 'viem'
import { WebSocketServer } from 'ws'
import { startFaultyProxy, type FaultyProxy, type Lie } from '../outages/faultyProxy.ts'
import { changeAnswers, checkSetUp, type CheckedSetUp } from './checkedSetUp.ts'

const CHAIN = 'arbitrum-sepolia'

/** The command as npx finds it. */
const COMMAND = fileURLToPath(new URL('../../packages/server/bezel-server.mjs', import.meta.url))

const run = promisify(execFile)

const selectorOf = (name: string): string =>
  toFunctionSelector(diamondAbi.find((entry) => 'name' in entry && entry.name === name) as AbiFunction)

/** Checks that may warn while a busy machine holds up the local chain. */
const HURRIED = ['newest block', 'clock', 'new heads']

const unhurried = (checks: readonly string[]): string[] => checks.filter((check) => !HURRIED.includes(check))

describe('bezel-server check', () => {
  let devnet: RunningDevnet
  let proxy: FaultyProxy

  before(async () => {
    devnet = await startDevnet()
    proxy = await startFaultyProxy(devnet.file.chains[CHAIN]!.rpcUrl)
  })
  after(async () => {
    await proxy?.close()
    await devnet?.stop()
  })
  beforeEach(() => {
    proxy.fault = { kind: 'none' }
    proxy.setStreams('none')
  })

  const check = (changed?: CheckedSetUp) => checkSetUp(devnet, CHAIN, changed)

  /** Checks the set-up over a node that lies. */
  function checkLiar(lie: Lie, env: CheckedSetUp['env'] = {}) {
    proxy.fault = { kind: 'lies', lie }
    return check({ chain: { rpcUrl: proxy.url }, env })
  }

  describe('of a good set-up', () => {
    it('finds nothing to mend, and writes nothing', async () => {
      const outcome = await check()
      assert.equal(outcome.code, 0, outcome.text)
      assert.deepEqual(unhurried(outcome.checksWith('warning')), [], outcome.text)
      assert.deepEqual(outcome.checksWith('failure'), [], outcome.text)
      const { host } = new URL(devnet.file.chains[CHAIN]!.rpcUrl)
      assert.deepEqual(
        outcome.report.groups.map(({ title, sections }) => [title, sections.map(({ subject }) => subject)]),
        [
          ['this machine', [undefined]],
          ['prices', [`feed (${host})`]],
          [CHAIN, [`provider 1 (${host})`, `WebSocket 1 (${host})`, 'chain']],
        ],
      )
      assert.match(outcome.finding('dry open')!.text, /understood the smallest open of \S+ .*only for lack of funds/)
      assert.match(outcome.finding('prices')!.text, /a price of all \d+ pairs/)
      assert.match(outcome.finding('batch size')!.text, /^Batches of 100 calls are answered\.$/)
      assert.ok(!existsSync(join(devnet.folder, '../own')), 'the data folder was made')
    })

    it('prints a table, beside a running service too, and changes nothing in its folder', async () => {
      const service = await startService(devnet)
      try {
        const names = readdirSync(devnet.folder).toSorted()
        const env = { PATH: process.env['PATH'], BEZEL_DATA: devnet.folder }
        const { stdout, stderr } = await run(process.execPath, [COMMAND, 'check'], { env })
        assert.equal(stderr, '')
        assert.match(stdout, /^this machine\n {4}✓ settings +They are known and allowed\.\n/)
        assert.match(stdout, /\n {4}· service +A service runs on this data folder now/)
        assert.match(stdout, /\n {2}provider 1 \(127\.0\.0\.1:\d+\)\n {4}✓ answer +The first answer took /)
        assert.match(stdout, /\n\n(?:All is well|Nothing must be mended, .*)\.\n$/)
        assert.deepEqual(readdirSync(devnet.folder).toSorted(), names)
        assert.ok((await fetch(`${service.url}/ready`)).ok)
      } finally {
        await service.stop()
      }
    })

    it('tells the balance of the relayer, and asks for funds where there are none', async () => {
      const { privateKey } = devnet.file.accounts.find(({ name }) => name === 'relayer')!
      const outcome = await check({ env: { BEZEL_RELAYER_KEY: privateKey } })
      assert.equal(outcome.code, 0, outcome.text)
      assert.match(outcome.finding('relayer')!.text, /it sends as 0x\w{40}/)
      assert.match(outcome.text, /It has \d+(?:\.\d+)? of the native token\./)
      assert.ok(!outcome.text.includes(privateKey.slice(2)))
      const poor = await check({ env: { BEZEL_RELAYER_KEY: `0x${'7'.repeat(64)}` } })
      assert.equal(poor.code, 1)
      assert.match(
        poor.finding('relayer', 'failure')!.text,
        /nothing of the native token.*: fund it, or leave out the key/,
      )
    })
  })

  describe('of a bad set-up says what to mend:', () => {
    it('a node that is away, whose address holds a key', async () => {
      const gone = await startFaultyProxy(devnet.file.feedUrl)
      await gone.close()
      const rpcUrl = `${gone.url}/v2/secret-of-the-path?apikey=secret-of-the-query`
      const outcome = await check({ chain: { rpcUrl, wsUrl: undefined } })
      assert.equal(outcome.code, 1)
      assert.match(outcome.finding('answer')!.text, /^It does not answer \(ECONNREFUSED\): see that the node runs/)
      assert.match(outcome.finding('contracts')!.text, /no provider can be used: mend one first/)
      assert.ok(
        outcome.text.includes(`provider 1 (${new URL(gone.url).host})`) && !outcome.text.includes('secret-of'),
        outcome.text,
      )
    })

    it('a node of another chain', async () => {
      const outcome = await checkLiar(
        changeAnswers(({ method }, answer) => (method === 'eth_chainId' ? { ...answer, result: '0x1' } : answer)),
      )
      assert.equal(outcome.code, 1)
      assert.match(
        outcome.finding('chain id')!.text,
        /^It is on chain 1, and arbitrum-sepolia is 421614: correct its addr/,
      )
    })

    it('a Diamond without code', async () => {
      const outcome = await check({ chain: { diamond: `0x${'12'.repeat(20)}` } })
      assert.equal(outcome.code, 1)
      assert.deepEqual(outcome.checksWith('failure'), ['Diamond'])
      assert.match(outcome.finding('Diamond')!.text, /^There is no contract at 0x12\w+ on \S+: correct the diamond/)
    })

    it('a Diamond without a function that is called', async () => {
      const missing = selectorOf('openTrade')
      const withoutIt = changeAnswers(({ method, params }, answer) => {
        const isLoupe = method === 'eth_call' && (params[0] as { data: string }).data === selectorOf('facets')
        return isLoupe ? { ...answer, result: String(answer.result).replace(missing.slice(2), '00000000') } : answer
      })
      const outcome = await checkLiar(withoutIt)
      assert.equal(outcome.code, 1)
      assert.deepEqual(outcome.checksWith('failure'), ['functions'])
      assert.match(
        outcome.finding('functions')!.text,
        new RegExp(`does not answer openTrade \\(${missing}\\): correct`),
      )
    })

    it('a provider that takes five calls at a time, which is a warning', async () => {
      const outcome = await checkLiar(async (asked, honest) => {
        if ((JSON.parse(asked) as unknown[]).length <= 5) return { text: await honest() }
        return { status: 413, text: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"batch is too large"}}' }
      })
      assert.equal(outcome.code, 0, outcome.text)
      assert.deepEqual(unhurried(outcome.checksWith('warning')), ['batch size'])
      const sentence =
        /^Batches of 1 call are answered, of 10 calls not \(HTTP 413: batch is too large\): .*at least 10\.$/
      assert.match(outcome.finding('batch size')!.text, sentence)
      assert.equal(outcome.finding('functions')!.mark, 'ok')
    })

    it('a provider that gives the logs of ten blocks, which is a warning', async () => {
      const outcome = await checkLiar(
        changeAnswers(({ method, params }, answer) => {
          if (method !== 'eth_getLogs') return answer
          const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
          if (Number(toBlock) - Number(fromBlock) < 10) return answer
          return { id: answer.id, error: { code: -32600, message: 'up to a 10 block range' } }
        }),
      )
      assert.equal(outcome.code, 0, outcome.text)
      assert.deepEqual(unhurried(outcome.checksWith('warning')), ['log range'])
      const sentence =
        /^eth_getLogs of 10 blocks is answered, of 100 not \(up to a 10 .*caught up with 1,440 calls, so take/
      assert.match(outcome.finding('log range')!.text, sentence)
    })

    it('a provider that refuses quick calls, which is a warning', async () => {
      let underWay = 0
      const outcome = await checkLiar(async (_asked, honest) => {
        underWay += 1
        try {
          if (underWay > 3) return { status: 429, text: '{"error":{"code":429,"message":"slow down"}}' }
          return { text: await honest() }
        } finally {
          underWay -= 1
        }
      })
      assert.equal(outcome.code, 0, outcome.text)
      assert.deepEqual(unhurried(outcome.checksWith('warning')), ['rate'])
      assert.match(
        outcome.finding('rate')!.text,
        /^Of 50 calls of \w+ in .* \d+ were refused as too many \(.*slow down\)/,
      )
    })

    it('a WebSocket that is silent, and one that tells of no block', async () => {
      proxy.setStreams('silent')
      const silent = await check({ chain: { wsUrl: proxy.url.replace('http', 'ws') } })
      assert.equal(silent.code, 1)
      assert.match(
        silent.finding('new heads')!.text,
        /^It connects but does not answer eth_subscribe in 5 s: take another/,
      )
      const server = createServer()
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', (socket) => socket.on('message', () => socket.send('{"id":1,"result":"0x1"}')))
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
      const deaf = await check({ chain: { wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` } })
      sockets.close()
      server.close()
      assert.equal(deaf.code, 1)
      assert.match(
        deaf.finding('new heads')!.text,
        /accepted, but it told of no block in 5 s, while HTTP has \d+ new blocks/,
      )
      proxy.setStreams('down')
      const away = await check({ chain: { wsUrl: proxy.url.replace('http', 'ws') } })
      assert.equal(away.code, 1)
      assert.match(
        away.finding('connection')!.text,
        /^It does not connect, or ends at once \(.*401.*\): correct its address/,
      )
    })

    it('a feed that is away', async () => {
      const outcome = await check({ feedUrl: 'http://127.0.0.1:1' })
      assert.equal(outcome.code, 1)
      assert.deepEqual(outcome.checksWith('failure'), ['heartbeat', 'charts'], outcome.text)
      assert.match(outcome.finding('heartbeat')!.text, /ECONNREFUSED\): correct feedUrl/)
      assert.match(outcome.finding('prices')!.text, /^\d+ pairs can be traded; the feed gave no price/)
    })

    it('a node whose newest block is ten minutes old', async () => {
      const outcome = await checkLiar(
        changeAnswers(({ method }, answer) => {
          const block = answer.result as { timestamp: string } | null
          if (method !== 'eth_getBlockByNumber' || block === null) return answer
          return { ...answer, result: { ...block, timestamp: `0x${(Number(block.timestamp) - 600).toString(16)}` } }
        }),
      )
      assert.equal(outcome.code, 1)
      assert.deepEqual(outcome.checksWith('failure'), ['newest block'])
      assert.match(outcome.finding('newest block')!.text, /is 10 minutes old .*Take another node, or set the clock\.$/)
    })

    it("the sandbox's name and keys on a live Diamond", async () => {
      const chain = { diamond: CHAINS[CHAIN].liveDiamond }
      const unnamed = await check({ chain })
      assert.equal(unnamed.code, 1)
      assert.match(unnamed.finding('safe start')!.text, /^BEZEL_DOMAIN_NAME is the default and the live Diamond/)
      const { privateKey } = devnet.file.accounts.find(({ name }) => name === 'relayer')!
      const env = { BEZEL_DOMAIN_NAME: 'My API', BEZEL_RELAYER_KEY: privateKey }
      const known = await check({ chain, env })
      assert.match(known.finding('safe start')!.text, /^The relayer's key \(0x\w{40}\) is one of the sandbox's/)
    })

    it('a node without a finalized block where the rule needs one, and one that has lost the state', async () => {
      let newest = 0
      const forgetful: Lie = changeAnswers(({ method, params }, answer) => {
        if (method === 'eth_getBlockByNumber' && params[0] === 'finalized') return { id: answer.id, result: null }
        if (method === 'eth_getBlockByNumber') newest = Number((answer.result as { number: string }).number)
        const isPast = method === 'eth_call' && Number(params[1]) < newest - 20
        return isPast ? { id: answer.id, error: { code: -32000, message: 'missing trie node' } } : answer
      })
      proxy.fault = { kind: 'lies', lie: forgetful }
      const outcome = await check({ chain: { rpcUrl: proxy.url, finality: 'tag' } })
      assert.equal(outcome.code, 1)
      assert.match(
        outcome.finding('finalized')!.text,
        /names no finalized block .*: take another provider, or set finality/,
      )
    })

    it('settings that are unknown or not allowed, and a chains file that is not there', async () => {
      const settings = await check({ env: { BEZEL_HEAD_POLL_MS: 'often' } })
      assert.equal(settings.code, 1)
      assert.match(settings.finding('settings')!.text, /BEZEL_HEAD_POLL_MS/)
      const away = await check({ env: { BEZEL_CHAINS_FILE: '/nowhere/chains.json' } })
      assert.match(away.finding('chains file')!.text, /can't be read \(ENOENT\): set BEZEL_CHAINS_FILE/)
    })
  })

  it('is in the guide with its options', () => {
    const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
    for (const word of ['bezel-server check', '--json', '--price-per-million-units'])
      assert.ok(guide.includes(word), word)
  })
})
