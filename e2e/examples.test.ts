import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import type { BezelClient, FillHistoryEntry } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { startExample, type RunningExample } from './examples/startExample.ts'
import { startForgetfulProxy } from './examples/startForgetfulProxy.ts'
import { call } from '@bezel/testkit/agentClient.ts'
import { P10 } from '@bezel/testkit/chainClient.ts'
import { SOON, startSdkWorld, type SdkWorld } from './sdk/sdkWorld.ts'

const SECRET = 'only the charts know this'
const RESTING_LIMIT = 1

let world: SdkWorld
let folder: string
let running: RunningExample[] = []
before(async () => {
  // The port stays the same after a crash, so that programs find the service again.
  world = await startSdkWorld({
    devnet: { DEVNET_BLOCK_MS: '200' },
    service: { PORT: String(await lastingPort()) },
  })
  folder = mkdtempSync(join(tmpdir(), 'bezel-examples-'))
})
afterEach(async () => {
  await Promise.all(running.map((example) => example.kill()))
  running = []
  await world.chain.control('bezel_pauseKeeper', false)
  await world.setPrice(60_000)
})
after(async () => {
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function start(command: readonly [string, ...string[]], settings: Record<string, string> = {}): RunningExample {
  const example = startExample(world, command, settings)
  running.push(example)
  return example
}

/** Reads a trader's positions and resting orders from the Diamond. */
function tradesOf(trader: string) {
  const { address } = world.chain.account(trader)
  const { client, diamond } = world.chain
  return client.readContract({ address: diamond, abi: diamondAbi, functionName: 'getTrades', args: [address] })
}

/** Returns the prices of resting limit orders with their side, as `long 59700`. */
async function quotesOf(trader: string): Promise<string[]> {
  const limits = (await tradesOf(trader)).filter(({ tradeType }) => tradeType === RESTING_LIMIT)
  return limits.map(({ long, openPrice }) => `${long ? 'long' : 'short'} ${Number(openPrice) / Number(P10)}`).toSorted()
}

async function markOf(market: string): Promise<string | undefined> {
  const prices = await world.sdkClient('agent-1').markets.prices()
  return prices.find((price) => price.market === market)?.mark
}

describe('the runner of the examples', () => {
  it('names them when it is asked for none of them', async () => {
    for (const name of ['devnet', '../package', 'nope']) {
      const example = start([name])
      assert.match(await example.line(/^Which example/), /copyTrader, firstTrade, marketMaker, portfolioExport, web/)
      assert.equal(await example.ended, 1)
    }
  })

  it('hands over to the installed node when its own is too old', async (t) => {
    const installed = new URL('../node_modules/.bin/node', import.meta.url)
    if (!existsSync(installed)) return t.skip('on this system node is not installed with the packages')
    const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.19.0"}})'
    const command = ['webhookReceiver', '--port', '0'] as const
    const example = startExample(world, command, { ALERT_SECRET: SECRET }, ['--import', old])
    running.push(example)
    await example.line(/^listening at http/)
    example.signal('SIGTERM')
    return assert.equal(await example.ended, 0)
  })

  it('says what to do when no local chain runs', async () => {
    const example = start(['portfolioExport'], { BEZEL_DATA: folder })
    await example.line(/devnet\.json can't be read \(ENOENT\): run npm start/)
    assert.equal(await example.ended, 1)
    assert.equal(example.lines.length, 1)
  })
})

describe('the market maker', () => {
  const QUICK = ['marketMaker', '--pause-ms', '0'] as const

  it('quotes both sides, follows the price over a crash of the service, and cancels in the end', async () => {
    // The price jumps over quotes, and they are to be moved, however late their maker is.
    await world.chain.control('bezel_pauseKeeper', true)
    const example = start([...QUICK, '--rounds', '3'])
    await example.line(/^round 1: quoted around 60000$/)
    assert.deepEqual(await quotesOf('trader-2'), ['long 59700', 'short 60300'])

    // The first move is below the threshold of 10 basis points, the second above it.
    await world.setPrice(60_050)
    await until('the price is told', async () => (await markOf('BTC/USD')) === '60050')
    await world.setPrice(61_000)
    await example.line(/^round 2: quoted around 61000$/)
    assert.deepEqual(await quotesOf('trader-2'), ['long 60695', 'short 61305'])

    await world.crash()
    await example.line(/^the stream is away/)
    await example.line(/^the stream is open/)
    await world.setPrice(62_000)
    await example.line(/^long order \d+ moved from 60695 to 61690$/)
    await example.line(/^no order is left$/)
    assert.equal(await example.ended, 0)
    assert.deepEqual(await quotesOf('trader-2'), [])
  })

  it('takes over what an earlier run left, quotes anew after a fill, and cancels on Ctrl-C', async () => {
    const killed = start(QUICK)
    await killed.line(/^round 1:/)
    await killed.kill()
    assert.deepEqual(await quotesOf('trader-2'), ['long 59700', 'short 60300'])
    const example = start(QUICK)
    await example.line(/^round 1:/)
    assert.deepEqual(await quotesOf('trader-2'), ['long 59700', 'short 60300'])

    // The keeper fills the buy; its take profit is the mark at the time of the quote.
    await world.setPrice(59_690)
    await example.line(/^long order \d+ is filled$/)
    await until('both sides are quoted again', async () => {
      const quotes = await quotesOf('trader-2')
      return quotes.length === 2 && quotes[0] === 'long 59391.55'
    })
    const [bought] = (await tradesOf('trader-2')).filter(({ tradeType }) => tradeType !== RESTING_LIMIT)
    assert.deepEqual([bought?.long, bought?.tp], [true, 60_000n * P10])

    example.signal('SIGINT')
    await example.line(/^no order is left$/)
    assert.equal(await example.ended, 0)
    assert.deepEqual(await quotesOf('trader-2'), [])
  })
})

describe('the webhook receiver', () => {
  const ALERT = { secret: SECRET, id: 'breakout-1', market: 'BTC/USD', side: 'long', size: '0.02', leverage: '5' }

  async function startReceiver(settings: Record<string, string> = {}): Promise<{
    example: RunningExample
    post: (body: unknown) => ReturnType<typeof call>
  }> {
    const example = start(['webhookReceiver', '--port', '0'], { ALERT_SECRET: SECRET, ...settings })
    const address = (await example.line(/^listening at http/)).replace('listening at ', '')
    const { origin, pathname } = new URL(address)
    const post = (body: unknown) =>
      call(origin, pathname, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
    return { example, post }
  }

  it('makes one order of an alert, however often it comes', async () => {
    const { example, post } = await startReceiver()
    const answers = await Promise.all([post(ALERT), post(ALERT)])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]))
    const [{ body }, again] = [answers[0]!, answers[1]!]
    assert.equal(again.body.orderId, body.orderId)
    await example.line(new RegExp(`^alert breakout-1: order ${body.orderId} filled, 0\\.0\\d+ at `))
    assert.equal((await post(ALERT)).body.orderId, body.orderId)
    const trades = await tradesOf('trader-3')
    assert.equal(trades.length, 1)
    assert.equal(trades[0]!.long, true)
    const changed = await post({ ...ALERT, size: '0.03' })
    assert.deepEqual([changed.status, changed.body.code], [422, 'IDEMPOTENCY_CONFLICT'])
    assert.equal((await tradesOf('trader-3')).length, 1)
  })

  it('sends an order once, also when the service never hears that it was sent', async () => {
    const proxy = await startForgetfulProxy(world.url(), (path) => path.endsWith('/submit'))
    try {
      const count = (await tradesOf('trader-3')).length
      const { example, post } = await startReceiver({ BEZEL_URL: proxy.url })
      const alert = { ...ALERT, id: 'unheard' }
      const { status, body } = await post(alert)
      assert.equal(status, 202)
      assert.equal((await post(alert)).body.orderId, body.orderId)
      await example.line(new RegExp(`^alert unheard: order ${body.orderId} filled, `))
      assert.ok(proxy.lost() >= 1)
      assert.equal((await tradesOf('trader-3')).length, count + 1)
    } finally {
      await proxy.close()
    }
  })

  it('refuses what is not an alert of ours, or more than its agent may do', async () => {
    const { example, post } = await startReceiver()
    const refusals: [unknown, number, string][] = [
      [{ ...ALERT, id: 'x', secret: 'a guess' }, 401, 'WRONG_SECRET'],
      [{ ...ALERT, id: 'x', secret: undefined }, 401, 'WRONG_SECRET'],
      ['{"secret":', 400, 'INVALID_JSON'],
      ['null', 400, 'INVALID_JSON'],
      [{ ...ALERT, id: 7 }, 400, 'VALIDATION_ERROR'],
      [{ ...ALERT, id: 'x', size: undefined }, 400, 'VALIDATION_ERROR'],
      [{ ...ALERT, id: 'x', note: 'n'.repeat(5_000) }, 413, 'PAYLOAD_TOO_LARGE'],
      [{ ...ALERT, id: 'x', leverage: '11' }, 422, 'SCOPE_LEVERAGE_EXCEEDED'],
      [{ ...ALERT, id: 'x', side: 'up' }, 422, 'VALIDATION_ERROR'],
    ]
    const count = (await tradesOf('trader-3')).length
    for (const [alert, status, code] of refusals) {
      const answer = await post(alert)
      assert.deepEqual([answer.status, answer.body.code], [status, code], JSON.stringify(alert).slice(0, 100))
    }
    assert.equal((await tradesOf('trader-3')).length, count)
    assert.ok(!example.lines.some((text) => text.includes(SECRET)))
    example.signal('SIGTERM')
    assert.equal(await example.ended, 0)
  })

  it('does not start with a wrong option or without a secret', async () => {
    const misused = start(['webhookReceiver', '--prot', '8090'], { ALERT_SECRET: SECRET })
    await misused.line(/^Unknown option '--prot'/)
    assert.deepEqual([await misused.ended, misused.lines.length], [1, 1])
    const example = start(['webhookReceiver'], { ALERT_SECRET: 'short' })
    await example.line(/^Set ALERT_SECRET to 16 or more characters/)
    assert.equal(await example.ended, 1)
  })
})

describe('the copy trader', () => {
  const MARKET = { market: 'BTC/USD', side: 'short', type: 'market', size: '0.04', leverage: '20' } as const

  it('opens, reduces and closes what its leader does, at its ratio and leverage, over a restart', async () => {
    const { client: leader } = await world.sdkAccount('trader-1', 'agent-1')
    const earlier = await (await leader.orders.create(MARKET)).waitForFill(SOON)
    const command = ['copyTrader', '--ratio', '0.5', '--state', join(folder, 'copy.json')] as const
    const first = start(command)
    await first.line(/^following 0x/)
    const opened = await (await leader.orders.create(MARKET)).waitForFill(SOON)
    await first.line(new RegExp(`^copied order ${opened.id}: short 0\\.0\\d+ BTC/USD at `))
    const [copy, ...others] = await tradesOf('trader-4')
    assert.deepEqual([copy?.long, copy?.leverage, others.length], [false, 5_000, 0])
    const [original] = (await tradesOf('trader-1')).slice(-1)
    const share = Number(copy!.positionSizeToken) / Number(original!.positionSizeToken)
    assert.ok(Math.abs(share - 0.5) < 0.01, String(share))

    const id = opened.fill.positionId!
    await (await leader.positions.close(id, { size: '0.02' })).waitForFill(SOON)
    await first.line(/^closed 0\.0\d+ of position \d+ at /)
    const [reduced] = await tradesOf('trader-4')
    assert.ok(reduced!.positionSizeToken < (copy!.positionSizeToken * 6n) / 10n)
    first.signal('SIGINT')
    assert.equal(await first.ended, 0)

    await (await leader.positions.close(id)).waitForFill(SOON)
    assert.equal((await tradesOf('trader-4')).length, 1)
    const second = start(command)
    await second.line(/^closed 0\.0\d+ of position \d+ at /)
    assert.deepEqual(await tradesOf('trader-4'), [])
    assert.ok(!second.lines.some((text) => text.startsWith('copied')))
    second.signal('SIGINT')
    assert.equal(await second.ended, 0)
    await (await leader.positions.close(earlier.fill.positionId!)).waitForFill(SOON)
  })

  it('opens nothing that is too old, and forgets the place in a log that is gone', async () => {
    const { client: leader } = await world.sdkAccount('trader-1', 'agent-1')
    const state = join(folder, 'old.json')
    const command = ['copyTrader', '--max-age-s', '0', '--state', state] as const
    // The state of an earlier chain, as it is after `npm start`, which makes a fresh chain.
    writeFileSync(state, JSON.stringify({ leader: await leader.trader(), seq: 1_000_000, copies: { 7: '9' } }))
    const last = (await leader.account.events({ limit: 1 })).lastSeq
    const example = start(command)
    await example.line(new RegExp(`^following 0x\\w{40} after event ${last}$`))
    const opened = await (await leader.orders.create(MARKET)).waitForFill(SOON)
    await example.line(new RegExp(`^order ${opened.id} is too old to copy$`))
    await (await leader.positions.close(opened.fill.positionId!)).waitForFill(SOON)
    const { lastSeq } = await leader.account.events({ limit: 1 })
    const kept = () => JSON.parse(readFileSync(state, 'utf8'))
    await until('the place is kept', () => kept().seq === lastSeq)
    assert.deepEqual(kept().copies, {})
    assert.deepEqual(await tradesOf('trader-4'), [])
  })
})

describe('the portfolio export', () => {
  /** Parses RFC 4180 CSV, independently of the writer. */
  function parseCsv(text: string): Record<string, string>[] {
    assert.ok(text.endsWith('\r\n'))
    const rows: string[][] = [[]]
    for (const [, cell, end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
      rows.at(-1)!.push(cell!.startsWith('"') ? cell!.slice(1, -1).replaceAll('""', '"') : cell!)
      if (end === '\r\n') rows.push([])
    }
    const [head, ...body] = rows.slice(0, -1)
    return body.map((cells) => {
      assert.equal(cells.length, head!.length)
      return Object.fromEntries(head!.map((column, index) => [column, cells[index]!]))
    })
  }

  function assertSame(row: Record<string, string>, record: object): void {
    for (const [column, cell] of Object.entries(row)) {
      const value = (record as Record<string, unknown>)[column]
      assert.notEqual(value, undefined, column)
      const isTime = column === 'timestamp' || column === 'createdAt'
      assert.equal(cell, isTime ? new Date(value as number).toISOString() : String(value ?? ''), column)
    }
  }

  async function trade(client: BezelClient): Promise<void> {
    const request = { market: 'BTC/USD', side: 'long', size: '0.02', leverage: '10' } as const
    const held = await (await client.orders.create({ ...request, type: 'market' })).waitForFill(SOON)
    const clientId = 'he said "buy", twice'
    const resting = await client.orders.create({ ...request, type: 'limit', price: '50000', clientId })
    await resting.waitFor('open', SOON)
    await (await client.positions.close(held.fill.positionId!, { size: '0.01' })).waitForFill(SOON)
  }

  it('writes what the service says, to the last digit and over all pages', async () => {
    const { client } = await world.sdkAccount('trader-5', 'agent-5')
    await trade(client)
    const example = start(['portfolioExport', '--trader', 'trader-5', '--to', join(folder, 'out'), '--page-size', '1'])
    assert.equal(await example.ended, 0, example.lines.join('\n'))
    const read = (name: string) => parseCsv(readFileSync(join(folder, 'out', name), 'utf8'))

    const fills: FillHistoryEntry[] = []
    for await (const fill of client.account.allFills()) fills.push(fill)
    assert.ok(fills.length >= 2)
    assert.equal(read('fills.csv').length, fills.length)
    for (const [index, row] of read('fills.csv').entries()) assertSame(row, fills[index]!)

    const [book, ...otherBooks] = read('books.csv')
    assert.deepEqual([book?.collateralSymbol, book?.entries, book?.difference], ['USDC', String(fills.length), '0'])
    assert.equal(otherBooks.length, 0)
    await example.line(/^USDC: net -\d+\.\d+, the books balance$/)

    const [order, ...otherOrders] = read('orders.csv')
    assert.deepEqual([order?.clientId, otherOrders.length], ['he said "buy", twice', 0])
    assertSame(order!, (await client.account.openOrders())[0]!)

    const [position, ...otherPositions] = read('positions.csv')
    assert.equal(otherPositions.length, 0)
    // The other fields change with every block, because fees grow.
    const { unrealizedPnl, unrealizedPnlPercent, fundingFee, borrowingFee, liquidationPrice, ...fixed } = position!
    assertSame(fixed, (await client.account.positions())[0]!)
    for (const text of [unrealizedPnl, unrealizedPnlPercent, fundingFee, borrowingFee, liquidationPrice]) {
      assert.match(text!, /^-?\d+(\.\d+)?$/)
    }
  })
})
