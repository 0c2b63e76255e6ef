import type { Order } from '@bezel/protocol'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { Hex } from 'viem'
import { describeStore } from '../../../packages/server/src/follower/testing/describeStore.ts'
import type { Store } from '../../../packages/server/src/store/sql.ts'
import { SLUG, type TwinWorld } from './twinWorld.ts'

/** An event of the account log. */
interface LogRow {
  readonly trader: string
  readonly seq: bigint
  readonly channel: string
  readonly is_reverted: bigint
  readonly data: string
}

/** Number of characters that are shown of something that only one twin has. */
const SHOWN_CHARS = 600

interface DescribedEvent {
  readonly kind: string
  readonly blockHash: string
  readonly logIndex: number
  readonly txHash: Hex
}

/** An order as its store describes it. */
interface DescribedOrder {
  readonly trader: string
  readonly events: readonly DescribedEvent[]
  readonly state: { readonly txHash: unknown }
}

/** The end of what one log began: the state of the order that was placed or requested by it last. */
interface Ends {
  readonly states: ReadonlyMap<string, string>
  /** Places of the logs that began an order which a later log began again, because its trader changed it. */
  readonly replaced: ReadonlySet<string>
}

const CREATIONS: ReadonlySet<string> = new Set(['placed', 'requested'])

/**
 * Returns the differences between the stores of the twins. Both must stand at the same block. Orders are compared by
 * what the chain tells of them, because the twin knows nothing of how they were prepared: an order that is changed is
 * one order to the service, and to its twin one that is cancelled and a new one.
 */
export async function problemsOfTwins({ chain, stores: { ours, twin } }: TwinWorld): Promise<string[]> {
  const options = { withRequests: false }
  const [own, other] = [await describeStore(ours, SLUG, options), await describeStore(twin, SLUG, options)]
  const [ownLog, otherLog] = [await readLog(ours), await readLog(twin)]
  return [
    ...differences('cursor', [own.cursor], [other.cursor]),
    ...differences('event of an order', eventsOf(own.orders), eventsOf(other.orders)),
    ...(await wrongReverts(chain, own.orders)),
    ...differencesOfEnds(endsOf(own.orders), endsOf(other.orders)),
    ...differences('position', textsOf(withoutOrigin(own.positions)), textsOf(withoutOrigin(other.positions))),
    ...differences('entry of the books', textsOf(own.fills), textsOf(other.fills)),
    ...differences('fill in the account log', fillsIn(ownLog), fillsIn(otherLog)),
    ...holesIn(ownLog),
  ]
}

function eventsOf(orders: readonly unknown[]): string[] {
  return (orders as DescribedOrder[]).flatMap(({ trader, events }) =>
    textsOf(events.filter(({ kind }) => kind !== 'reverted').map((event) => ({ trader, event }))),
  )
}

/**
 * Returns the transactions that the service says have failed and that did not. They leave no log, so the twin, which
 * does not wait for them, does not know them; the chain does.
 */
async function wrongReverts({ client }: ChainClient, orders: readonly unknown[]): Promise<string[]> {
  const told = (orders as DescribedOrder[]).flatMap(({ events }) => events.filter(({ kind }) => kind === 'reverted'))
  const receipts = await Promise.all(told.map(({ txHash }) => client.getTransactionReceipt({ hash: txHash })))
  return told
    .filter(({ blockHash }, at) => receipts[at]!.status !== 'reverted' || receipts[at]!.blockHash !== blockHash)
    .map((event) => `wrong revert: ${JSON.stringify(event)}`)
}

function endsOf(orders: readonly unknown[]): Ends {
  const states = new Map<string, string>()
  const replaced = new Set<string>()
  for (const { events, state } of orders as DescribedOrder[]) {
    const places = events
      .filter(({ kind }) => CREATIONS.has(kind))
      .map(({ blockHash, logIndex }) => `${blockHash}:${logIndex}`)
    const last = places.pop()
    // The transaction is that of the first creation; the events have all of them.
    const { txHash: _, ...rest } = state
    if (last !== undefined) states.set(last, JSON.stringify(rest))
    for (const place of places) replaced.add(place)
  }
  return { states, replaced }
}

function differencesOfEnds(own: Ends, other: Ends): string[] {
  const wrong = [...own.states]
    .filter(([place, state]) => other.states.get(place) !== state)
    .map(([place, state]) => `wrong state of the order at ${place}: ${state}, not ${other.states.get(place)}`)
  const lost = [...other.states.keys()].filter((place) => !own.states.has(place) && !own.replaced.has(place))
  return [...wrong, ...lost.map((place) => `lost order at ${place}: ${other.states.get(place)}`)]
}

/** Leaves out the order that opened a position: the twin calls it by another log when it was changed before. */
function withoutOrigin(positions: readonly unknown[]): unknown[] {
  return (positions as readonly { readonly origin: unknown }[]).map(({ origin: _, ...position }) => position)
}

function textsOf(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item))
}

/** Returns what only one of the twins has. */
function differences(what: string, own: readonly string[], other: readonly string[]): string[] {
  const lost = other.filter((text) => !own.includes(text)).map((text) => `lost ${what}: ${text.slice(0, SHOWN_CHARS)}`)
  const wrong = own
    .filter((text) => !other.includes(text))
    .map((text) => `wrong ${what}: ${text.slice(0, SHOWN_CHARS)}`)
  const doubled = own.length > new Set(own).size ? [`a ${what} twice`] : []
  return [...lost, ...wrong, ...doubled]
}

async function readLog({ read }: Store): Promise<readonly LogRow[]> {
  return read.all<LogRow>(
    `select l.trader, e.seq, e.channel, e.is_reverted, e.data
     from account_events e join account_logs l on l.id = e.log_id where l.chain = $1 order by l.trader, e.seq`,
    SLUG,
  )
}

/**
 * Returns the fills that a reader of the log ends with: an event that is taken back takes its fill with it. Their
 * block is left out, since a service that catches up logs the last of the blocks that it commits together. The rest of
 * the log tells how orders were prepared, which only the service knows, or what positions were worth at a moment.
 */
function fillsIn(log: readonly LogRow[]): string[] {
  const fills: string[] = []
  for (const { trader, channel, is_reverted, data } of log) {
    if (channel !== 'fills') continue
    const { fill } = JSON.parse(data) as Order
    const { price, size, collateral, feeCollateral, txHash } = fill ?? {}
    const text = [trader, price, size, collateral, feeCollateral, txHash].join(' ')
    if (is_reverted === 0n) fills.push(text)
    else fills.splice(fills.lastIndexOf(text), 1)
  }
  return fills
}

/** Returns the places where the dense numbers of a log have a hole. */
function holesIn(log: readonly LogRow[]): string[] {
  const last = new Map<string, bigint>()
  return log.flatMap(({ trader, seq }) => {
    const expected = (last.get(trader) ?? 0n) + 1n
    last.set(trader, seq)
    return seq === expected ? [] : [`the log of ${trader} has ${seq} after ${expected - 1n}`]
  })
}
