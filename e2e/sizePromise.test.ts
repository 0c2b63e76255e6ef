import assert from 'node:assert/strict'
import { env } from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { Order } from '@bezel/protocol'
import { TradeType } from '@bezel/protocol'
import { parseUnits } from 'viem'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import {
  boughtAt,
  executionIn,
  judge,
  promisedAt,
  readDiamond,
  type AskedTrade,
  type Promised,
} from './sizePromise/diamondWitness.ts'
import { openFacadeDesk, openNativeDesk, type Desk, type DrawnOrder } from './sizePromise/desks.ts'
import { startSizeWorld, type SizedMarket, type SizeWorld } from './sizePromise/sizeWorld.ts'

// A property of every order that opens: what is filled is what the order promised, whoever else trades. CAMPAIGN=300
// draws so many orders, CAMPAIGN_SEED=7 draws others.

const ORDERS = Number(env['CAMPAIGN'] ?? 14)
const SEED = Number(env['CAMPAIGN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** The course of an order. */
interface Course {
  readonly desk: 'native' | 'facade'
  readonly type: DrawnOrder['type']
  /** True for a trigger that the mark has passed already. */
  readonly isPassed?: boolean
  /** Changes of the resting order, each by itself. */
  readonly changes?: readonly Change[]
  /** True when nothing moves until the execution. */
  readonly isStill?: boolean
}

/** The fields of a trade on the chain that the test reads. */
interface Trade {
  readonly isOpen: boolean
  readonly tradeType: number
  readonly pairIndex: number
  readonly openPrice: bigint
  readonly collateralAmount: bigint
}

type Change = 'price' | 'size' | 'both' | 'near'

/** The first orders take these courses in turn, so that even a short run takes each. */
const COURSES: readonly Course[] = [
  { desk: 'native', type: 'market', isStill: true },
  { desk: 'facade', type: 'market', isStill: true },
  { desk: 'native', type: 'limit', changes: ['price'] },
  { desk: 'facade', type: 'limit', changes: ['price'] },
  { desk: 'native', type: 'market' },
  { desk: 'native', type: 'stop', changes: ['both'] },
  { desk: 'native', type: 'limit', isPassed: true },
  { desk: 'facade', type: 'stop', changes: ['size'] },
  { desk: 'native', type: 'limit', changes: ['near', 'near', 'size'] },
  { desk: 'native', type: 'stop', isPassed: true },
  { desk: 'facade', type: 'limit', changes: ['both', 'price'] },
  { desk: 'native', type: 'market' },
  { desk: 'native', type: 'stop' },
  { desk: 'facade', type: 'market' },
]

describe('the size of an order is a promise', () => {
  const random = createSeededRandom(SEED)
  let world: SizeWorld
  let desks: Readonly<Record<Course['desk'], Desk>>
  const seen = { still: 0, moved: 0, near: 0, rejected: 0 }

  before(async () => {
    console.log(`CAMPAIGN=${ORDERS} CAMPAIGN_SEED=${SEED}`)
    world = await startSizeWorld()
    desks = {
      native: await openNativeDesk(world, 'trader-1', 'agent-1'),
      facade: await openFacadeDesk(world, 'trader-2', 'agent-2'),
    }
    // One trader has terms of its own in one market.
    await world.setTerms(desks.native.trader, marketOf('SOL/USD'), 37, 1_700)
  })
  after(() => world?.stop())

  const marketOf = (symbol: string): SizedMarket => world.markets.find((market) => market.symbol === symbol)!
  const between = (from: number, to: number): number => from + random.next() * (to - from)

  /** Draws the terms of an order around a mark. */
  function draw({ desk, type, isPassed = false }: Course, market: SizedMarket, mark: number): DrawnOrder {
    // Clients of the facade have one position per coin, so that an order of the other side would reduce it.
    const isLong = desk === 'facade' ? market.pairIndex % 2 === 0 : random.chance(0.5)
    const isLower = (type === 'limit') === isLong
    const away = between(0.01, 0.025) * (isLower === isPassed ? 1 : -1)
    // The facade refuses a price that is more than 80 percent away, as the exchange does.
    const protective = mark * (isLong ? between(1.02, desk === 'facade' ? 1.79 : 1.9) : between(0.4, 0.98))
    const price = type === 'market' ? protective : mark * (1 + away)
    const isBare = type === 'market' && random.chance(0.3)
    return {
      market,
      side: isLong ? 'long' : 'short',
      type,
      size: sizeFor(market, mark),
      price: isBare ? undefined : price.toFixed(market.pricePrecision),
      leverage: leverageFor(desk, market),
      collateral: desk === 'facade' ? 'USDC' : random.pick(['USDC', 'USDC', 'WETH', 'DAI']),
      slippage: type === 'market' ? between(4, 20).toFixed(2) : between(4, 60).toFixed(3),
    }
  }

  /** Draws a leverage at which no position is liquidated by the moves of the test. */
  function leverageFor(desk: Course['desk'], { minLeverage }: SizedMarket): string {
    const least = Math.max(2, Math.ceil(minLeverage))
    return desk === 'facade' ? String(least + random.below(6)) : between(least, least + 6).toFixed(3)
  }

  const sizeFor = ({ sizePrecision }: SizedMarket, mark: number): string =>
    (between(600, 9_000) / mark).toFixed(sizePrecision)

  /** Returns the trade that an order asks for, with its reference by the rule of the decisions. */
  function askedBy({ trader }: Desk, drawn: DrawnOrder, mark: bigint): AskedTrade {
    const { market, side, type, size, price, leverage, collateral } = drawn
    const long = side === 'long'
    const trigger = type === 'market' ? mark : parseUnits(price!, 10)
    const isLower = (type === 'limit') === long
    const reference = isLower === mark > trigger ? trigger : mark
    return {
      trader,
      pairIndex: market.pairIndex,
      long,
      size: parseUnits(size, 18),
      reference,
      leverage: parseUnits(leverage, 3),
      collateral: world.chain.collateral(collateral),
    }
  }

  /** Lets others trade in the pair, and moves the price of a token. */
  async function disturb({ market, side, collateral }: DrawnOrder, mark: bigint): Promise<void> {
    if (random.chance(0.7)) {
      const long = random.chance(0.8) ? side === 'long' : side !== 'long'
      await world.addVolume({ market, long, mark }, between(2_000, 20_000))
    }
    if (collateral === 'WETH' && random.chance(0.6)) {
      await world.setTokenPrice('WETH', between(2_300, 2_700).toFixed(8))
    }
  }

  /** Reads the collateral of a resting order from the chain. */
  async function readHeld({ trader }: Desk, { market, price }: DrawnOrder): Promise<bigint> {
    const trades: readonly Trade[] = await readDiamond(world.chain, 'getTrades', [trader])
    const found = trades.filter(
      ({ isOpen, tradeType, pairIndex, openPrice }) =>
        isOpen &&
        tradeType !== TradeType.TRADE &&
        pairIndex === market.pairIndex &&
        openPrice === parseUnits(price!, 10),
    )
    assert.equal(found.length, 1, `${found.length} orders of ${market.symbol} rest at ${price}`)
    return found[0]!.collateralAmount
  }

  /** Draws what a resting order becomes. */
  function changed(drawn: DrawnOrder, how: Change, mark: number): DrawnOrder {
    const { market, type, side } = drawn
    const tick = 10 ** -market.pricePrecision
    const isLower = (type === 'limit') === (side === 'long')
    const away = between(0.01, 0.025) * (isLower ? -1 : 1)
    const far = (mark * (1 + away)).toFixed(market.pricePrecision)
    const near = (Number(drawn.price) + tick).toFixed(market.pricePrecision)
    const price = how === 'near' ? near : how === 'size' ? drawn.price! : far
    const size = how === 'size' || how === 'both' ? sizeFor(market, mark) : drawn.size
    return { ...drawn, price, size }
  }

  interface Placed {
    readonly id: string
    readonly drawn: DrawnOrder
    readonly asked: AskedTrade
    readonly promised: Promised
  }

  /** Changes a resting order. What it promises is made anew, unless the collateral that it holds was near enough. */
  async function change(desk: Desk, placed: Placed, how: Change, mark: bigint): Promise<Placed> {
    const drawn = changed(placed.drawn, how, Number(mark) / 1e10)
    if (drawn.price === placed.drawn.price && drawn.size === placed.drawn.size) return placed
    await disturb(drawn, mark)
    const held = await readHeld(desk, placed.drawn)
    const block = await world.quietBlock()
    const asked = askedBy(desk, drawn, mark)
    const names = (['price', 'size'] as const).filter((name) => drawn[name] !== placed.drawn[name])
    await desk.change(placed.id, drawn, names)
    await desk.orderOnce(
      placed.id,
      ({ price, size }) => Number(price) === Number(drawn.price) && Number(size) === Number(drawn.size),
    )
    const promised = await promisedAt(world.chain, asked, block)
    const heldNow = await readHeld(desk, drawn)
    if (heldNow === held) {
      const off = (await boughtAt(world.chain, asked, held, block)) - asked.size
      const half = 10n ** BigInt(18 - drawn.market.sizePrecision) / 2n
      assert.ok((off < 0n ? -off : off) <= half, `it kept ${held}, off by ${off} of ${half}`)
      seen.near += 1
      // The promise is still that of the collateral, for the size that the order says.
      return { ...placed, drawn }
    }
    assert.equal(heldNow, promised.collateralAmount, `${how} of ${JSON.stringify(drawn)} at ${mark}`)
    return { id: placed.id, drawn, asked, promised }
  }

  /** Takes an order on its course, to its fill or its refusal. */
  async function run(course: Course): Promise<void> {
    const desk = desks[course.desk]
    const market = random.pick(world.markets)
    const isResting = course.type !== 'market' && course.isPassed !== true
    await world.pauseKeeper(isResting)
    const mark = await world.moveMark(market, market.basePrice * between(0.99, 1.01))
    const drawn = draw(course, market, Number(mark) / 1e10)
    await disturb(drawn, mark)
    const block = await world.quietBlock()
    const asked = askedBy(desk, drawn, mark)
    const promised = await promisedAt(world.chain, asked, block)
    const id = await desk.place(drawn, async () => {
      if (course.isStill === true || course.desk === 'facade') return
      await disturb(drawn, mark)
      if (course.type === 'market') await world.moveMark(market, (Number(mark) / 1e10) * between(0.998, 1.002))
    })
    let placed: Placed = { id, drawn, asked, promised }
    if (isResting) {
      await desk.orderOnce(id, ({ status }) => status === 'open')
      assert.equal(await readHeld(desk, drawn), promised.collateralAmount, JSON.stringify({ course, drawn }))
      for (const how of course.changes ?? []) placed = await change(desk, placed, how, mark)
      await disturb(placed.drawn, mark)
      const isUp = (course.type === 'limit') !== asked.long
      await world.moveMark(market, Number(placed.drawn.price) * (isUp ? 1.008 : 0.992))
      await world.pauseKeeper(false)
    }
    const order = await desk.orderOnce(id, ({ status }) => status === 'filled' || status === 'rejected')
    if (order.status === 'rejected') seen.rejected += 1
    else await check(course, placed, order)
  }

  async function check(course: Course, { drawn, asked, promised }: Placed, order: Order): Promise<void> {
    assert.equal(Number(order.size), Number(drawn.size), 'the size of an order is never rewritten')
    const execution = await executionIn(world.chain, order.fill!.txHash as `0x${string}`, asked.trader)
    const judged = judge(order, asked, promised, execution)
    const text = `${JSON.stringify({ course, drawn })} ${judged.text}`
    assert.ok(judged.isExact, text)
    assert.ok(judged.isKept, text)
    if (judged.isStill) assert.ok(judged.isSameSize, text)
    if (course.isStill === true) assert.ok(judged.isStill, text)
    seen[judged.isStill ? 'still' : 'moved'] += 1
  }

  for (let n = 0; n < ORDERS; n += 1) {
    const course = n < COURSES.length ? COURSES[n]! : random.pick(COURSES)
    it(`is kept by order ${n + 1}: ${JSON.stringify(course)}`, async () => run(course))
  }

  it('was kept while everything stood still and while all of it moved', () => {
    console.log(JSON.stringify(seen))
    assert.ok(seen.still >= 2 && seen.moved >= 3 && 3 * seen.rejected <= ORDERS, JSON.stringify(seen))
  })
})
