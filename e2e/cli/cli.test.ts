import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { diamondAbi, Price } from '@bezel/protocol'
import { formatUnits, parseUnits, type Hex } from 'viem'
import { decryptKeystore, encryptKeystore } from '../../packages/cli/src/keys/keystore.ts'
import { readKeystoreFile } from '../../packages/cli/src/keys/keystoreFile.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { BEZEL, createBezelCommand, SLOWER_CHAIN, type BezelCommand, type RunningBezel } from './bezelCommand.ts'

const PASSWORD = 'correct horse battery'

describe('the command line, from a new key to a closed position', () => {
  let world: TradingWorld
  let bezel: BezelCommand
  let watching: RunningBezel
  let agent: string
  let agentKey: Hex
  /** The environment, as a user would set it once in a shell. */
  let env: Record<string, string>
  const orderIds: string[] = []

  before(async () => {
    world = await startTradingWorld({ devnet: SLOWER_CHAIN })
    bezel = createBezelCommand(world)
    const passwordFile = join(bezel.home, 'password')
    writeFileSync(passwordFile, `${PASSWORD}\n`)
    env = { BEZEL_KEYSTORE: join(bezel.home, 'agent.json'), BEZEL_KEYSTORE_PASSWORD_FILE: passwordFile }
  })
  after(async () => {
    bezel?.close()
    await world?.stop()
  })

  it('runs as a program, from its link in node_modules too, on whatever node the shell has', async () => {
    const link = new URL('../../node_modules/.bin/bezel', import.meta.url).pathname
    for (const program of [link, BEZEL]) {
      const { stdout } = await promisify(execFile)(program, ['--version'], {
        env: { PATH: process.env['PATH'] },
      })
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    }
  })

  it('lists markets and prices without a key', async () => {
    const table = await bezel.run('markets BTC/USD eth')
    assert.equal(table.code, 0)
    assert.match(table.stdout, /^MARKET +MARK +STATE.*\nBTC\/USD +60000 +open +crypto .*\nETH\/USD /)
    const markets = await bezel.run('markets --json')
    assert.ok(markets.json.some(({ symbol }: { symbol: string }) => symbol === 'BTC/USD'))
    const once = await bezel.run('price btc --once --json')
    assert.equal(once.json[0].market, 'BTC/USD')
    assert.equal(once.json[0].mark, '60000')
  })

  it('shows prices as they change', async () => {
    const running = bezel.spawn('price BTC/USD --json')
    await running.until((stdout) => stdout.includes('"60000"'))
    await world.setPrice(60_100)
    await running.until((stdout) => stdout.includes('"60100"'))
    running.interrupt()
    const { code, json } = await running.ended
    assert.equal(code, 0)
    assert.ok(json.length >= 2 && json.every(({ market }: { market: string }) => market === 'BTC/USD'))
    await world.setPrice(60_000)
  })

  it('makes a key that only its file holds', async () => {
    const made = await bezel.run(['agent', 'new', env['BEZEL_KEYSTORE']!, '--json'], {
      BEZEL_KEYSTORE_PASSWORD: PASSWORD,
    })
    assert.equal(made.code, 0, made.stderr)
    assert.deepEqual(Object.keys(made.json), ['address', 'keystore'])
    agent = made.json.address
    const path = env['BEZEL_KEYSTORE']!
    assert.equal(made.json.keystore, path)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).address, agent.slice(2).toLowerCase())
    const again = await bezel.run(['agent', 'new', path], { BEZEL_KEYSTORE_PASSWORD: PASSWORD })
    assert.equal(again.code, 2)
    assert.match(again.stderr, /is there already/)
    agentKey = await decryptKeystore(readKeystoreFile(path), PASSWORD)
    // Unlocking takes a second of computing each time by design: from here on the same key is kept at a lower cost.
    writeFileSync(path, JSON.stringify(await encryptKeystore(agentKey, PASSWORD, { n: 1024 })))
  })

  it('authorises it, on the chain too', async () => {
    const unknown = await bezel.run('agent status --json', env)
    assert.equal(unknown.code, 3)
    assert.equal(unknown.json.error.code, 'AGENT_NOT_FOUND')
    const done = await bezel.run('agent authorise --name bot --max-leverage 50 --expires 30d --json', env)
    assert.equal(done.code, 0, done.stderr)
    assert.equal(done.json.agent.agent, agent)
    assert.equal(done.json.agent.status, 'active')
    assert.match(done.json.delegationTx, /^0x[0-9a-f]{64}$/)
    assert.match(done.stderr, /Making it the delegate.*\n.*the local chain gave it some/s)
    const status = await bezel.run('agent status', env)
    assert.equal(status.code, 0, status.stderr)
    assert.match(status.stdout, /Status +active\n/)
    assert.match(status.stdout, /Leverage +up to 50x\n/)
    assert.match(status.stdout, /For fees +100 native coins\n/)
  })

  it('orders, and shows how it goes until it is filled', async () => {
    const line = 'order BTC/USD long 0.02 --leverage 10 --tp 70000 --sl 56000 --json'
    const done = await bezel.spawn(line, env).ended
    assert.equal(done.code, 0, done.stderr)
    assert.equal(done.json.status, 'filled')
    assert.equal(done.json.tp, '70000')
    assert.match(done.stderr, /^Ordering BTC\/USD long 0\.02\nOrder \d+: .*\nOrder \d+: filled\n$/s)
    orderIds.push(done.json.id)
    watching = bezel.start('watch --after 0 --json', env)
  })

  it('shows the position, and closes a part and the rest of it', async () => {
    const table = await bezel.run('positions', env)
    assert.match(table.stdout, /^ID +MARKET +SIDE +SIZE.*\n\d+ +BTC\/USD +long +0\.0[12]\d* +10x /)
    const list = await bezel.run('positions --json', env)
    const { id } = list.json[0]
    const stopped = await bezel.run(`change ${id} --sl 57000 --json`, env)
    assert.equal(stopped.json.position?.sl, '57000', stopped.stderr)
    const lowered = await bezel.run(`change ${id} --leverage 5`, env)
    assert.equal(lowered.code, 0, lowered.stderr)
    assert.match(lowered.stdout, /^Position +\d+ BTC\/USD long 0\.0[12]\d* at 5x\n.*Account +0x\w{40} \(trader-1\)\n$/s)
    const part = await bezel.run(`close ${id} --size 0.01 --json`, env)
    assert.equal(part.json.status, 'filled', part.stderr)
    const books = await bezel.run('fills --all', env)
    assert.match(
      books.stderr,
      /^Books in USDC: deposits \S+ - payouts \S+ = \S+ in positions - net -\S+: they balance$/m,
    )
    const rest = await bezel.run(`close ${id}`, env)
    assert.equal(rest.code, 0, rest.stderr)
    assert.match(
      rest.stdout,
      /^Order +\d+ filled\n.*reduce only\nFilled +0\.\d+ at .*Account +0x\w{40} \(trader-1\)\n$/s,
    )
    orderIds.push(part.json.id, /\d+/.exec(rest.stdout)![0])
    const none = await bezel.run('positions', env)
    assert.match(none.stdout, /^There are no open positions\.\n\nAccount 0x\w{40} \(trader-1\)\n$/)
  })

  it('tells what each fill cost, and adds it up', async () => {
    const { json, stderr } = await bezel.run('fills --all --json', env)
    assert.deepEqual(
      json.map(({ action }: { action: string }) => action),
      ['TradeClosedMarket', 'TradePosSizeDecrease', 'TradeLeverageUpdate', 'TradeOpenedMarket'],
    )
    const units = (text: string): bigint => parseUnits(text, 6)
    const sum = (field: string): bigint =>
      json.reduce((total: bigint, fill: Record<string, string>) => total + units(fill[field]!), 0n)
    assert.equal(sum('netPnl'), sum('payout') - sum('deposit'))
    assert.ok(stderr.includes(`Net of 4 entries: ${formatUnits(sum('netPnl'), 6)} USDC, fees `), stderr)
    assert.match(stderr, /^Books in USDC: .* = 0 in positions - net .*: they balance$/m)
    const table = await bezel.run('fills --limit 1', env)
    assert.doesNotMatch(table.stderr, /Books/)
    assert.match(table.stdout, /^TIME +MARKET +ACTION .*\n\S+ \S+ +BTC\/USD +closed market .* USDC.*\n\nAccount 0x/)
  })

  it('tells the changes of rights', async () => {
    const { json } = await bezel.run('audit --json', env)
    assert.ok(
      json.some(({ kind }: { kind: string }) => kind === 'agent_added'),
      JSON.stringify(json),
    )
    const table = await bezel.run('audit --limit 1', env)
    assert.match(table.stdout, /^TIME +EVENT +AGENT .*\n\S+ \S+ +(?:agent|delegation|key) \w+ .*\n\nAccount 0x/)
  })

  it('rests an order, lists it and cancels it', async () => {
    const placed = await bezel.run('order btc-usd long 0.02 --leverage 10 --limit 50000 --client-id rest-1 --json', env)
    assert.equal(placed.code, 0, placed.stderr)
    assert.equal(placed.json.status, 'open')
    const again = await bezel.run('order btc-usd long 0.02 --leverage 10 --limit 50000 --client-id rest-1 --json', env)
    assert.equal(again.json.id, placed.json.id)
    const list = await bezel.run('orders --json', env)
    assert.deepEqual(
      list.json.map(({ id }: { id: string }) => id),
      [placed.json.id],
    )
    const amended = await bezel.run(`amend ${placed.json.id} --price 51000 --json`, env)
    assert.deepEqual([amended.json.status, amended.json.price], ['open', '51000'], amended.stderr)
    const canceled = await bezel.run(`cancel ${placed.json.id} --json`, env)
    assert.equal(canceled.code, 0, canceled.stderr)
    assert.equal(canceled.json.status, 'canceled')
    assert.match((await bezel.run('orders', env)).stdout, /^There are no orders\.\n\nAccount 0x\w{40} \(trader-1\)\n$/)
    const history = await bezel.run('orders --history', env)
    assert.match(history.stdout, /limit +0\.02 +51000 .* canceled /)
    orderIds.push(placed.json.id)
  })

  /** Reads the stop losses of trader-1 from the Diamond itself. */
  async function chainStops(): Promise<readonly string[]> {
    const { client, diamond, account } = world.chain
    const args = [account('trader-1').address] as const
    const trades = await client.readContract({ address: diamond, abi: diamondAbi, functionName: 'getTrades', args })
    return trades.map(({ sl }) => Price.format(Price.of(sl)))
  }

  it('amends a stop that the contracts clamp, also to where it is already, and names its value', async () => {
    const placed = await bezel.run('order BTC/USD long 0.02 --leverage 10 --limit 50000 --sl 30000 --json', env)
    assert.equal(placed.code, 0, placed.stderr)
    const { id, sl } = placed.json
    assert.deepEqual(await chainStops(), [sl])
    // Both stops are farther away than the contracts allow, so the order keeps the stop that it has.
    const amended = await bezel.run(`amend ${id} --sl 40000 --json`, env)
    assert.deepEqual([amended.code, amended.json.status, amended.json.sl], [0, 'open', sl], amended.stderr)
    const [warning, ...others] = amended.json.warnings
    assert.deepEqual([warning.code, warning.asked, warning.value, others], ['sl_clamped', '40000', sl, []])
    const text = await bezel.run(`amend ${id} --sl 41000`, env)
    assert.equal(text.code, 0, text.stderr)
    assert.match(text.stdout, new RegExp(`^Order +${id} open\\n.*Stop loss +${sl}\\n`, 's'))
    assert.match(text.stderr, new RegExp(`^Warning: .*${sl}`, 'm'))
    assert.deepEqual(await chainStops(), [sl])
    const canceled = await bezel.run(`cancel ${id} --json`, env)
    assert.equal(canceled.json.status, 'canceled', canceled.stderr)
  })

  it('names an allowance that is missing, and sets it', async () => {
    const allowed = await bezel.run('approve USDC 1.5 --json', env)
    assert.equal(allowed.code, 0, allowed.stderr)
    assert.equal(allowed.json.allowance, '1.5')
    const refused = await bezel.run('order BTC/USD long 0.02 --leverage 10 --limit 50000', env)
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /lets the Diamond take 1\.5\. Allow it with bezel approve USDC 100\.?\d*,/)
    const enough = await bezel.run('approve USDC 1000000', env)
    assert.match(enough.stdout, /^Allowance +1000000 USDC\n.*Account +0x\w{40} \(trader-1\)\n$/s)
  })

  it('has watched all of it, each event once and in order', async () => {
    const [last] = orderIds.slice(-1)
    await watching.until((stdout) =>
      stdout.split('\n').some((line) => line.includes(`"id":"${last}"`) && line.includes('"canceled"')),
    )
    watching.interrupt()
    const { code, json: events } = await watching.ended
    assert.equal(code, 0)
    assert.deepEqual(
      events.map(({ seq }: { seq: number }) => seq),
      events.map((_: unknown, place: number) => place + 1),
    )
    const filled = events
      .filter((event: { channel: string }) => event.channel === 'fills')
      .map((event: { data: { id: string } }) => event.data.id)
    assert.deepEqual(filled, orderIds.slice(0, 3))
    assert.ok(events.some((event: { channel: string }) => event.channel === 'positions'))
  })

  it('stops waiting at Ctrl-C or when the time is over, and says what is still open', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const running = bezel.spawn('order BTC/USD short 0.02 --leverage 5', env)
    await running.until((_, stderr) => stderr.includes('waiting for the oracle'))
    running.interrupt()
    const stopped = await running.ended
    assert.equal(stopped.code, 130)
    assert.match(
      stopped.stderr,
      /Stopped waiting\. Order \d+ was last seen pending and goes on by itself.*bezel cancel \d+/,
    )
    const late = await bezel.run('order BTC/USD short 0.02 --leverage 5 --timeout 1 --json', env)
    assert.equal(late.code, 5)
    assert.equal(late.json.error.code, 'FILL_TIMEOUT')
    assert.equal(late.json.error.details.order.status, 'pending')
    await world.chain.control('bezel_pauseOracle', false)
  })

  it('issues a key that can read the account and nothing else', async () => {
    const issued = await bezel.run('key issue --label test --json', env)
    assert.equal(issued.code, 0, issued.stderr)
    const byKey = { BEZEL_API_KEY: issued.json.apiKey, BEZEL_TRADER: issued.json.trader }
    const account = await bezel.run('account --json', byKey)
    assert.equal(account.code, 0, account.stderr)
    assert.equal(account.json.address, issued.json.trader)
    assert.ok(account.json.agents.some((entry: { agent: string }) => entry.agent === agent))
    const table = await bezel.run('account', byKey)
    assert.match(table.stdout, /TOKEN +BALANCE +ALLOWANCE\n.*USDC +[\d.]+ +[\d.]+\n/s)
    const wrong = await bezel.run('account --json', { ...byKey, BEZEL_API_KEY: 'bz_nobody' })
    assert.equal(wrong.code, 3)
    assert.equal(wrong.json.error.code, 'API_KEY_UNKNOWN')
    assert.doesNotMatch(wrong.stderr, /bz_nobody/)
  })

  it('revokes the agent, which can do nothing from then on', async () => {
    const revoked = await bezel.run('agent revoke --json', env)
    assert.equal(revoked.code, 0, revoked.stderr)
    assert.match(revoked.json.txHash, /^0x[0-9a-f]{64}$/)
    assert.equal((await bezel.run('agent status --json', env)).json.agent.status, 'revoked')
    const refused = await bezel.run('order BTC/USD long 0.02 --leverage 10 --json', env)
    assert.equal(refused.code, 3)
    assert.equal(refused.json.error.code, 'AGENT_REVOKED')
    assert.match(refused.stderr, /bezel agent authorise/)
  })

  it('has printed no key, no password and no stack', () => {
    bezel.assertDiscreet([PASSWORD, agentKey, ...world.devnet.file.accounts.map(({ privateKey }) => privateKey)])
  })
})
