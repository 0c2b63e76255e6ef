import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Order, Position, PreparedBatch, PreparedOrder } from '@bezel/protocol/wire'
import { BroadcastError } from '../errors/broadcastError.ts'
import { BezelApiError } from '../errors/serviceErrors.ts'
import { TransactionTimeoutError, UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { writeInput, type CallNode } from '../testing/callTree.ts'
import { CHAIN_ID, CONTEXT, DIAMOND, SAMPLE_ORDER, SAMPLE_POSITION, TIMED_OUT, TRADER } from '../testing/sampleFacts.ts'
import { BatchInterruptedError, BatchNotDoneError, createBatches, type Batches } from './createBatches.ts'
import { trackOrder } from './trackOrder.ts'

const EXPECTED = 601_005n * 10n ** 9n

/** The orders of one page and their calls, as the service prepares them. */
const CANCEL = { order: SAMPLE_ORDER, calls: [{ name: 'cancelOpenOrder', args: [4] }] }
const RECLAIM = { order: { ...TIMED_OUT, id: '10' }, calls: [{ name: 'cancelOrderAfterTimeout', args: [5] }] }
const RECLAIM_TWO = {
  order: { ...TIMED_OUT, id: '11', side: 'short', reduceOnly: true } as Order,
  calls: [7, 8].map((index) => ({ name: 'cancelOrderAfterTimeout', args: [index] })),
}
const WITHDRAWN = { order: { ...SAMPLE_ORDER, id: '12', status: 'expired' } as Order, calls: [] }
const closeOf = ({ size }: Position, id: string, index: number) => ({
  order: {
    ...SAMPLE_ORDER,
    id,
    type: 'market',
    side: 'short',
    price: null,
    size,
    leverage: '10',
    sl: null,
    slippage: '1',
    reduceOnly: true,
    status: 'prepared',
  } as Order,
  calls: [{ name: 'closeTradeMarket', args: [index, EXPECTED] }],
})
const SECOND: Position = CONTEXT.positions!.find(({ id }) => id === '8')!
const CLOSE = closeOf(SAMPLE_POSITION, '13', 2)
const CLOSE_SECOND = closeOf(SECOND, '14', 3)
/** A position that looks like the first one in all that an order tells, and its close. */
const TWIN: Position = { ...SAMPLE_POSITION, id: '17', collateral: '295', entryPrice: '59000', openedAtBlock: 130 }
const [TRADE, ...TRADES] = CONTEXT.onChain!.trades
const TWIN_TRADE = { ...TRADE!, index: 12, collateralAmount: 295_000_000n, openPrice: 59_000n * 10n ** 10n }
const WITH_TWIN = { ...CONTEXT.onChain!, trades: [TRADE!, ...TRADES, TWIN_TRADE] }
const CLOSE_TWIN = closeOf(TWIN, '18', 12)
const EVERYTHING = [CANCEL, RECLAIM_TWO, RECLAIM, WITHDRAWN, CLOSE, CLOSE_SECOND]

/** Attempts at a page before it is given up. */
const MAX_TRIES = 4

const refusal = (code: string): BezelApiError => new BezelApiError({ code, message: 'No.', status: 422 })

type Leg = { readonly order: Order; readonly calls: readonly CallNode[] }

function transactionOf(calls: readonly CallNode[]): PreparedBatch['transaction'] {
  if (calls.length === 0) return null
  const data = writeInput({ actsFor: TRADER, calls, tail: '00000000000000a7' })
  return { to: DIAMOND, data, value: '0', chainId: CHAIN_ID, gas: '500000', expiresAt: 1 }
}

function page(legs: readonly Leg[], next: string | null = null): PreparedBatch {
  const transaction = transactionOf(legs.flatMap(({ calls }) => calls))
  return { orders: legs.map(({ order }) => order), leftOut: [], transaction, next }
}

describe('many orders and positions at once', () => {
  let pages: (PreparedBatch | Error)[]
  let held: Position[]
  /** The trades on the chain; `undefined` for a sender that can't read it. */
  let chain: typeof CONTEXT.onChain
  let sent: string[]
  let reported: string[]
  let asked: string[]
  /** Outcomes of the transactions in the order of sending: true for a revert. Without one they succeed. */
  let outcomes: (boolean | Error)[]
  /** Ends of closes by their ids. Without one they are filled. */
  let closeEnds: Readonly<Record<string, Partial<Order>>>
  /** Answers to writes of one order or position, by path. Without one it is not found. */
  let singles: Readonly<Record<string, PreparedOrder | Error>>
  /** Failures of the sender, in the order of sending. */
  let unsent: Error[]
  let batches: Batches

  beforeEach(() => {
    ;[pages, sent, reported, asked, outcomes] = [[], [], [], [], []]
    closeEnds = {}
    singles = {}
    unsent = []
    held = [SECOND, SAMPLE_POSITION]
    chain = CONTEXT.onChain
    const { market, collateral } = CONTEXT
    const setup = {
      facts: {
        market: async () => market,
        collateral: async () => collateral,
        onChain: async () => chain,
        chainPrice: async () => undefined,
      },
      broadcaster: {
        requireSender: () => ({}),
        broadcast: async ({ data }: { readonly data: string }) => {
          const failure = unsent.shift()
          if (failure !== undefined) throw failure
          sent.push(data)
          return `0x${String(sent.length)}`
        },
        isReverted: async () => {
          const outcome = outcomes.shift() ?? false
          if (outcome instanceof Error) throw outcome
          return outcome
        },
      },
      agentAddress: () => CONTEXT.sender,
      traderOf: async () => TRADER,
      domain: async () => ({ chainId: CHAIN_ID, verifyingContract: DIAMOND }),
      positions: async () => held,
    }
    batches = createBatches({
      setup: setup as never,
      async write({ operationId, path, body }) {
        asked.push(`${operationId} ${path} ${JSON.stringify(body)}`)
        const next = pages.shift()!
        if (next instanceof Error) throw next
        return next
      },
      async writeOne({ operationId, path }) {
        asked.push(`${operationId} ${path}`)
        const answer = singles[path] ?? refusal('POSITION_NOT_FOUND')
        if (answer instanceof Error) throw answer
        return answer
      },
      pauseMs: 0,
      async submit(id) {
        reported.push(id)
        if (id === CANCEL.order.id) throw new Error('not heard')
      },
      tracked: (order, txHash, goal) =>
        trackOrder({
          order,
          txHash,
          goal,
          read: async (id) => {
            asked.push(`getOrder ${id}`)
            if (order.status !== 'prepared') return { ...order, status: 'canceled' }
            return { ...order, status: 'filled', ...closeEnds[id] }
          },
        }),
    })
  })

  const refused = (error: unknown): boolean => error instanceof UnverifiedTransactionError

  const always = (prepared: PreparedBatch): PreparedBatch[] => Array.from({ length: MAX_TRIES }, () => prepared)

  it('verifies, sends and reports page after page', async () => {
    pages = [page([CANCEL, RECLAIM_TWO, RECLAIM, WITHDRAWN], 'o12'), page([CLOSE, CLOSE_SECOND])]
    const done = await batches.flatten({ market: 'BTC/USD' })
    assert.deepEqual(asked, [
      'flatten /flatten {"market":"BTC/USD"}',
      // A close of the next page may need the reclaim of this one.
      'getOrder 11',
      'flatten /flatten {"market":"BTC/USD","next":"o12"}',
    ])
    assert.deepEqual([sent.length, reported, done.txHashes], [2, ['9', '13'], ['0x1', '0x2']])
    assert.deepEqual(
      done.orders.map(({ id, txHash }) => [id, txHash]),
      [
        ['9', '0x1'],
        ['11', '0x1'],
        ['10', '0x1'],
        ['12', null],
        ['13', '0x2'],
        ['14', '0x2'],
      ],
    )
    const ended = await done.wait({ pollMs: 1 })
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['canceled', 'canceled', 'canceled', 'expired', 'filled', 'filled'],
    )
  })

  it('does not call it done when a close was refused or not answered, and says which', async () => {
    pages = [page([CANCEL, CLOSE, CLOSE_SECOND])]
    closeEnds = { 13: { status: 'rejected', reason: 'SLIPPAGE' }, 14: { status: 'timed_out' } }
    const done = await batches.flatten()
    const error: unknown = await done.wait({ pollMs: 1 }).catch((reason: unknown) => reason)
    assert.ok(error instanceof BatchNotDoneError, String(error))
    assert.deepEqual(
      [error.orders, error.missed].map((orders) => orders.map(({ id, status }) => `${id} ${status}`)),
      [
        ['9 canceled', '13 rejected', '14 timed_out'],
        ['13 rejected', '14 timed_out'],
      ],
    )
    assert.match(
      error.message,
      /^2 of 3 orders did not end as it was asked for: 13 is rejected \(SLIPPAGE\), 14 is timed_out\. Look at/,
    )
  })

  it('goes on over a page that needs no transaction', async () => {
    const leftOut = [{ id: '1', code: 'MARKET_CLOSED', message: 'It is closed.' } as const]
    pages = [{ ...page([WITHDRAWN], 'o12'), leftOut }, page([])]
    const done = await batches.cancelAll()
    assert.deepEqual([sent, done.leftOut, done.orders.length], [[], leftOut, 1])
    assert.deepEqual(asked.at(-1), 'cancelAllOrders /orders?next=o12 undefined')
  })

  it('asks for another slippage, and accepts only that', async () => {
    const slow = { ...CLOSE, calls: [{ name: 'updateMaxClosingSlippageP', args: [2, 2_500] }, ...CLOSE.calls] }
    pages = [page([slow])]
    await batches.closeAll({ slippage: '2.5' })
    pages = always(page([CLOSE]))
    await assert.rejects(batches.closeAll({ slippage: '2.5' }), refused)
    pages = always(page([slow]))
    await assert.rejects(batches.closeAll(), refused)
  })

  it('sends nothing that ends something else than was asked for', async () => {
    const cases: readonly (readonly [keyof Batches, PreparedBatch, object?])[] = [
      ['cancelAll', page([CLOSE])],
      ['closeAll', page([CANCEL])],
      ['flatten', page([CANCEL]), { market: 'ETH/USD' }],
      ['flatten', { ...page([CANCEL]), transaction: null }],
      ['flatten', { ...page([WITHDRAWN]), transaction: page([CANCEL]).transaction }],
      ['flatten', page([CLOSE, { ...CLOSE, order: { ...CLOSE.order, id: '15' } }])],
      ['flatten', page([closeOf({ ...SAMPLE_POSITION, size: '0.04' }, '15', 2)])],
      ['flatten', page([{ ...CLOSE, calls: [{ name: 'closeTradeMarket', args: [3, EXPECTED] }] }])],
      ['flatten', page([{ ...CLOSE, calls: [{ name: 'closeTradeMarket', args: [2, EXPECTED * 2n] }] }])],
      ['flatten', page([{ ...CANCEL, order: { ...CANCEL.order, trader: DIAMOND } }])],
    ]
    for (const [name, prepared, options] of cases) {
      pages = always(prepared)
      await assert.rejects(batches[name](options as never), refused, name)
    }
    assert.deepEqual(sent, [])
  })

  it('refuses a page with any call changed, dropped, doubled or moved', async () => {
    const calls = EVERYTHING.flatMap((leg) => leg.calls)
    const changed: (readonly CallNode[])[] = [[...calls, { name: 'cancelOpenOrder', args: [4] }]]
    for (const [at, { name, args }] of calls.entries()) {
      changed.push(calls.toSpliced(at, 1), calls.toSpliced(at, 0, calls[at]!))
      changed.push(calls.with(at, { name, args: args.with(0, 40) }))
      changed.push(calls.with(at, { name: 'updateSl', args: [2, 1n] }))
      if (at > 0) changed.push(calls.with(at, calls[at - 1]!).with(at - 1, calls[at]!))
    }
    pages = [page(EVERYTHING)]
    await batches.flatten()
    assert.equal(sent.length, 1)
    for (const tampered of changed) {
      pages = always({ ...page(EVERYTHING), transaction: transactionOf(tampered) })
      const answer = batches.flatten()
      // A reduce-only order may be reclaimed in parts: no answer tells of how many requests it is made.
      if (isPartOfReclaim(tampered, calls)) await answer
      else await assert.rejects(answer, refused, JSON.stringify(tampered.map(({ name, args }) => [name, String(args)])))
    }
  })

  function isPartOfReclaim(tampered: readonly CallNode[], calls: readonly CallNode[]): boolean {
    const missing = calls.filter((call) => !tampered.includes(call))
    const isOne = missing.length === 1 && tampered.length === calls.length - 1
    return isOne && RECLAIM_TWO.calls.includes(missing[0] as never)
  }

  it('says what was sent when a later page fails, and passes the failure of the first on', async () => {
    const failure = new Error('The service is away.')
    pages = [page([CANCEL], 'o9'), failure]
    const error: unknown = await batches.flatten().catch((reason: unknown) => reason)
    assert.ok(error instanceof BatchInterruptedError)
    assert.deepEqual([error.sent.orders.length, error.sent.txHashes, error.cause], [1, ['0x1'], failure])
    assert.match(error.message, /^1 transaction was sent, then it was interrupted: The service is away\. Repeat/)
    pages = [failure]
    await assert.rejects(batches.flatten(), failure)
  })

  it('prepares a page that reverted again, and keeps only what came of it', async () => {
    pages = [page([CANCEL, WITHDRAWN, CLOSE], 'p7'), page([CLOSE_SECOND], 'p8'), page([CLOSE])]
    outcomes = [true]
    const done = await batches.flatten()
    assert.deepEqual(asked, ['flatten /flatten {}', 'flatten /flatten {}', 'flatten /flatten {"next":"p8"}'])
    assert.deepEqual(done.txHashes, ['0x1', '0x2', '0x3'])
    assert.deepEqual(
      done.orders.map(({ id, txHash }) => [id, txHash]),
      [
        ['12', null],
        ['14', '0x2'],
        ['13', '0x3'],
      ],
    )
    assert.equal((await done.wait({ pollMs: 1 })).length, 3)
  })

  it('reads and prepares a page again that does not fit the chain any more', async () => {
    const stale = { ...page([WITHDRAWN, CANCEL, CLOSE]), transaction: page([CLOSE_SECOND]).transaction }
    // The service withdraws the close that was prepared in vain.
    const dropped = { order: { ...CLOSE.order, status: 'expired' } as Order, calls: [] }
    const anew = page([dropped, CANCEL, closeOf(SAMPLE_POSITION, '16', 2)])
    pages = [stale, anew]
    const done = await batches.flatten()
    assert.deepEqual([asked.length, done.txHashes], [2, ['0x1']])
    assert.deepEqual(
      done.orders.map(({ id }) => id),
      ['12', '9', '16'],
    )
    pages = [page([CANCEL]), page([CLOSE])]
    unsent = [new BroadcastError({ code: 3 })]
    assert.deepEqual(
      (await batches.flatten()).orders.map(({ id }) => id),
      ['13'],
    )
  })

  it('ends one by one what never fits, so that it holds up nothing', async () => {
    const stuck = page([CANCEL, CLOSE, CLOSE_SECOND], 'p8')
    pages = [...always(stuck), page([])]
    outcomes = [true, true, true, true]
    const alone = { order: { ...CLOSE.order, id: '23' }, transaction: transactionOf(CLOSE.calls) }
    singles = { '/positions/7/close': alone, '/positions/8/close': refusal('MARKET_CLOSED') }
    const done = await batches.flatten()
    assert.deepEqual(asked.slice(MAX_TRIES), [
      'flatten /flatten {"next":"p8"}',
      'getOrder 9',
      'closePosition /positions/8/close',
      'closePosition /positions/7/close',
    ])
    assert.deepEqual(
      done.orders.map(({ id, txHash }) => [id, txHash]),
      [['23', '0x5']],
    )
    assert.deepEqual(
      [done.txHashes.length, done.leftOut.map(({ id, code }) => [id, code])],
      [5, [['8', 'MARKET_CLOSED']]],
    )
  })

  it('tells positions that look alike apart by the chain, in any order and over the pages', async () => {
    held = [SAMPLE_POSITION, TWIN]
    chain = WITH_TWIN
    pages = [page([CLOSE_TWIN, CLOSE])]
    assert.equal((await batches.closeAll()).txHashes.length, 1)
    // The first close is not answered before the next page is read.
    pages = [page([CLOSE], 'p7'), page([CLOSE_TWIN])]
    assert.equal((await batches.closeAll()).txHashes.length, 2)
    pages = always(page([CLOSE, { ...CLOSE, order: { ...CLOSE.order, id: '15' } }]))
    await assert.rejects(batches.closeAll(), refused)
  })

  it('passes over no position because one that looks like it was closed', async () => {
    held = [SAMPLE_POSITION, TWIN]
    const alone = { order: { ...CLOSE.order, id: '23' }, transaction: transactionOf(CLOSE.calls) }
    const endedAlone = async (first: Leg): Promise<readonly string[]> => {
      asked = []
      pages = [page([first], 'p7'), ...always(page([CLOSE]))]
      outcomes = [false, true, true, true, true]
      singles = { '/positions/7/close': alone, '/positions/17/close': refusal('SIMULATION_REVERTED') }
      const done = await batches.closeAll()
      assert.equal(done.orders.at(-1)?.id, '23')
      return [...asked.slice(MAX_TRIES + 1), ...done.leftOut.map(({ id }) => id)]
    }
    chain = WITH_TWIN
    assert.deepEqual(await endedAlone(CLOSE_TWIN), ['closePosition /positions/7/close'])
    chain = undefined
    assert.deepEqual(await endedAlone(CLOSE_TWIN), [
      'closePosition /positions/7/close',
      'closePosition /positions/17/close',
      '17',
    ])
  })

  it('says what was done and what was not when it is interrupted meanwhile', async () => {
    pages = [page([CANCEL], 'o9'), ...always(page([CLOSE, CLOSE_SECOND]))]
    outcomes = [false, true, true, true, true]
    singles = { '/positions/8/close': new Error('The node is away.') }
    const error: unknown = await batches.flatten().catch((reason: unknown) => reason)
    assert.ok(error instanceof BatchInterruptedError, String(error))
    assert.deepEqual(
      [error.sent.orders, error.undone].map((orders) => orders.map(({ id }) => id)),
      [['9'], ['13', '14']],
    )
    assert.match(
      error.message,
      /^5 transactions were sent, .* The node is away\. .* under way: order 9\. Not done: orders 13, 14, and /,
    )
  })

  it('keeps what was sent and is not mined in time among what goes on', async () => {
    pages = [page([CANCEL], 'o9')]
    outcomes = [new TransactionTimeoutError('0x1', 90_000)]
    const error: unknown = await batches.flatten().catch((reason: unknown) => reason)
    assert.ok(error instanceof BatchInterruptedError && error.cause instanceof TransactionTimeoutError)
    assert.deepEqual([error.sent.orders.map(({ id }) => id), error.undone], [['9'], []])
  })
})
