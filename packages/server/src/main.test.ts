import assert from 'node:assert/strict'
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHAINS } from '@bezel/protocol'
import { healthyAnswer, startStandInNode, type StandInNode } from '@bezel/testkit/standInNode.ts'
import { until } from '@bezel/testkit/until.ts'
import { keccak256 } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { WebSocket } from 'ws'
import packageJson from '../../../package.json' with { type: 'json' }

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const BIN = fileURLToPath(new URL('../bezel-server.mjs', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'bezel-main-'))
let node: StandInNode
const children = new Set<ChildProcess>()

before(async () => {
  node = await startStandInNode(healthyAnswer(8453))
})
after(async () => {
  // A test that failed has not ended its child.
  for (const child of children) child.kill('SIGKILL')
  await node.close()
  rmSync(scratch, { recursive: true, force: true })
})

let fileCount = 0
function chainsFile(content: unknown): string {
  const path = join(scratch, `chains-${fileCount++}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** Number of requests for each path, far more than the background makes calls meanwhile. */
const REQUESTS = 50

/** Requests at a time whose answers are logged. */
const LOGGED = 20

/** The feed's address refuses connections: these tests need no prices. */
const baseAt = (rpcUrl: string): object => ({
  chains: { base: { chainId: 8453, rpcUrl, diamond: CHAINS.base.liveDiamond } },
  feedUrl: 'http://127.0.0.1:1',
})

/** Returns a clean environment, so that the tests do not depend on the settings of whoever runs them. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    PORT: '0',
    LOG_LEVEL: 'silent',
    BEZEL_DOMAIN_NAME: 'Test API',
    // A machine that is busy otherwise would be taken for a flood.
    BEZEL_OVERLOAD_PERCENT: '0',
    ...env,
  }
}

function textOf(stream: ChildProcess['stderr']): { text: string } {
  const collected = { text: '' }
  stream?.on('data', (chunk) => (collected.text += String(chunk)))
  return collected
}

/** Runs main until it exits by itself. */
async function failedStart(
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN], { env: environment(env), cwd: scratch })
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: stdout.text, stderr: stderr.text }
}

async function assertOneSentence(env: Record<string, string>, sentence: RegExp): Promise<void> {
  const { code, stdout, stderr } = await failedStart(env)
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, sentence)
  assert.match(stderr, /^[^\n]+\n$/, 'one line')
}

/** Starts main as a child process that ends with this one, and waits until it reports that it is ready. */
async function startedChild(
  env: Record<string, string>,
): Promise<{ child: ChildProcess; url: string; stderr: { text: string } }> {
  const child = fork(MAIN, { env: environment(env), cwd: scratch, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  children.add(child)
  const stderr = textOf(child.stderr)
  const died = once(child, 'exit').then(() => assert.fail(`ended before it was ready: ${stderr.text}`))
  died.catch(() => undefined)
  const [message] = (await Promise.race([once(child, 'message'), died])) as [{ type: string; url: string }]
  assert.equal(message.type, 'ready')
  return { child, url: message.url, stderr }
}

describe('main', () => {
  describe('refuses to start, in one sentence, exit code 1:', () => {
    it('an unknown setting', () =>
      assertOneSentence({ BEZEL_DOMAIN: 'x' }, /^"BEZEL_DOMAIN" is not a setting of Bezel: /))

    it('a bad port', () =>
      assertOneSentence({ PORT: '80808' }, /^PORT is "80808", but it must be an integer from 0 to 65535/))

    it('no chains file', () =>
      assertOneSentence({}, /^The chains file .*devnet\.json can't be read \(ENOENT\): set BEZEL_CHAINS_FILE to/))

    it('a chains file of garbage', () =>
      assertOneSentence({ BEZEL_CHAINS_FILE: chainsFile('{{{') }, /^The chains file .* is not valid JSON/))

    it('a node of another chain', async () => {
      const other = await startStandInNode(healthyAnswer(137))
      await assertOneSentence({ BEZEL_CHAINS_FILE: chainsFile(baseAt(other.url)) }, /is on chain 137, not 8453/)
      await other.close()
    })

    it('a node without the Diamond', async () => {
      const bare = await startStandInNode((method) => (method === 'eth_chainId' ? '0x2105' : '0x'))
      await assertOneSentence({ BEZEL_CHAINS_FILE: chainsFile(baseAt(bare.url)) }, /^There is no contract at 0x/)
      await bare.close()
    })

    it('no price feed', () => {
      const { feedUrl: _, ...withoutFeed } = baseAt(node.url) as { feedUrl: string }
      return assertOneSentence(
        { BEZEL_CHAINS_FILE: chainsFile(withoutFeed) },
        /^The chains file .* names no price feed: add feedUrl to it or set BEZEL_FEED_URL\.$/m,
      )
    })

    it('a price feed that is no address', () =>
      assertOneSentence({ BEZEL_FEED_URL: 'ws://feed' }, /^BEZEL_FEED_URL is "ws:\/\/feed", but it must be an http/))

    it('a data folder that is none', () =>
      assertOneSentence(
        { BEZEL_DATA: chainsFile('a file'), BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) },
        /^The data folder .* can't be used \(ENOTDIR\): set BEZEL_DATA to another folder\.$/m,
      ))

    it('the default signing name on a live Diamond', () =>
      assertOneSentence(
        { BEZEL_DOMAIN_NAME: '', BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) },
        /^BEZEL_DOMAIN_NAME is the default and the live Diamond of base is served: .* set a name of your own\.$/m,
      ))

    it('a data folder that another service has', async () => {
      const env = { BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)), BEZEL_DATA: join(scratch, 'taken') }
      const { child } = await startedChild(env)
      await assertOneSentence(env, /^The data folder .*taken is in use by another service: stop that one first/)
      child.kill('SIGKILL')
      await once(child, 'exit')
    })

    it('a port in use', async () => {
      const holder = createServer().listen(0, '127.0.0.1')
      await once(holder, 'listening')
      const port = String((holder.address() as AddressInfo).port)
      await assertOneSentence(
        { PORT: port, BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) },
        new RegExp(`^Port ${port} is in use: stop the program that has it or set PORT to another one\\.`),
      )
      holder.close()
    })

    it('a host that is not ours', () =>
      assertOneSentence(
        { HOST: '192.0.2.1', BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) },
        /^HOST is "192\.0\.2\.1"/,
      ))
  })

  it('serves, and stops with exit code 0 at SIGTERM', async () => {
    const { child, url } = await startedChild({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) })
    const answer = await fetch(`${url}/health`)
    assert.equal(answer.status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  describe('goes on, and counts the lines that it could not log,', () => {
    /** Asks until lines of the log are lost, and then stops the service. */
    async function assertGoesOn(child: ChildProcess): Promise<void> {
      const died = once(child, 'exit').then(() => assert.fail('it ended'))
      died.catch(() => undefined)
      const [{ url }] = (await Promise.race([once(child, 'message'), died])) as [{ url: string }]
      await until('lines are lost', async (saw) => {
        await Promise.all(Array.from({ length: LOGGED }, async () => (await fetch(`${url}/no/such/path`)).text()))
        const lost = /^bezel_log_lines_lost_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
        saw(lost)
        return Number(lost) > 0
      })
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null])
    }

    const started = (stderr: 'pipe' | number): ChildProcess => {
      const settings = { LOG_LEVEL: 'info', BEZEL_STOP_NOTICE_MS: '0' }
      const env = environment({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)), ...settings })
      const child = fork(MAIN, { env, cwd: scratch, stdio: ['ignore', 'ignore', stderr, 'ipc'] })
      children.add(child)
      return child
    }

    it('when nobody reads its log any more', async () => {
      const child = started('pipe')
      child.stderr!.destroy()
      await assertGoesOn(child)
    })

    it('when the disk of its log is full', async () => {
      const full = openSync('/dev/full', 'w')
      const child = started(full)
      closeSync(full)
      await assertGoesOn(child)
    })
  })

  it('says first that it stops, while it goes on, and ends at once at a second SIGTERM', async () => {
    const env = { BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)), BEZEL_STOP_NOTICE_MS: '600000' }
    const { child, url } = await startedChild(env)
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/base/ws`)
    await once(socket, 'message')
    child.kill('SIGTERM')
    await until('readiness says so', async (saw) => {
      const answer = await fetch(`${url}/ready`)
      const { chains } = (await answer.json()) as { readonly chains: { readonly base: { readonly reason: string } } }
      saw(chains)
      return answer.status === 503 && chains.base.reason === 'stopping'
    })
    assert.equal((await fetch(`${url}/v1/base`)).status, 200)
    const second = new WebSocket(`${url.replace('http', 'ws')}/v1/base/ws`)
    await once(second, 'message')
    assert.equal(socket.readyState, WebSocket.OPEN)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [1, null])
    for (const open of [socket, second]) open.terminate()
  })

  it('closes sockets with 1012 at a stop, and finishes', async () => {
    const { child, url } = await startedChild({
      BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)),
      BEZEL_STOP_NOTICE_MS: '1',
      BEZEL_STOP_SPREAD_MS: '200',
    })
    const sockets = [1, 2, 3].map(() => new WebSocket(`${url.replace('http', 'ws')}/v1/base/ws`))
    await Promise.all(sockets.map((socket) => once(socket, 'message')))
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
    child.kill('SIGTERM')
    assert.deepEqual(
      (await closed).map(([code]) => code as number),
      [1012, 1012, 1012],
    )
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('answers from memory: requests cost the node nothing', async () => {
    const { child, url } = await startedChild({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) })
    // The background asks this node a few times a second for what it does not have, so single calls prove nothing.
    const callsBefore = node.calls.length
    for (let n = 0; n < REQUESTS; n += 1) {
      for (const path of ['/ready', '/health', '/v1/base', '/v1/base/markets']) await (await fetch(url + path)).text()
    }
    const calls = node.calls.slice(callsBefore).filter((method) => method === 'eth_call')
    assert.ok(calls.length < REQUESTS, `${calls.length} calls while each path was asked for ${REQUESTS} times`)
    child.disconnect()
    await once(child, 'exit')
  })

  it('shows no key, not even of a sandbox, however much it logs', async () => {
    const keys = [keccak256('0x01'), keccak256('0x02')] as const
    const accounts = [{ name: 'trader-1', address: privateKeyToAddress(keys[0]), privateKey: keys[0] }]
    const file = chainsFile({ ...baseAt(node.url), accounts })
    const env = environment({ BEZEL_CHAINS_FILE: file, BEZEL_RELAYER_KEY: keys[1], LOG_LEVEL: 'trace' })
    const child = spawn(process.execPath, [MAIN], { env, cwd: scratch, stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
    while (!stderr.text.includes('service is up')) await once(child.stderr!, 'data')
    child.kill('SIGTERM')
    await once(child, 'close')
    assert.equal(stdout.text, '')
    for (const key of keys) assert.ok(!stderr.text.toLowerCase().includes(key.slice(2)))
  })

  it('ends when its parent is gone', async () => {
    const { child } = await startedChild({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)) })
    child.disconnect()
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('starts, not ready, while its node is down', async () => {
    const { child, url } = await startedChild({ BEZEL_CHAINS_FILE: chainsFile(baseAt('http://127.0.0.1:1')) })
    const answer = await fetch(`${url}/ready`)
    assert.equal(answer.status, 503)
    assert.equal((await fetch(`${url}/health`)).status, 200)
    child.disconnect()
    await once(child, 'exit')
  })

  it('is what bezel-server start runs, which npm run serve is', async () => {
    const { serve } = packageJson.scripts
    assert.equal(serve, 'exec node packages/server/bezel-server.mjs start')
    const env = environment({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)), LOG_LEVEL: 'info' })
    const child = spawn(process.execPath, [BIN, 'start'], { env, cwd: scratch, stdio: ['ignore', 'ignore', 'pipe'] })
    children.add(child)
    const stderr = textOf(child.stderr)
    while (!stderr.text.includes('service is up')) await once(child.stderr!, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('lists its settings, and takes no arguments', async () => {
    const asked = async (...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> => {
      const child = spawn(process.execPath, [BIN, 'start', ...args], { env: environment({}), cwd: scratch })
      const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
      const [code] = await once(child, 'close')
      return { code, stdout: stdout.text, stderr: stderr.text }
    }
    const help = await asked('--help')
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, /^bezel-server start runs the service.*\n[^]*\n *BEZEL_CHAINS_FILE/)
    const refused = await asked('--port', '80')
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.stderr, /^Unknown argument "--port": .*\n$/)
  })

  it('stops at SIGINT with exit code 0 when started alone', async () => {
    const env = environment({ BEZEL_CHAINS_FILE: chainsFile(baseAt(node.url)), LOG_LEVEL: 'info' })
    const child = spawn(process.execPath, [MAIN], { env, cwd: scratch, stdio: ['ignore', 'ignore', 'pipe'] })
    const stderr = textOf(child.stderr)
    while (!stderr.text.includes('service is up')) await once(child.stderr!, 'data')
    child.kill('SIGINT')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})
