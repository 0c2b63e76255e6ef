import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { diamondAbi, Price } from '@bezel/protocol'
import { formatUnits, parseUnits, type Hex } from 'viem'
import { decryptKeystore, encryptKeystore, readKeystoreFile } from '../../packages/cli/src/keys/keystore.ts'
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
    assert.match(table.stdout, /^MARKET +MARK +STATE.* MIN FEE .*\nBTC\/USD +60000 +open +crypto .*\nETH\/USD /)
    const { json: sold } = await bezel.run('markets btc --json')
    const minFee = Number(sold[0].fees.openFeeRate) * Number(sold[0].fees.minPositionSizeUsd)
    assert.match(table.stdout, new RegExp(`^BTC/USD .* % +${Number(minFee.toFixed(2))} `, 'm'))
    const markets = await bezel.run('markets --json')
    assert.ok(markets.json.some(({ symbol }: { symbol: string }) => symbol === 'BTC/USD'))
    const once = await bezel.run('price btc --once --json')
    assert.equal(once.json[0].market, 'BTC/USD')
    assert.equal(once.json[0].mark, '60000')
  })

  it('shows the depth, the candles and the rates of a market', async () => {
    const book = await bezel.run('book btc --levels 2')
    assert.match(book.stdout, /^SIDE +PRICE .*\n(?:ask .*\n){2}(?:bid .*\n){2}\nBTC\/USD, mark 60000\n$/)
    const { json: levels } = await bezel.run('book btc --levels 2 --json')
    assert.deepEqual([levels.asks.length, levels.bids.length, levels.markPrice], [2, 2, '60000'])
    const candles = await bezel.run('candles BTC/USD --interval 1m --limit 3 --json')
    assert.ok(candles.json.length > 0 && candles.json.length <= 3, candles.stderr)
    assert.equal(candles.json.at(-1).close, '60000')
    const funding = await bezel.run('funding btc --json')
    assert.deepEqual([funding.json.length, funding.json[0].market], [1, 'BTC/USD'])
    assert.match((await bezel.run('funding btc')).stdout, /^MARKET +LONGS PAY .*\nBTC\/USD +\S+ % /)
    const unknown = await bezel.run('book BTX/USD --json')
    assert.deepEqual([unknown.code, unknown.json.error.code], [3, 'MARKET_NOT_FOUND'])
  })

  it('makes a completion script that knows the markets', async () => {
    const { stdout, stderr } = await bezel.run('completion bash')
    assert.match(stdout, /^BTC\/USD$/m)
    assert.equal(stderr, '')
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
    const unlisted = await bezel.run('agent authorise --markets ETH/USD,BTC/USDX --json', env)
    assert.deepEqual([unlisted.code, unlisted.json.error.code], [2, 'USAGE'])
    assert.match(unlisted.stderr, /^--markets: There is no market BTC\/USDX on this chain\. Did you mean BTC\/USD\?$/m)
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
    const again = await bezel.run('agent delegate --json', env)
    assert.deepEqual([again.code, again.json.delegationTx, again.json.agent.status], [0, null, 'active'], again.stderr)
    const tooHigh = await bezel.run('order BTC/USD long 0.02 --leverage 60 --json', env)
    assert.deepEqual([tooHigh.code, tooHigh.json.error.code], [3, 'SCOPE_LEVERAGE_EXCEEDED'])
    assert.match(
      tooHigh.json.error.message,
      /up to 50x, and this is 60x\. .* bezel agent authorise --max-leverage 60 \.\.\.$/,
    )
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
    const stopped = await bezel.run(`set ${id} --sl 57000 --json`, env)
    assert.equal(stopped.json.position?.sl, '57000', stopped.stderr)
    const lowered = await bezel.run(`set ${id} --leverage 5`, env)
    assert.equal(lowered.code, 0, lowered.stderr)
    assert.match(lowered.stdout, /^Position +\d+ BTC\/USD long 0\.0[12]\d* at 5x\n.*Account +0x\w{40} \(trader-1\)\n$/s)
    const part = await bezel.run(`close ${id} --size 0.01 --json`, env)
    assert.equal(part.json.status, 'filled', part.stderr)
    const books = await bezel.run('fills --all', env)
    assert.match(
      books.stderr,
      /^Books in USDC: deposits \S+ - payouts \S+ = \S+ in positions \+ \S+ lost: they balance$/m,
    )
    assert.match(books.stdout, /partly closed .*\n.*leverage changed .*\n.*opened at market /)
    const rest = await bezel.run(`close ${id}`, env)
    assert.equal(rest.code, 0, rest.stderr)
    assert.match(
      rest.stdout,
      /^Order +\d+ filled\n.*reduce only\nFilled +0\.\d+ at .*Account +0x\w{40} \(trader-1\)\n$/s,
    )
    orderIds.push(part.json.id, /\d+/.exec(rest.stdout)![0])
    const none = await bezel.run('positions', env)
    assert.match(none.stdout, /^There are no open positions\.\n\nAccount 0x\w{40} \(trader-1\)\n$/)
    const flat = await bezel.run('flatten', env)
    assert.match(flat.stdout, /^There was nothing to end\.\n/)
    assert.doesNotMatch(flat.stderr, /Waiting/)
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
    assert.ok(
      stderr.includes(`Net of 4 entries: ${formatUnits(sum('netPnl'), 6)} USDC, fees with funding and borrowing `),
      stderr,
    )
    assert.match(stderr, /^Books in USDC: .* = 0 in positions \+ \S+ lost: they balance$/m)
    const table = await bezel.run('fills --limit 1', env)
    assert.doesNotMatch(table.stderr, /Books/)
    assert.match(table.stdout, /^TIME +MARKET +ACTION .*\n\S+ \S+ +BTC\/USD +closed at market .* USDC.*\n\nAccount 0x/)
  })

  it('exports books in CSV that balance', async () => {
    const folder = join(bezel.home, 'books')
    const done = await bezel.run(['export', folder, '--json'], env)
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stderr, /^Books in USDC: .*: they balance$/m)
    const cellsOf = (name: string): string[][] =>
      readFileSync(join(folder, name), 'utf8')
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','))
    const { json: fills } = await bezel.run('fills --all --json', env)
    const [titles = [], ...rows] = cellsOf('fills.csv')
    assert.deepEqual(
      rows.map((row) => row[titles.indexOf('netPnl')]),
      fills.map(({ netPnl }: { netPnl: string }) => netPnl),
    )
    const [names = [], sums = []] = cellsOf('books.csv')
    const books = Object.fromEntries(names.map((name, place) => [name, sums[place]]))
    assert.deepEqual([books['collateralSymbol'], books['entries'], books['difference']], ['USDC', '4', '0'])
    assert.deepEqual(
      Object.entries(done.json.books[0]).map(([name, value]) => [name, String(value)]),
      Object.entries(books),
    )
    assert.deepEqual([cellsOf('positions.csv').length, cellsOf('orders.csv').length], [1, 1])
    const file = await bezel.run(['export', env['BEZEL_KEYSTORE']!], env)
    assert.equal(file.code, 2)
    assert.match(file.stderr, /agent\.json can't be written \(\w+\)\. Name another folder\./)
  })

  it('lists notices and takes them off the list', async () => {
    const { json: told } = await bezel.run('notices --json', env)
    const [newest] = told
    assert.equal(newest.type, 'order_filled')
    const table = await bezel.run('notices', env)
    assert.match(table.stdout, new RegExp(`^ID +TIME +SEVERITY +TITLE +MESSAGE\\n${newest.id} .*\\n`))
    const one = await bezel.run(`notices dismiss ${newest.id} --json`, env)
    assert.deepEqual(one.json, { dismissed: [newest.id] }, one.stderr)
    const unknown = await bezel.run('notices dismiss 999999 --json', env)
    assert.match(unknown.stderr, /^There is no notice 999999\. bezel notices lists them\./)
    assert.equal(unknown.code, 2)
    const rest = await bezel.run('notices dismiss --all --json', env)
    assert.deepEqual(
      rest.json.dismissed,
      told.slice(1).map(({ id }: { id: number }) => id),
      rest.stderr,
    )
    assert.match((await bezel.run('notices', env)).stdout, /^There are no notices\./)
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
    const idsOf = async (line: string): Promise<string[]> =>
      (await bezel.run(line, env)).json.map(({ id }: { id: string }) => id)
    assert.deepEqual(await idsOf('orders --market btc --status open --json'), [placed.json.id])
    assert.deepEqual(await idsOf('orders --market eth --json'), [])
    assert.deepEqual(await idsOf('orders --status timed_out --json'), [])
    const amended = await bezel.run(`change ${placed.json.id} --price 51000 --json`, env)
    assert.deepEqual([amended.json.status, amended.json.price], ['open', '51000'], amended.stderr)
    const { sentTxHash, txHash } = amended.json
    assert.equal(txHash, placed.json.txHash, 'the order keeps the hash of its creation')
    assert.notEqual(sentTxHash, txHash)
    assert.equal((await world.chain.client.getTransactionReceipt({ hash: sentTxHash })).status, 'success')
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

  it('changes a stop that the contracts clamp, also to where it is already, and names its value', async () => {
    const placed = await bezel.run('order BTC/USD long 0.02 --leverage 10 --limit 50000 --sl 30000 --json', env)
    assert.equal(placed.code, 0, placed.stderr)
    const { id, sl } = placed.json
    assert.deepEqual(await chainStops(), [sl])
    // Both stops are farther away than the contracts allow, so the order keeps the stop that it has.
    const amended = await bezel.run(`change ${id} --sl 40000 --json`, env)
    assert.deepEqual([amended.code, amended.json.status, amended.json.sl], [0, 'open', sl], amended.stderr)
    const [warning, ...others] = amended.json.warnings
    assert.deepEqual([warning.code, warning.asked, warning.value, others], ['sl_clamped', '40000', sl, []])
    const text = await bezel.run(`amend ${id} --sl 41000`, env)
    assert.equal(text.code, 0, text.stderr)
    const [, shownSl, shownTx] = /^Order +\d+ open\n.*Stop loss +(\S+)\n.*Transaction +(0x\w{64})\n/s.exec(text.stdout)!
    assert.ok(Math.abs(Number(shownSl) - Number(sl)) < 1e-6, text.stdout)
    assert.ok(![placed.json.txHash, amended.json.sentTxHash].includes(shownTx), 'each change has a hash of its own')
    assert.match(text.stderr, new RegExp(`^Warning: .*${sl}`, 'm'))
    assert.deepEqual(await chainStops(), [sl])
    const canceled = await bezel.run(`cancel ${id} --json`, env)
    assert.equal(canceled.json.status, 'canceled', canceled.stderr)
  })

  it('warns of a limit order that does not rest', async () => {
    const line = 'order BTC/USD long 0.02 --leverage 10 --limit 61000'
    const shown = await bezel.run(`preview ${line}`, env)
    assert.match(shown.stdout, /^Warning +\S/m, shown.stderr)
    const { json: preview } = await bezel.run(`preview ${line} --json`, env)
    assert.deepEqual(
      preview.warnings.map(({ code }: { code: string }) => code),
      ['marketable'],
    )
  })

  it('names an allowance that is missing, and sets it', async () => {
    const allowed = await bezel.run('approve USDC 1.5 --json', env)
    assert.equal(allowed.code, 0, allowed.stderr)
    assert.equal(allowed.json.allowance, '1.5')
    const refused = await bezel.run('order BTC/USD long 0.02 --leverage 10 --limit 50000', env)
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /lets the Diamond take 1\.5\. Allow that and .*: bezel approve USDC 10\d\.?\d*$/m)
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
    const nope = await bezel.run('key revoke nope', env)
    assert.equal(nope.code, 2)
    assert.match(nope.stderr, /^0x\w{40} \(trader-1\) has no key with the label "nope"\. .* bezel key list$/m)
  })

  it('revokes the agent, which can do nothing from then on', async () => {
    const revoked = await bezel.run('agent revoke --json', env)
    assert.equal(revoked.code, 0, revoked.stderr)
    assert.match(revoked.json.txHash, /^0x[0-9a-f]{64}$/)
    await world.chain.client.waitForTransactionReceipt({ hash: revoked.json.txHash })
    const again = await bezel.run('agent revoke --json', env)
    assert.deepEqual([again.code, again.json.txHash], [0, null], again.stderr)
    assert.match(again.stderr, /^It is not the delegate on the chain, so nothing was sent there\.$/m)
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
