import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient } from '@bezel/testkit/tradingClient.ts'

const CHAIN = 'arbitrum-sepolia'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The commands of the guide, in order. */
const [, NAME_CHAIN, CHECK, START, READ] = [
  ...readFileSync(join(ROOT, 'docs/live.md'), 'utf8').matchAll(/```text\n([^`]*)```/g),
].map(([, commands]) => commands!)

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

const run = promisify(execFile)

/**
 * Follows docs/live.md by its own commands. The local chain stands in for the live one: it has the same chain id and
 * timeouts, and another Diamond and feed.
 */
describe('the guide to live chains', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  /** Folder in which the commands are run, with the `chains/live.json` of the local chain. */
  let clone: string
  let service: RunningService | undefined

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
    chain = createChainClient(devnet.file)
    clone = join(devnet.folder, 'clone')
    mkdirSync(join(clone, 'chains'), { recursive: true })
    const live = JSON.parse(readFileSync(join(ROOT, 'chains/live.json'), 'utf8'))
    live.feedUrl = devnet.file.feedUrl
    live.chains[CHAIN].diamond = devnet.file.chains[CHAIN]!.diamond
    delete live.chains[CHAIN].backendUrl
    writeFileSync(join(clone, 'chains/live.json'), JSON.stringify(live))
  })
  after(async () => {
    await service?.stop()
    await devnet?.stop()
  })

  /** Replaces the folders, the provider and the address of the guide by those of the test. */
  function localised(commands: string): string {
    return commands
      .replaceAll('/etc/bezel', join(devnet.folder, 'etc'))
      .replaceAll('/var/lib/bezel', join(devnet.folder, 'data'))
      .replace(/https:\/\/\S+provider\S+/, devnet.file.chains[CHAIN]!.rpcUrl)
      .replaceAll('http://127.0.0.1:8080', service?.url ?? '')
  }

  /** Returns the settings of the command that starts the service. */
  function settings(): Record<string, string> {
    const line = localised(START!).split('\n')[0]!
    assert.match(line, /npm run serve$/)
    return Object.fromEntries(
      [...line.matchAll(/(BEZEL_\w+)=('[^']*'|\S+)/g)].map(([, name, value]) => [name!, value!.replaceAll("'", '')]),
    )
  }

  const chainsFile = (): string => settings()['BEZEL_CHAINS_FILE']!

  async function start(): Promise<void> {
    service = await startService(devnet, { BEZEL_IP_LIMIT: '1000000', ...settings() })
  }

  async function client(trader: string, agent: string) {
    const of = { devnet, chain, url: () => service!.url }
    await authorize(of, chain.account(trader), chain.account(agent))
    return createTradingClient(of, chain.account(trader), chain.account(agent))
  }

  it('names the chain in a file that nobody else may read', async () => {
    await run('sh', ['-e', '-c', localised(NAME_CHAIN!)], { cwd: clone })
    assert.equal(statSync(chainsFile()).mode & 0o777, 0o600)
    const { chains } = JSON.parse(readFileSync(chainsFile(), 'utf8'))
    assert.deepEqual(Object.keys(chains), [CHAIN])
    assert.deepEqual([chains[CHAIN].writes, chains[CHAIN].startBlock], [false, undefined])
  })

  it('checks the set-up, and finds nothing to mend', async () => {
    const command = localised(CHECK!).replace('npx --no bezel-server', `"${process.execPath}" "$CHECKER"`)
    const env = { ...process.env, CHECKER: join(ROOT, 'packages/server/bezel-server.mjs') }
    const { stdout } = await run('sh', ['-e', '-c', command], { cwd: clone, env })
    assert.match(stdout, /\n {4}✓ finalized +The finalized block is \d+ blocks? behind the newest one\.\n/)
    assert.match(stdout, /\n(?:All is well|Nothing must be mended, .*)\.\n$/)
  })

  it('leads to a service that reads what is there, and writes nothing', async () => {
    await start()
    const reads = [START!.split('\n')[1]!, ...READ!.trim().split('\n')]
    const answers = []
    for (const read of reads) answers.push(JSON.parse((await run('sh', ['-c', localised(read)])).stdout))
    const [ready, info, market] = answers
    assert.equal(ready.ready, true)
    assert.deepEqual([info.signing.domain.name, Number.isSafeInteger(info.knownSince.block)], ['My Trading API', true])
    assert.equal(market.symbol, 'BTC/USD')
    const reader = await client('trader-1', 'agent-1')
    const { status, body } = await reader.request('createOrder', 'POST', '/orders', MARKET)
    assert.deepEqual([status, body.code], [422, 'UNSUPPORTED'])
    assert.equal((await reader.account('/positions', 'listPositions')).status, 200)
  })

  it('leads to a service with writes', async () => {
    await service!.stop()
    writeFileSync(chainsFile(), readFileSync(chainsFile(), 'utf8').replace('"writes": false', '"writes": true'))
    await start()
    await (await client('trader-1', 'agent-1')).trade(MARKET, 'filled')
  })

  it('refuses the Diamond of the live chain on a node that has none, in one sentence', async () => {
    const file = JSON.parse(readFileSync(chainsFile(), 'utf8'))
    file.chains[CHAIN].diamond = JSON.parse(readFileSync(join(ROOT, 'chains/live.json'), 'utf8')).chains[CHAIN].diamond
    const path = join(devnet.folder, 'wrong.json')
    writeFileSync(path, JSON.stringify(file))
    const env = { ...process.env, ...settings(), PORT: '0', BEZEL_CHAINS_FILE: path, BEZEL_DATA: join(clone, 'data') }
    const ended = run(process.execPath, [join(ROOT, 'packages/server/src/main.ts')], { env })
    await assert.rejects(ended, /There is no contract at 0xd659\w+ on arbitrum-sepolia: correct the diamond/)
  })
})
