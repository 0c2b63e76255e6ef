// Rests a buy below the mark and a sell above it, and moves both when the mark has moved. A filled position closes by
// itself: at the mark of its quote, or at a stop four spreads away from there.
// Needs: `npm start` in another terminal.
// Run: node examples/run.mjs marketMaker [--market BTC/USD] [--size 0.01] [--leverage 10] [--spread-bps 50]
// [--threshold-bps 10] [--pause-ms 5000] [--rounds 20].
// Quotes move at most once in a pause, since an agent has 60 writes a minute.
// Stop: Ctrl-C, or by itself after --rounds. Either way its orders are cancelled first. If it is killed, the next run
// takes its orders over.
// Not for profit: it has no view on the price, everybody sees its quotes, and each fill costs fees. Positions stay open
// when it stops.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  BezelApiError,
  BezelConfigError,
  BezelError,
  BezelNetworkError,
  OrderSubmitReportError,
  UnverifiedTransactionError,
} from '@bezel/sdk'
import { formatUnits, parseUnits } from 'viem'
import { connect } from './devnet.mjs'

const { values } = parseArgs({
  options: {
    market: { type: 'string', default: 'BTC/USD' },
    size: { type: 'string', default: '0.01' },
    leverage: { type: 'string', default: '10' },
    'spread-bps': { type: 'string', default: '50' },
    'threshold-bps': { type: 'string', default: '10' },
    'pause-ms': { type: 'string', default: '5000' },
    rounds: { type: 'string', default: 'Infinity' },
  },
})
const { market, size, leverage } = values
const [spreadBps, thresholdBps] = [BigInt(values['spread-bps']), BigInt(values['threshold-bps'])]
const [pauseMs, rounds] = [Number(values['pause-ms']), Number(values.rounds)]

const SIDES = ['long', 'short']
/** The largest number of open orders, even after a fault. */
const MAX_OPEN_ORDERS = 2
/** The number of positions from which on it only waits for them to close. */
const MAX_POSITIONS = 4
/** The clientId prefix of the orders that are ours to move and to cancel. */
const PREFIX = 'maker-'
const ENDED = ['filled', 'rejected', 'canceled', 'expired']
const CANCEL_TRIES = 30
const POLL_MS = 500

const client = await connect('trader-2', 'agent-2', {
  name: 'market maker',
  scope: { markets: [market], maxLeverage: leverage },
})
const { pricePrecision } = await client.markets.get(market)
const stream = client.stream({ onStatus: logStatus })
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)

/** The current mark. Prices are whole numbers of the market's smallest step. */
let mark
/** The mark at the time of the quotes. */
let quotedAt
/** True when a quote may be missing, whether the price moved or not. */
let mustLook = true
let round = 0
let work = Promise.resolve()

try {
  await Promise.all([watchPrices(), watchOrders()])
} finally {
  stop()
  await work.catch(() => {})
  await cancelAll()
}

function stop() {
  stopping.abort()
  // Closing the stream ends both loops.
  stream.close()
}

async function watchPrices() {
  for await (const { data } of stream.prices({ markets: [market] })) {
    if (data.length === 0) continue
    mark = parseUnits(data[0].mark, pricePrecision)
    // During the pause the stream keeps only the newest price.
    if (await look()) await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
  }
}

/** Requotes when an order of ours was filled or ended in another way. */
async function watchOrders() {
  for await (const { snapshot, data } of stream.orders()) {
    if (snapshot || !isOwn(data) || !ENDED.includes(data.status)) continue
    console.log(`${data.side} order ${data.id} is ${data.status}`)
    mustLook = true
    await look()
  }
}

/** Runs one check after the other. Returns true when quotes were made or moved. */
function look() {
  const turn = work.then(requoteIfNeeded)
  work = turn
  return turn
}

async function requoteIfNeeded() {
  if (mark === undefined || stopping.signal.aborted || (!mustLook && !hasMoved())) return false
  mustLook = false
  quotedAt = mark
  try {
    // A check begins by reading our open orders, so it also repairs the result of earlier errors.
    mustLook = !(await requote()) || mustLook
  } catch (error) {
    if (isFatal(error)) throw error
    mustLook = true
    console.error(`not quoted: ${error.message}`)
  }
  if (mustLook) return true
  round += 1
  console.log(`round ${round}: quoted around ${text(quotedAt)}`)
  if (round >= rounds) stop()
  return true
}

function hasMoved() {
  const distance = mark > quotedAt ? mark - quotedAt : quotedAt - mark
  return distance * 10_000n >= quotedAt * thresholdBps
}

/**
 * Makes the resting orders equal to the wanted quotes. Returns false when an order is still on its way, so that another
 * check is needed.
 */
async function requote() {
  const own = await ownOrders()
  const held = (await client.positions.list()).filter((position) => position.market === market)
  let count = own.length
  for (const side of SIDES) {
    const [order, ...surplus] = own.filter((entry) => entry.side === side)
    for (const { id } of surplus) await cancel(id)
    if (order === undefined && held.length < MAX_POSITIONS && count < MAX_OPEN_ORDERS) {
      count += 1
      await place(side)
    }
    if (order?.status === 'open') await move(order)
    if (order !== undefined && order.status !== 'open') return false
  }
  return true
}

async function ownOrders() {
  return (await client.account.openOrders()).filter(isOwn)
}

function isOwn(order) {
  return order.market === market && order.clientId !== null && order.clientId.startsWith(PREFIX)
}

function quoteOf(side) {
  const away = ((side === 'long' ? -1n : 1n) * quotedAt * spreadBps) / 10_000n
  return { price: text(quotedAt + away), tp: text(quotedAt), sl: text(quotedAt + 4n * away) }
}

async function place(side) {
  const clientId = `${PREFIX}${Date.now()}-${side}`
  const request = { market, side, type: 'limit', size, leverage, ...quoteOf(side), clientId }
  const tracked = await sent(client.orders.create(request))
  const { id, status } = await tracked.waitFor(['open', ...ENDED], { pollMs: POLL_MS })
  console.log(`${side} order ${id} is ${status} at ${request.price}`)
}

async function move({ id, side, price: before }) {
  const quote = quoteOf(side)
  if (quote.price === before) return
  const tracked = await sent(client.orders.update(id, quote))
  await tracked.waitFor(({ price, status }) => price === quote.price || status !== 'open', { pollMs: POLL_MS })
  console.log(`${side} order ${id} moved from ${before} to ${quote.price}`)
}

async function cancel(id) {
  const tracked = await sent(client.orders.cancel(id))
  const { status } = await tracked.waitFor(ENDED, { pollMs: POLL_MS })
  console.log(`order ${id} is ${status}`)
}

/**
 * Follows an order whose transaction was sent but not reported. The service finds it on the chain, so it is never sent
 * again.
 */
async function sent(write) {
  try {
    return await write
  } catch (error) {
    if (error instanceof OrderSubmitReportError) return client.orders.track(error.orderId)
    throw error
  }
}

/** Cancels until none of our orders rests, even if the service is down for a while or an order is still on its way. */
async function cancelAll() {
  for (let attempt = 1; attempt <= CANCEL_TRIES; attempt += 1) {
    try {
      const own = await ownOrders()
      if (own.length === 0) return console.log('no order is left')
      for (const { id } of own) await cancel(id)
    } catch (error) {
      if (isFatal(error)) throw error
      console.error(`not cancelled yet: ${error.message}`)
      await sleep(POLL_MS)
    }
  }
  console.error('Orders are left: run it again, or cancel them with npx bezel cancel.')
  process.exitCode = 1
}

/**
 * Returns true for errors that the same call would meet again. Orders that ended meanwhile, and rate limits, are not
 * fatal.
 */
function isFatal(error) {
  if (!(error instanceof BezelError)) return true
  if (error instanceof UnverifiedTransactionError || error instanceof BezelConfigError) return true
  if (error instanceof BezelNetworkError) return error.code === 'UNEXPECTED_RESPONSE'
  return error instanceof BezelApiError && (error.status === 401 || error.status === 403)
}

function logStatus({ state, reason, retryInMs }) {
  if (state === 'waiting') console.error(`the stream is away (${reason}), again in ${retryInMs} ms`)
  if (state === 'open') console.log('the stream is open')
}

function text(price) {
  return formatUnits(price, pricePrecision)
}
