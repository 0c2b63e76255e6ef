import { ORACLES } from '../../../../packages/devnet/src/deploy/accounts.ts'
import { packAnswer, oracleRequestId, type Candle } from '../../world.ts'
import { movePrice, priceOf, type Action, type Campaign, type Request } from '../campaign.ts'
import { encodeWrite, type PendingOrder } from '../codec.ts'
import { orderTypeName } from '../coverage.ts'
import type { Receipt } from '../ground.ts'
import { marketOf, movedBy } from '../market.ts'
import { findTrade, keyOf } from '../snapshot.ts'

/** Number of oracles, as deployed on arbitrum-sepolia: three are asked, two have to agree. */
const ORACLE_COUNT = 3
const ANSWER_TTL_S = 3_600
const LIMIT_OPEN = 2
const LIQ_CLOSE = 6
const MARKET_PARTIAL_OPEN = 8
/**
 * The largest price (1e10) that a candle is aimed at. An answer keeps each price in 56 bits, and a wick, noise and an
 * outlier may move it up by some 6 %.
 */
const LARGEST_AIM = (2n ** 56n * 9n) / 10n

/** The oracles answer a request, in agreement or not, at a price that may have moved a lot since. */
export const oraclesAnswer: Action = {
  name: 'oracles answer',
  weight: 45,
  async run(c) {
    const request = pickRequest(c, (age) => age <= ANSWER_TTL_S)
    if (request === undefined) return undefined
    return { receipts: await answer(c, request, answerPrices(c, request.order)) }
  },
}

/**
 * An oracle answers after the order was executed, refused or reclaimed, or after the time limit: nothing may happen.
 */
export const oracleAnswersLate: Action = {
  name: 'oracle answers late',
  weight: 3,
  async run(c) {
    const open = new Set(c.snapshot.orders.map(keyOf))
    const closed = [...c.requests.values()].filter(
      ({ order, answeredBy }) => !open.has(keyOf(order)) && answeredBy.size < ORACLE_COUNT,
    )
    const expired = pickRequest(c, (age) => age > ANSWER_TTL_S)
    const request = expired !== undefined && c.random.chance(0.3) ? expired : closed.at(-c.random.int(1, 20))
    if (request === undefined) return undefined
    const receipt = await fulfill(c, request, nextOracle(request), answerPrices(c, request.order))
    c.coverage.count(`late answer ${receipt.revertedWith ?? 'ok'}`)
    return { receipts: [receipt], mustEndWith: [request === expired ? 'DoesntExist' : 'ok'] }
  },
}

/**
 * Picks an open order whose request has a suitable age (in seconds) and an oracle left to answer it. Newer ones are
 * likelier.
 */
export function pickRequest(
  c: Campaign,
  isAge: (age: number) => boolean,
  isWanted: (order: PendingOrder) => boolean = () => true,
): Request | undefined {
  const now = c.ground.timestampS()
  const found = c.snapshot.orders
    .filter(isWanted)
    .flatMap((order) => c.requests.get(keyOf(order)) ?? [])
    .filter(({ createdTs, answeredBy }) => isAge(now - createdTs) && answeredBy.size < ORACLE_COUNT)
    .toSorted((a, b) => a.order.createdBlock - b.order.createdBlock)
  return found.length === 0 ? undefined : c.random.pick(found.slice(c.random.chance(0.5) ? -6 : 0))
}

/**
 * Lets the oracles answer one after the other until the order is executed. In 8 % of the cases only the first one
 * answers.
 */
export async function answer(c: Campaign, request: Request, prices: Candle): Promise<Receipt[]> {
  const isSilent = request.answeredBy.size === 0 && c.random.chance(0.08)
  const outlier = c.random.chance(0.07) ? c.random.int(0, ORACLE_COUNT - 1) : -1
  const noisePpm = c.random.chance(0.3) ? 1_000 : 0
  const receipts: Receipt[] = []
  while (request.answeredBy.size < ORACLE_COUNT) {
    const oracle = nextOracle(request)
    const ppm = oracle === outlier ? 50_000 : c.random.int(-noisePpm, noisePpm)
    const receipt = await fulfill(c, request, oracle, moveCandle(prices, ppm))
    receipts.push(receipt)
    if (receipt.revertedWith !== undefined) {
      c.coverage.count(`unanswerable ${orderTypeName(request.order.orderType)}: ${receipt.revertedWith}`)
      // An absurdly large increase has no price that fits its field: it stays pending until it is reclaimed.
      if (receipt.revertedWith === 'Overflow' && request.order.orderType === MARKET_PARTIAL_OPEN) break
      throw new Error(`an oracle's answer reverted with ${receipt.revertedWith}`)
    }
    if (isSilent || receipt.events.some(({ eventName }) => eventName === 'TradingCallbackExecuted')) break
  }
  movePrice(c, request.order.trade.pairIndex, prices.current)
  return receipts
}

function nextOracle({ answeredBy }: Request): number {
  return [...Array(ORACLE_COUNT).keys()].find((i) => !answeredBy.has(i))!
}

async function fulfill(c: Campaign, request: Request, oracle: number, prices: Candle): Promise<Receipt> {
  const { account } = ORACLES[oracle]!
  const data = encodeWrite('fulfill', [oracleRequestId(request.order, account.address), packAnswer(prices)])
  const receipt = await c.ground.transact(account, c.ground.diamond, data)
  if (receipt.revertedWith === undefined) request.answeredBy.add(oracle)
  return receipt
}

function moveCandle({ open, high, low, current }: Candle, ppm: number): Candle {
  return { open: movedBy(open, ppm), high: movedBy(high, ppm), low: movedBy(low, ppm), current: movedBy(current, ppm) }
}

/** Returns a price near the last one, some way off, or far enough to matter at the position's leverage. */
export function answerPrices(c: Campaign, order: PendingOrder): Candle {
  const { pairIndex } = order.trade
  const { liveliness } = marketOf(pairIndex)
  const leverage = leverageOf(c, order)
  const jumpPpm = Math.min(700_000, (1_000_000_000 / Math.max(leverage, 1_000)) * c.random.pick([0.5, 1, 4]))
  const { reachPpm } = c.random.weighted([
    { weight: 70, reachPpm: 800 * liveliness },
    { weight: 18, reachPpm: 20_000 * liveliness },
    { weight: 12, reachPpm: jumpPpm },
  ])
  const current = movedBy(priceOf(c, pairIndex), c.random.int(-reachPpm, reachPpm))
  return order.orderType >= LIMIT_OPEN && order.orderType <= LIQ_CLOSE ? candleOf(c, order, current) : flat(current)
}

/** Returns the leverage of the position that an order opens or changes. */
export function leverageOf(c: Campaign, { orderType, trade }: PendingOrder): number {
  return (orderType === 0 ? undefined : findTrade(c.snapshot, trade)?.trade.leverage) ?? trade.leverage
}

function flat(price: bigint): Candle {
  return { open: price, high: price, low: price, current: price }
}

/** Returns a candle that passes through the trigger price, opens beyond it, or ignores it. */
function candleOf(c: Campaign, order: PendingOrder, current: bigint): Candle {
  const trigger = triggerPriceOf(c, order)
  const shape = trigger === 0n || trigger > LARGEST_AIM ? 'any' : c.random.pick(['through', 'through', 'beyond', 'any'])
  const wickPpm = c.random.int(0, 2_000)
  const open = shape === 'beyond' ? movedBy(trigger, c.random.int(-3_000, 3_000)) : current
  const reached = shape === 'through' ? trigger : open
  const [bottom, top] = reached < open ? [reached, open] : [open, reached]
  return { open, high: movedBy(top, wickPpm), low: movedBy(bottom, -wickPpm), current }
}

/**
 * Returns the trigger price. For a liquidation it is the price at which all collateral is lost, which is beyond every
 * liquidation price.
 */
function triggerPriceOf(c: Campaign, { orderType, trade }: PendingOrder): bigint {
  const t = findTrade(c.snapshot, trade)?.trade
  if (t === undefined) return 0n
  if (orderType === LIQ_CLOSE) {
    const distance = (t.openPrice * 1_000n) / BigInt(t.leverage)
    return t.long ? (distance < t.openPrice ? t.openPrice - distance : 1n) : t.openPrice + distance
  }
  if (orderType < 4) return t.openPrice
  return orderType === 4 ? t.tp : t.sl
}
