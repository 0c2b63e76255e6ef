// Follows one trader: opens the same positions at a ratio of their size, and closes them when the trader does. Keeps
// its place in a file: after a restart it continues there, closes what was closed meanwhile, and opens nothing twice.
// Needs: `npm start` in another terminal.
// Run: node examples/run.mjs copyTrader [--follow trader-1] [--ratio 0.5] [--max-leverage 5] [--max-age-s 60]
//   [--state var/copyTrader.json]. Elsewhere the followed trader hands over a read-only key, in BEZEL_API_KEY.
// Stop: Ctrl-C. Copied positions stay open, and nobody closes them until it runs again.
// Not for money you can't watch: a copy is filled later and at another price than the original, and a stop loss or a
// take profit is not copied, only the close that it causes.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BezelError, BezelNetworkError, OrderNotFilledError, OrderSubmitReportError } from '@bezel/sdk'
import { formatUnits, parseUnits } from 'viem'
import { connect, connectReader } from './devnet.mjs'

const { values } = parseArgs({
  options: {
    follow: { type: 'string', default: 'trader-1' },
    ratio: { type: 'string', default: '0.5' },
    'max-leverage': { type: 'string', default: '5' },
    'max-age-s': { type: 'string', default: '60' },
    state: { type: 'string', default: 'var/copyTrader.json' },
  },
})
/** The number of decimals of a ratio and of a leverage. */
const RATIO_PLACES = 6
const LEVERAGE_PLACES = 3
const ratio = parseUnits(values.ratio, RATIO_PLACES)
const maxAgeMs = Number(values['max-age-s']) * 1_000
/** The size difference to ignore, in percent. Fees make a position a little smaller than its order. */
const TOLERANCE_PERCENT = 2n
const RETRY_MS = 1_000

const leader = await connectReader(values.follow, 'copy trader')
const client = await connect('trader-4', 'agent-4', {
  name: 'copy trader',
  scope: { maxLeverage: values['max-leverage'] },
})
const precisions = new Map((await client.markets.list()).map(({ symbol, sizePrecision }) => [symbol, sizePrecision]))
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort())

/** The saved state. `copies` holds our position for each of the leader's. */
const state = await loadState()
console.log(`following ${await leader.trader()} after event ${state.seq}`)

const events = leader.events({ after: state.seq })
stopping.signal.addEventListener('abort', () => events.close())
for await (const event of events) {
  if (!(await handled(event))) break
  state.seq = event.seq
  saveState()
}

/**
 * Handles an event, trying until it is done or refused. Every step may safely run twice. Returns false when stopped
 * before.
 */
async function handled(event) {
  while (!stopping.signal.aborted) {
    try {
      if (event.channel === 'fills') await copyOpen(event)
      if (event.channel === 'positions') await copyCloses(event.data)
      return true
    } catch (error) {
      if (!(error instanceof BezelError)) throw error
      console.error(`event ${event.seq}: ${error.message}`)
      if (!mayTryAgain(error, event)) return true
      await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  return false
}

/**
 * Returns true when an error allows another try. A refused open is not copied; a close that was not filled is tried
 * again.
 */
function mayTryAgain(error, { channel }) {
  if (error instanceof OrderNotFilledError) return channel === 'positions'
  return error instanceof BezelNetworkError || error.retryable
}

/**
 * Copies an open. The leader's order id is our clientId, so that a copy is ordered once even if the answer is lost or
 * this program crashes.
 */
async function copyOpen({ data: { id, market, side, reduceOnly, leverage, fill }, timestamp }) {
  if (reduceOnly || fill === null || fill.positionId === null || fill.positionId in state.copies) return
  if (Date.now() - timestamp > maxAgeMs) return console.log(`order ${id} is too old to copy`)
  const size = scaled(fill.size, market)
  if (size === 0n) return console.log(`order ${id} is too small to copy`)
  const request = { market, side, type: 'market', size: text(size, market), leverage: capped(leverage) }
  const tracked = await sent(client.orders.create({ ...request, clientId: `copy-${id}` }))
  const copy = await filled(tracked)
  state.copies[fill.positionId] = copy.fill.positionId
  saveState()
  console.log(`copied order ${id}: ${side} ${copy.fill.size} ${market} at ${copy.fill.price}`)
}

/** Closes what we hold beyond our share of `held`, the leader's current positions. */
async function copyCloses(held) {
  const copies = Object.entries(state.copies)
  if (copies.length === 0) return
  const own = await client.positions.list()
  for (const [original, copy] of copies) {
    const position = own.find(({ id }) => id === copy)
    if (position !== undefined)
      await shrink(
        position,
        held.find(({ id }) => id === original),
      )
    if (!held.some(({ id }) => id === original)) delete state.copies[original]
  }
}

async function shrink({ id, market, size }, original) {
  const has = units(size, market)
  const should = original === undefined ? 0n : scaled(original.size, market)
  const excess = has - should
  if (excess * 100n <= has * TOLERANCE_PERCENT) return
  const tracked = await sent(client.positions.close(id, should === 0n ? {} : { size: text(excess, market) }))
  const { fill } = await filled(tracked)
  console.log(`closed ${fill.size} of position ${id} at ${fill.price}`)
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

/**
 * Waits for the fill without a time limit: every order ends, and a second one before that would only add to it. An
 * order that the oracle never answered returns its collateral when it is cancelled.
 */
async function filled(tracked) {
  try {
    return await tracked.waitForFill({ timeoutMs: Infinity })
  } catch (error) {
    const isForgotten = error instanceof OrderNotFilledError && error.order.status === 'timed_out'
    if (isForgotten) await client.orders.cancel(error.order.id)
    throw error
  }
}

function units(size, market) {
  return parseUnits(size, precisions.get(market))
}

function text(size, market) {
  return formatUnits(size, precisions.get(market))
}

/** Returns our share of a size, rounded down. */
function scaled(size, market) {
  return (units(size, market) * ratio) / 10n ** BigInt(RATIO_PLACES)
}

function capped(leverage) {
  const [theirs, most] = [leverage, values['max-leverage']].map((each) => parseUnits(each, LEVERAGE_PLACES))
  return formatUnits(theirs < most ? theirs : most, LEVERAGE_PLACES)
}

/** Loads the saved state. A log shorter than our place in it is another log: each `npm start` makes a fresh chain. */
async function loadState() {
  const { lastSeq } = await leader.account.events({ limit: 1 })
  const saved = existsSync(values.state) ? JSON.parse(readFileSync(values.state, 'utf8')) : undefined
  const isOfThisLog = saved?.leader === (await leader.trader()) && saved.seq <= lastSeq
  return isOfThisLog ? saved : { leader: await leader.trader(), seq: lastSeq, copies: {} }
}

/** Saves the state by a rename, so that a crash leaves the old state or the new one. */
function saveState() {
  writeFileSync(`${values.state}.part`, JSON.stringify(state))
  renameSync(`${values.state}.part`, values.state)
}
