import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { installPython } from '../scripts/installPython.ts'
import { snippets } from './docs/snippets.ts'
import { pythonCases } from './python/pythonCases.ts'

const PACKAGE = new URL('../clients/python/', import.meta.url).pathname
const PAGE = 'docs/python.md'
const CHAIN = 'arbitrum-sepolia'
const MAX_BOT_LINES = 45
const RUN_MS = 900_000

const programs = snippets().filter(({ page, language }) => page === PAGE && language === 'python')

const python = installPython()
const skip = 'missing' in python ? `THE PYTHON CLIENT IS NOT TESTED: ${python.missing}` : false
const command = 'command' in python ? python.command : ''

interface Run {
  readonly code: number | null
  readonly output: string
}

/** Runs Python in the folder of the package. Its lines are shown as they come, and returned. */
function runPython(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  return new Promise((ended) => {
    const child = spawn(command, args, {
      cwd: PACKAGE,
      env: { ...process.env, PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1', ...env },
      timeout: RUN_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)))
    child.once('close', (code) => ended({ code, output }))
  })
}

/** Starts the control through which the tests in Python do what only the owner of the service can do. */
async function startControl(world: TradingWorld): Promise<Server> {
  const actions: Readonly<Record<string, () => Promise<void>>> = {
    '/crash': () => world.crash(),
    '/price': () => world.moveTo(60_000),
  }
  const server = createServer((request, reply) => {
    const action = actions[request.url ?? ''] ?? (() => Promise.reject(new Error('no such action')))
    action().then(
      () => reply.end('{}'),
      (error: unknown) => reply.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

describe('the Python client', { skip }, () => {
  let folder: string
  let world: TradingWorld
  let control: Server
  before(async () => {
    // The port stays the same after a crash, so that programs find the service again.
    const port = await lastingPort()
    world = await startTradingWorld({ service: { PORT: String(port) } })
    control = await startControl(world)
    folder = mkdtempSync(join(tmpdir(), 'bezel-python-'))
    const { rpcUrl, diamond } = world.devnet.file.chains[CHAIN]!
    const accounts = Object.fromEntries(world.devnet.file.accounts.map((account) => [account.name, account]))
    const controlUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}`
    writeFileSync(
      join(folder, 'world.json'),
      JSON.stringify({ baseUrl: world.url(), rpcUrl, diamond, chain: CHAIN, controlUrl, accounts }),
    )
    writeFileSync(join(folder, 'cases.json'), await pythonCases())
    // The file of npm start names the service beside the chain, and so does this one.
    writeFileSync(join(folder, 'devnet.json'), JSON.stringify({ ...world.devnet.file, baseUrl: world.url() }))
  })
  after(async () => {
    control?.close()
    await world?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  it('has types that a strict checker accepts', async () => {
    const { code, output } = await runPython(['-m', 'mypy', '--cache-dir', join(folder, 'mypy')])
    assert.equal(code, 0, output)
  })

  it('passes its own tests, on a real chain and service', async () => {
    const args = ['-m', 'unittest', 'discover', '-v', '-s', 'tests', '-t', '.']
    const { code, output } = await runPython(args, { BEZEL_PYTHON_TEST: folder, BEZEL_PYTHON_WHOLE: 'yes' })
    assert.equal(code, 0, output)
    // A test that was skipped here would prove nothing.
    assert.doesNotMatch(output, /skipped/, output)
    console.log(output.trim().split('\n').slice(-3).join(' '))
  })

  it(`accepts the types of every program of ${PAGE}`, async () => {
    for (const [place, { code: program }] of programs.entries()) {
      const file = join(folder, `program${place}.py`)
      writeFileSync(file, program)
      const args = ['-m', 'mypy', '--config-file', 'pyproject.toml', '--cache-dir', join(folder, 'mypy'), file]
      const { code, output } = await runPython(args, { MYPYPATH: PACKAGE })
      assert.equal(code, 0, output)
      // Definitions run as well; only the bot does more than define.
      if (place > 0) assert.deepEqual(await runPython([file]), { code: 0, output: '' })
    }
    assert.ok(programs.length >= 4)
  })

  it(`trades with the bot of ${PAGE}, as it stands there`, async () => {
    const bot = programs[0]!.code
    const lines = bot.split('\n').filter((line) => line.trim() !== '')
    assert.ok(lines.length <= MAX_BOT_LINES, `${lines.length} lines`)
    const file = join(folder, 'bot.py')
    writeFileSync(file, bot)
    const { client, diamond } = world.chain
    const fromBlock = (await client.getBlockNumber({ cacheTime: 0 })) + 1n
    // The bot waits for prices that move.
    await world.chain.control('bezel_freezePrice', 'BTC/USD', false)
    const { code, output } = await runPython([file], {
      BEZEL_DATA: folder,
      PYTHONUNBUFFERED: '1',
    })
    assert.equal(code, 0, output)
    assert.match(output, /^opened 0\.0\d+ BTC at [\d.]+\nclosed 0\.0\d+ BTC at [\d.]+, net -?[\d.]+ USDC\n$/)
    const own = { user: world.chain.account('trader-3').address }
    const filter = { address: diamond, abi: diamondAbi, eventName: 'MarketExecuted', args: own, fromBlock } as const
    const executed = await client.getContractEvents(filter)
    assert.deepEqual(
      executed.map(({ args }) => args.open),
      [true, false],
    )
  })

  it('declares the version of the project and the dependencies that these tests ran with', () => {
    const declared = readFileSync(join(PACKAGE, 'pyproject.toml'), 'utf8')
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    assert.match(declared, new RegExp(`^version = "${version}"$`, 'm'))
    assert.match(declared, /^dependencies = \["pycryptodome>=[\d.]+", "ecdsa>=[\d.]+", "websockets>=[\d.]+"\]$/m)
  })
})
