import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type FillHistoryEntry, type Order, type Position } from '@bezel/protocol'
import type { BezelClient } from '@bezel/sdk'
import { call } from '@bezel/testkit/agentClient.ts'
import { problemsOfBooks } from '@bezel/testkit/booksBalance.ts'
import {
  readHeldByOrders,
  readWitnessedLogs,
  readWitnessedTokens,
  tokenMoves,
  type TokenWitness,
  type WitnessedToken,
} from '@bezel/testkit/tokenWitness.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { erc20Abi, formatUnits, parseEventLogs, parseUnits } from 'viem'
import { createBezelCommand } from '../cli/bezelCommand.ts'
import { SOON } from '../sdk/sdkWorld.ts'
import { authMessage, openStream, type StreamClient } from '../stream/streamClient.ts'
import { startExistingWorld, type ChainTrade, type ExistingWorld } from './existingWorld.ts'

const TRADERS = ['trader-1', 'trader-2', 'trader-3', 'trader-4'] as const

type Trader = (typeof TRADERS)[number]

/** Tokens and positions of a trader in one collateral before the service is started. */
interface Before extends TokenWitness {
  /** Collateral of each position with what was realised on it, in units of the token, oldest first. */
  readonly positions: readonly bigint[]
}

/**
 * The traders have: (1) a position in each of two collaterals, a resting limit and a resting stop; (2) a position that
 * is being closed and a request to open; (3) a request that timed out; (4) a position with a change that timed out. The
 * oracle is silent until a story lets it speak. Each story continues where the last one ended.
 */
describe('traders who trade before the service exists', () => {
  let world: ExistingWorld
  let tokens: readonly WitnessedToken[]
  const clients = new Map<Trader, BezelClient>()
  const beforeStart = new Map<string, Before>()
  /** The block of the snapshot. */
  let known: { readonly block: number; readonly timestamp: number | null }
  let stream: StreamClient

  before(async () => {
    world = await startExistingWorld()
    const { chain } = world
    const index = await openPositions()
    await chain.control('bezel_pauseOracle', true)
    await world.ask('trader-3')
    await chain.send(chain.account('trader-4'), 'updateLeverage', [index['trader-4'], 5_000])
    await chain.control('hardhat_mine', await timeoutBlocks())
    await world.ask('trader-2', { amount: '70' })
    await chain.send(chain.account('trader-2'), 'closeTradeMarket', [index['trader-2'], parseUnits('60000', 10)])
    tokens = await readWitnessedTokens(chain, ['USDC', 'DAI'])
    await noteBefore()
    await world.launch()
    await world.untilReady()
    await Promise.all(
      TRADERS.map(async (trader) => {
        clients.set(trader, await world.sdkOf(trader, trader.replace('trader', 'agent')))
      }),
    )
  })
  after(async () => {
    await stream?.close()
    await world?.stop()
  })

  async function openPositions(): Promise<Record<'trader-2' | 'trader-4', number>> {
    const [second, fourth] = await Promise.all([
      world.open('trader-2'),
      world.open('trader-4', { amount: '200' }),
      (async () => {
        await world.open('trader-1', { sl: 56_000n })
        await world.open('trader-1', { collateral: 'DAI', amount: '300', long: false, leverage: 5_000 })
        await world.open('trader-1', { tradeType: 1, price: 50_000n })
        await world.open('trader-1', { tradeType: 2, price: 70_000n, amount: '50' })
      })(),
    ])
    return { 'trader-2': second, 'trader-4': fourth }
  }

  const client = (trader: Trader): BezelClient => clients.get(trader)!

  const timeoutBlocks = (): Promise<number> =>
    world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getMarketOrdersTimeoutBlocks',
    })

  /** Reads what the Diamond took, paid and holds of a trader's tokens. */
  async function witnessOf(trader: Trader, token: WitnessedToken): Promise<TokenWitness> {
    const of = { diamond: world.chain.diamond, trader: world.address(trader), token }
    const moves = tokenMoves(await readWitnessedLogs(world.chain, tokens), of)
    return { ...moves, held: await readHeldByOrders(world.chain, of.trader, token.symbol) }
  }

  async function noteBefore(): Promise<void> {
    for (const trader of TRADERS) {
      const { positions } = await world.openOf(trader)
      for (const token of tokens) {
        const { index } = world.chain.collateral(token.symbol)
        const own = positions.filter(({ collateralIndex }) => collateralIndex === index)
        const values = await Promise.all(own.map(bookValue))
        beforeStart.set(`${trader} ${token.symbol}`, { ...(await witnessOf(trader, token)), positions: values })
      }
    }
  }

  /** Returns the collateral of a trade with what was realised on it, as the Diamond has it. */
  async function bookValue({ user, index, collateralAmount }: ChainTrade): Promise<bigint> {
    const [fees] = await world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTradeFeesDataArray',
      args: [[user], [index]],
    })
    return collateralAmount + fees!.realizedPnlCollateral - fees!.realizedTradingFeesCollateral
  }

  /** Writes a position as the Diamond's view has it. */
  function asTrade(position: Position) {
    const { index: collateralIndex, decimals } = world.chain.collateral(position.collateralSymbol)
    return {
      pairIndex: position.pairIndex,
      long: position.side === 'long',
      leverage: Number(parseUnits(position.leverage, 3)),
      collateralIndex,
      collateralAmount: parseUnits(position.collateral, decimals),
      openPrice: parseUnits(position.entryPrice, 10),
      positionSizeToken: parseUnits(position.size, 18),
      sl: parseUnits(position.sl, 10),
      tp: parseUnits(position.tp, 10),
    }
  }

  /** Fails unless the service shows exactly the positions that the Diamond has. */
  async function assertPositions(trader: Trader): Promise<Position[]> {
    const shown = await client(trader).positions.list()
    const { positions } = await world.openOf(trader)
    const keys = Object.keys(asTrade(shown[0] ?? NO_POSITION)) as (keyof ChainTrade)[]
    const expected = positions.map((trade) => Object.fromEntries(keys.map((key) => [key, trade[key]])))
    assert.deepEqual(shown.map(asTrade), expected, trader)
    return shown
  }

  const openOrders = (trader: Trader): Promise<Order[]> => client(trader).account.openOrders()

  async function allFills(trader: Trader): Promise<FillHistoryEntry[]> {
    const fills: FillHistoryEntry[] = []
    for await (const fill of client(trader).account.allFills()) fills.push(fill)
    return fills.toReversed()
  }

  /** Returns the units of a token that a transaction sent to a trader, by the token's own logs. */
  async function paidIn(txHash: string, trader: Trader, symbol: string): Promise<bigint> {
    const { logs } = await world.chain.client.getTransactionReceipt({ hash: txHash as `0x${string}` })
    const token = world.chain.collateral(symbol).address.toLowerCase()
    const transfers = parseEventLogs({ abi: erc20Abi, logs, eventName: 'Transfer' })
    return transfers
      .filter(({ address, args }) => address.toLowerCase() === token && args.to === world.address(trader))
      .reduce((sum, { args }) => sum + args.value, 0n)
  }

  /** Fails unless the payout of an entry is what the token says that the trader got. Returns the entry. */
  async function witnessedFill(trader: Trader, orderId: string): Promise<FillHistoryEntry> {
    const entry = (await allFills(trader)).find((fill) => fill.orderId === orderId)
    assert.ok(entry !== undefined, `order ${orderId} has a fill`)
    const symbol = entry.collateralSymbol!
    const paid = await paidIn(entry.txHash, trader, symbol)
    assert.equal(entry.payout, formatUnits(paid, world.chain.collateral(symbol).decimals))
    return entry
  }

  /** Returns the entry that would tell of a found position, had it been opened with what it was worth. */
  function foundEntry(id: string, value: bigint, { symbol, decimals }: WitnessedToken): FillHistoryEntry {
    const deposit = formatUnits(value, decimals)
    const amounts = { pnl: '0', feeCollateral: '0', fundingFee: '0', borrowingFee: '0', payout: '0', forfeited: '0' }
    const entry = { ...amounts, netPnl: '0', deposit, size: '1', action: 'TradeOpenedMarket', collateralSymbol: symbol }
    return { ...entry, id: 0, positionId: id } as FillHistoryEntry
  }

  /** Fails unless the books balance to the last unit since the snapshot, with what it found as a first deposit. */
  async function assertBooks(trader: Trader, found: readonly Position[]): Promise<void> {
    for (const token of tokens) {
      const earlier = beforeStart.get(`${trader} ${token.symbol}`)!
      const { taken, paid, held } = await witnessOf(trader, token)
      const own = found.filter(({ collateralSymbol }) => collateralSymbol === token.symbol)
      const values = earlier.positions.reduce((sum, value) => sum + value, 0n)
      const inUpdates = own.reduce((sum, { pendingUpdate }) => sum + givenFor(pendingUpdate, token), 0n)
      const adopted = earlier.held + inUpdates + values
      const witness = { taken: taken - earlier.taken + adopted, paid: paid - earlier.paid, held }
      const fills = [
        ...own.map(({ id }, i) => foundEntry(id, earlier.positions[i]!, token)),
        ...(await allFills(trader)),
      ]
      const positions = await client(trader).positions.list()
      assert.deepEqual(
        problemsOfBooks({ fills, openOrders: await openOrders(trader), positions }, witness, token),
        [],
        `${trader} ${token.symbol}`,
      )
    }
  }

  const found = new Map<Trader, readonly Position[]>()

  it('see all of it at once, as the chain has it', async () => {
    for (const trader of TRADERS) found.set(trader, await assertPositions(trader))
    assert.deepEqual(
      TRADERS.map((trader) => found.get(trader)!.length),
      [2, 1, 0, 1],
    )
    const update = found.get('trader-4')![0]!.pendingUpdate!
    assert.deepEqual([update.kind, update.leverage, update.status, update.txHash], ['leverage', '5', 'timed_out', null])
    const bezel = createBezelCommand(world)
    const env = { BEZEL_AGENT_KEY: world.devnet.file.accounts.find(({ name }) => name === 'agent-1')!.privateKey }
    const { json, stderr } = await bezel.run('positions --json', env)
    bezel.close()
    assert.deepEqual(
      json?.map(({ id }: Position) => id),
      found.get('trader-1')!.map(({ id }) => id),
      stderr,
    )
  })

  it('have their orders without a past, of the block since which the history is known', async () => {
    const info = await client('trader-1').info()
    known = info.knownSince!
    const block = await world.chain.client.getBlock({ blockNumber: BigInt(known.block) })
    assert.equal(known.timestamp, Number(block.timestamp) * 1_000)
    const orders = await Promise.all(TRADERS.map(openOrders))
    const told = orders.map((own) => own.map(({ type, side, status, reduceOnly }) => [type, side, status, reduceOnly]))
    // The request may time out while the service starts, on a slow machine.
    const waiting = orders[1]!.map(({ status }) => status)
    assert.ok(waiting.every((status) => status === 'pending' || status === 'timed_out'))
    assert.deepEqual(told, [
      [
        ['stop', 'long', 'open', false],
        ['limit', 'long', 'open', false],
      ],
      [
        ['market', 'short', waiting[0], true],
        ['market', 'long', waiting[1], false],
      ],
      [['market', 'long', 'timed_out', false]],
      [],
    ])
    const { resting } = await world.openOf('trader-1')
    assert.deepEqual(
      orders[0]!.toReversed().map(({ price }) => parseUnits(price!, 10)),
      resting.map(({ openPrice }) => openPrice),
    )
    for (const order of orders.flat()) {
      const { clientId, txHash, fill, createdAt } = order
      assert.deepEqual([clientId, txHash, fill, createdAt], [null, null, null, known.timestamp], JSON.stringify(order))
    }
    for (const [i, trader] of TRADERS.entries()) {
      const { data } = await client(trader).account.orderHistory()
      assert.deepEqual(
        data.map(({ id }) => id),
        orders[i]!.map(({ id }) => id),
      )
    }
  })

  it('are told of one event each, of no order or fill, and of what they have to reclaim', async () => {
    for (const trader of TRADERS) {
      assert.deepEqual(await allFills(trader), [])
      const { data } = await client(trader).account.events()
      // On a slow machine requests time out after the start, which is told.
      const isTimeout = (of: unknown): boolean => (of as Order).status === 'timed_out'
      const told = data.filter(({ channel, data: of }) => channel !== 'account' && !isTimeout(of))
      const ids = found.get(trader)!.map(({ id }) => id)
      const positions = told.map(({ data: shown }) => (shown as Position[]).map(({ id }) => id))
      assert.deepEqual(
        told.map(({ channel, block, reverted }) => [channel, block, reverted]),
        [['positions', known.block, false]],
      )
      assert.deepEqual(positions, [ids])
      const { body } = await call(world.url(), `/api/notifications/${world.address(trader)}`)
      const types: string[] = body.notifications.map(({ type }: { type: string }) => type)
      const calls = new Set(types).difference(new Set(['agent_added']))
      if (trader !== 'trader-2') assert.deepEqual([...calls], TO_RECLAIM[trader])
    }
    stream = await openStream(world.url())
    stream.send(await authMessage(await client('trader-1').signingDomain(), world.chain.account('agent-1')))
    for (const channel of ['positions', 'orders']) stream.send({ op: 'subscribe', channel, fromSeq: 1 })
    const { json } = await stream.next(
      'the positions',
      ({ op, channel }) => op === undefined && channel === 'positions',
    )
    assert.deepEqual([json.snapshot, json.seq, json.block], [false, 1, known.block])
  })

  it('protect a position, move an order and cancel one', async () => {
    const own = client('trader-1')
    const [position] = found.get('trader-1')!
    await (await own.positions.update(position!.id, { sl: '57000', tp: '66000' })).wait(SOON)
    const [stop, limit] = await openOrders('trader-1')
    const moved = await own.orders.update(limit!.id, { price: '51000', tp: '69000' })
    await moved.waitFor(({ price, tp, status }) => price === '51000' && tp === '69000' && status === 'open', SOON)
    await (await own.orders.cancel(stop!.id)).waitFor('canceled', SOON)
    assert.deepEqual(
      (await openOrders('trader-1')).map(({ id }) => id),
      [limit!.id],
    )
    await assertPositions('trader-1')
    const { resting } = await world.openOf('trader-1')
    assert.deepEqual(
      resting.map(({ openPrice, tp }) => [openPrice, tp]),
      [[parseUnits('51000', 10), parseUnits('69000', 10)]],
    )
    const { json } = await stream.next('an order', ({ op, channel }) => op === undefined && channel === 'orders')
    assert.ok(json.block > known.block && [stop!.id, limit!.id].includes(json.data.id), JSON.stringify(json))
  })

  it('reclaim what the oracle did not answer', async () => {
    const [order] = await openOrders('trader-3')
    const reclaimed = await client('trader-3').orders.cancel(order!.id)
    await reclaimed.waitFor('canceled', SOON)
    const { requests } = await world.openOf('trader-3')
    assert.deepEqual(requests, [])
    const usdc = tokens.find(({ symbol }) => symbol === 'USDC')!
    const { taken, paid } = await witnessOf('trader-3', usdc)
    assert.deepEqual([taken, paid], [parseUnits('100', 6), parseUnits('100', 6)])
    const [position] = found.get('trader-4')!
    await client('trader-4').positions.cancelUpdate(position!.id)
    await until('the change is gone', async (saw) => {
      const { pendingUpdate, leverage } = await client('trader-4').positions.get(position!.id)
      saw(pendingUpdate)
      return pendingUpdate === null && leverage === '10'
    })
  })

  it('get the answers of the oracle under the ids of their requests', async () => {
    const [close, open] = await openOrders('trader-2')
    const [position] = found.get('trader-2')!
    await world.chain.control('bezel_pauseOracle', false)
    const own = client('trader-2')
    const isFilled = ({ status }: Order): boolean => status === 'filled'
    const closed = await (await own.orders.track(close!.id)).waitFor(isFilled, SOON)
    assert.equal(closed.fill?.positionId, position!.id)
    const filled = await (await own.orders.track(open!.id)).waitFor(isFilled, SOON)
    const [left, ...others] = await assertPositions('trader-2')
    assert.deepEqual([left!.id, others], [filled.fill?.positionId, []])
    const entry = await witnessedFill('trader-2', close!.id)
    assert.deepEqual([entry.action, entry.positionId], ['TradeClosedMarket', position!.id])
    assert.equal((await witnessedFill('trader-2', open!.id)).action, 'TradeOpenedMarket')
  })

  it('close in part and in full, and get what the fill says', async () => {
    const own = client('trader-1')
    const [usdc, dai] = await own.positions.list()
    await movePrice(world, 'BTC/USD', '61000')
    const half = formatUnits(parseUnits(usdc!.size, 18) / 2n, 18)
    const part = await (await own.positions.close(usdc!.id, { size: Number(half).toFixed(4) })).waitForFill(SOON)
    assert.equal((await witnessedFill('trader-1', part.id)).action, 'TradePosSizeDecrease')
    await assertPositions('trader-1')
    for (const { id } of [usdc!, dai!]) {
      const order = await (await own.positions.close(id)).waitForFill(SOON)
      const entry = await witnessedFill('trader-1', order.id)
      assert.deepEqual([entry.action, entry.positionId], ['TradeClosedMarket', id])
    }
    const [long, short] = (await allFills('trader-1')).slice(-2)
    assert.ok(Number(long!.pnl) > 0 && Number(short!.pnl) < 0, `${long!.pnl} and ${short!.pnl}`)
    assert.deepEqual(await own.positions.list(), [])
  })

  it('have books that balance since the snapshot, to the last unit', async () => {
    for (const trader of TRADERS) await assertBooks(trader, found.get(trader)!)
  })
})

/** Messages about what has to be reclaimed. Of the second trader there are some on a slow machine. */
const TO_RECLAIM: Readonly<Record<Exclude<Trader, 'trader-2'>, readonly string[]>> = {
  'trader-1': [],
  'trader-3': ['order_timed_out'],
  'trader-4': ['position_update_timed_out'],
}

/** Returns the units that a wallet gave for a change of a position. */
function givenFor(update: Position['pendingUpdate'], { decimals }: WitnessedToken): bigint {
  const delta = parseUnits(update?.collateralDelta ?? '0', decimals)
  return delta > 0n ? delta : 0n
}

const NO_POSITION = {
  pairIndex: 0,
  side: 'long',
  leverage: '0',
  collateralSymbol: 'USDC',
  collateral: '0',
  entryPrice: '0',
  size: '0',
  sl: '0',
  tp: '0',
} as Position
