import type { LivePosition } from '../../trading/positions/positionModel.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  parseAddress,
  Price,
  TokenSize,
  Usd,
  type Decimal,
  type FillAction,
  type FillHistoryEntry,
  type Hex,
  type OrderId,
  type Side,
} from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { insertCloid } from '../../store/facadeCloidStore.ts'
import { insertFill } from '../../store/fillStore.ts'
import { sampleFill } from '../../store/testing/sampleFill.ts'
import { insertOrderEvent } from '../../store/orderEventStore.ts'
import { insertOrder, saveOrderState } from '../../store/orderStore.ts'
import { insertPosition, savePositionState } from '../../store/positionStore.ts'
import type { OrderEvent, OrderRecord, OrderRequest, OrderState } from '../../trading/orders/orderModel.ts'
import { coinsOf } from '../coins.ts'
import { orderStatusAnswer } from '../exchange/exchangeAnswer.ts'
import { ALICE, createFacadeWorld, livePosition, type FacadeWorld } from '../testing/facadeWorld.ts'
import { HASH, REQUEST, STATE } from '../testing/restingOrder.ts'
import { answerInfo } from './infoTypes.ts'
import { MalformedInfoError } from './infoRequest.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const BOB = parseAddress(`0x${'bb'.repeat(20)}`)!

const AGENT = parseAddress(`0x${'ce'.repeat(20)}`)!

const CLOID = `0x${'0a'.repeat(16)}`

describe('what the facade says of orders and fills', () => {
  let world: FacadeWorld
  let nextBlock = 1

  beforeEach(async () => {
    world = await createFacadeWorld()
    nextBlock = 1
  })
  afterEach(() => world.opened.remove())

  async function ask(type: string, fields: Record<string, unknown> = {}) {
    return JSON.parse(String(await answerInfo({ type, user: ALICE, ...fields }, world.reads)))
  }

  /** Stores an order of Alice. */
  async function place(
    id: number,
    request: Partial<OrderRequest> = {},
    state: Partial<OrderState> = {},
    record: Partial<OrderRecord> = {},
  ): Promise<void> {
    const whole = { ...REQUEST, ...request }
    const base = {
      id: String(id) as OrderId,
      chain: 'base' as const,
      trader: ALICE,
      agent: null,
      originKey: `tx:${id}`,
    }
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await insertOrder(sql, { ...base, request: whole, createdAtMs: 1_000 + id, spendUsd: Usd.zero, ...record })
      const { size, price } = whole
      await saveOrderState(sql, base.id, { ...STATE, size, price, ...state }, undefined)
    })
  }

  /** Stores a fill of an order, one block after the last. */
  async function fill(
    orderId: number | undefined,
    of: { action?: FillAction; side?: Side; size?: string; pnl?: string; pairIndex?: number } = {},
  ): Promise<FillHistoryEntry> {
    const number = nextBlock++
    const blockHash = `0x${number.toString(16).padStart(64, '0')}` as Hex
    const at = { blockHash, blockNumber: number, logIndex: 3, txHash: HASH, timestampMs: number * 1_000 }
    const { action = 'TradeOpenedMarket', side = 'long', size = '0.25', pnl = '0', pairIndex = 0 } = of
    const amounts = { price: '60000', size, collateral: '1500', leverage: '10', pnl }
    const told = { timestamp: at.timestampMs, txHash: HASH, positionId: '900' }
    const entry = sampleFill(5_000 + number, { action, side, ...amounts, ...told })
    const { leverage: _leverage, pnl: _pnl, ...traded } = amounts
    const event: OrderEvent = {
      ...at,
      attemptId: null,
      kind: 'executed',
      pendingIndex: null,
      fill: { ...traded, feeCollateral: '0.9', ...told },
    }
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex, place: at, fill: entry })
      if (orderId === undefined) return
      await insertOrderEvent(sql, {
        chain: 'base',
        trader: ALICE,
        orderId: String(orderId) as OrderId,
        handle: null,
        event,
      })
    })
    return entry
  }

  const filledBy = (size: string) => {
    const amounts = { price: '60000', size, collateral: '1500', feeCollateral: '0.9' }
    const told = { ...amounts, txHash: HASH, timestamp: 1, positionId: null }
    return { id: '7', clientId: null, status: 'filled', txHash: HASH, fill: told, reason: null } as const
  }

  /** Opens a position and stores it. */
  async function open(position: LivePosition): Promise<void> {
    await place(Number(position.record.originOrderId), {}, { status: 'filled' })
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await insertPosition(sql, position.record)
      await savePositionState(sql, position.record.id, position.state)
    })
    world.positions = [...world.positions, position]
  }

  async function close(
    position: LivePosition,
    changes: Partial<LivePosition['state']> = { isOpen: false },
  ): Promise<void> {
    const state = { ...position.state, ...changes }
    await world.opened.store.transaction(TEST_SCOPE, (sql) => savePositionState(sql, position.record.id, state))
    world.positions = state.isOpen ? [{ ...position, state }] : []
  }

  it('shows a resting order in full and in short', async () => {
    await place(7, { clientId: CLOID })
    const [order] = await ask('frontendOpenOrders')
    assert.deepEqual(order, {
      coin: 'BTC',
      side: 'B',
      limitPx: '58000.0',
      sz: '0.25',
      oid: 7,
      timestamp: 1_007,
      triggerCondition: 'N/A',
      isTrigger: false,
      triggerPx: '0.0',
      orderType: 'Limit',
      tif: 'Gtc',
      children: [],
      isPositionTpsl: false,
      reduceOnly: false,
      origSz: '0.25',
      cloid: CLOID,
    })
    assert.deepEqual(await ask('openOrders'), [
      {
        coin: 'BTC',
        side: 'B',
        limitPx: '58000.0',
        sz: '0.25',
        oid: 7,
        timestamp: 1_007,
        origSz: '0.25',
        cloid: CLOID,
      },
    ])
    assert.deepEqual(await ask('openOrders', { user: BOB }), [])
    for (const type of ['openOrders', 'frontendOpenOrders']) assert.deepEqual(await ask(type, { dex: 'xyz' }), [])
  })

  it('shows what waits for the oracle as open, and what only an agent has prepared not at all', async () => {
    await place(7, { type: 'market', price: null }, { status: 'pending', price: null })
    await place(8, {}, { status: 'prepared', txHash: null })
    await place(9, {}, { status: 'prepared', txHash: null }, { agent: AGENT })
    await place(10, {}, { status: 'expired', txHash: null })
    const oids = async (type: string) =>
      (await ask(type)).map((one: { oid?: number; order?: { oid: number } }) => one.oid ?? one.order?.oid)
    assert.deepEqual(await oids('openOrders'), [7])
    assert.deepEqual(await oids('historicalOrders'), [7])
    assert.deepEqual(await ask('orderStatus', { oid: 8 }), { status: 'unknownOid' })
    const [market] = await ask('frontendOpenOrders')
    assert.deepEqual([market.orderType, market.tif, market.limitPx], ['Market', 'Ioc', '60000.0'])
    // Reported hashes that no node knows.
    await place(11, {}, { status: 'prepared' })
    await place(12, {}, { status: 'expired' })
    assert.deepEqual(await oids('openOrders'), [11, 7])
    assert.deepEqual(await oids('historicalOrders'), [12, 11, 7])
    world.agents = [{ agent: AGENT, trader: ALICE, mode: 'relayed' } as AgentRecord]
    assert.deepEqual(await oids('openOrders'), [11, 9, 7], "it came through the facade, so it is the client's own")
  })

  it('shows a market order at the worst price it takes, as its client wrote it', async () => {
    const of = { type: 'market', price: '60000' as Decimal, slippage: '1.5' as Decimal } as const
    await place(7, of, { status: 'pending', price: of.price, slippage: of.slippage })
    await place(8, { ...of, side: 'short' }, { status: 'pending', price: of.price, slippage: of.slippage })
    const orders = await ask('openOrders')
    assert.deepEqual(
      orders.map(({ oid, limitPx }: { oid: number; limitPx: string }) => [oid, limitPx]),
      [
        [8, '59100.0'],
        [7, '60900.0'],
      ],
    )
  })

  it('shows a stop as a trigger, and coins of 1,000 units as such', async () => {
    await place(7, { type: 'stop', side: 'short' })
    const [stop] = await ask('frontendOpenOrders')
    assert.deepEqual(
      [stop.orderType, stop.isTrigger, stop.triggerPx, stop.triggerCondition, stop.tif, stop.side],
      ['Stop Market', true, '58000.0', 'Price below 58000.0', null, 'A'],
    )
    const kilo = { pairIndex: 3, size: '2500000', price: '0.0000125' } as Partial<OrderRequest>
    await place(8, kilo)
    const [pepe] = await ask('openOrders')
    assert.deepEqual([pepe.coin, pepe.sz, pepe.limitPx], ['kPEPE', '2500.0', '0.0125'])
  })

  it('orderStatus finds by id and by the id of the client, in the four statuses that clients know', async () => {
    const statuses: [OrderState['status'], string, string][] = [
      ['pending', 'open', '0.25'],
      ['open', 'open', '0.25'],
      ['filled', 'filled', '0.0'],
      ['rejected', 'rejected', '0.25'],
      ['canceled', 'canceled', '0.25'],
      ['timed_out', 'canceled', '0.25'],
    ]
    for (const [at, [status, shown, sz]] of statuses.entries()) {
      const cloid = `0x${String(at).padStart(32, 'f')}`
      await place(100 + at, { clientId: cloid }, { status })
      const answer = await ask('orderStatus', { oid: 100 + at })
      assert.deepEqual([answer.status, answer.order.status, answer.order.statusTimestamp], ['order', shown, 5_000])
      assert.deepEqual([answer.order.order.sz, answer.order.order.origSz], [sz, '0.25'])
      for (const oid of [cloid, cloid.toUpperCase().replace('X', 'x'), String(100 + at)]) {
        assert.deepEqual(await ask('orderStatus', { oid }), answer)
      }
    }
    assert.equal((await ask('historicalOrders')).length, statuses.length)
  })

  it("knows nothing of another trader's order, of another chain's, or of one that does not exist", async () => {
    await place(7, { clientId: CLOID }, {}, { trader: BOB })
    await place(8, {}, {}, { chain: 'arbitrum' })
    for (const oid of [7, 8, 9, CLOID, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(await ask('orderStatus', { oid }), { status: 'unknownOid' })
    }
    for (const oid of [undefined, null, -1, 1.5, 0, 'seven', '0x12', `${CLOID}00`, {}, 2 ** 53]) {
      await assert.rejects(ask('orderStatus', { oid }), MalformedInfoError, String(oid))
    }
  })

  it('does not show an id that no client of the facade could have given', async () => {
    await place(7, { clientId: 'my order' })
    assert.equal((await ask('frontendOpenOrders'))[0].cloid, null)
    assert.equal('cloid' in (await ask('openOrders'))[0], false)
  })

  describe('take profits and stop losses', () => {
    const POSITION = livePosition('900', { tp: usd(70_000), sl: usd(55_000) })
    POSITION.record satisfies { originOrderId: OrderId }

    const triggers = async () =>
      (await ask('frontendOpenOrders')).filter(({ isPositionTpsl }: { isPositionTpsl: boolean }) => isPositionTpsl)

    /** Lets the stop loss of a trade fire. `at` counts the calls. */
    async function fire({ record, state: held }: LivePosition, at: number): Promise<void> {
      const updatedAtMs = 3_000 + at
      await world.opened.store.transaction(TEST_SCOPE, (sql) =>
        savePositionState(sql, record.id, { ...held, isOpen: false, updatedAtMs }),
      )
      world.positions = world.positions.filter((other) => other.record.id !== record.id)
      const size = '0.016663333999866693'
      const fillOf = { price: '55000', size, collateral: '1', feeCollateral: '0', txHash: HASH, timestamp: 1 }
      const state = { status: 'filled', fill: { ...fillOf, positionId: record.id } } as const
      const request = { kind: 'close', side: 'short', type: 'stop', reduceOnly: true } as const
      await place(950 + at, request, state, { originKey: `sl:${record.id}` })
      await fill(950 + at, { action: 'TradeClosedSL', size })
    }

    it('are orders with ids of their own, which stay', async () => {
      await open(POSITION)
      const [tp, sl] = await triggers()
      assert.deepEqual(
        [tp.orderType, tp.triggerPx, tp.triggerCondition, tp.side, tp.reduceOnly, tp.tif],
        ['Take Profit Market', '70000.0', 'Price above 70000.0', 'A', true, null],
      )
      assert.deepEqual([sl.orderType, sl.triggerCondition], ['Stop Market', 'Price below 55000.0'])
      assert.equal(tp.sz, '0.01666')
      assert.equal(new Set([900, tp.oid, sl.oid]).size, 3)
      await close(POSITION, { trade: { ...POSITION.state.trade, tp: usd(80_000), sl: Price.zero } })
      const [moved, ...others] = await triggers()
      assert.deepEqual([moved.oid, moved.triggerPx, others], [tp.oid, '80000.0', []])
      assert.deepEqual((await ask('orderStatus', { oid: sl.oid })).order.status, 'canceled')
      assert.deepEqual((await ask('orderStatus', { oid: tp.oid })).order.status, 'open')
      assert.deepEqual(await ask('orderStatus', { oid: tp.oid, user: BOB }), { status: 'unknownOid' })
    })

    it('keep their ids over a restart, and two readers get the same', async () => {
      await open(POSITION)
      const [first, second] = await Promise.all([triggers(), triggers()])
      assert.deepEqual(first, second)
      const rows = await world.opened.store.read.all('select * from facade_triggers')
      assert.equal(rows.length, 2)
    })

    it('that closed the position are filled, in history and fills too', async () => {
      await open(POSITION)
      const [tp, sl] = await triggers()
      await close(POSITION)
      const closing = {
        kind: 'close',
        side: 'short',
        reduceOnly: true,
        price: '70000',
        size: '0.1',
      } as Partial<OrderRequest>
      await place(950, { ...closing, type: 'limit' }, { status: 'filled' }, { originKey: 'tp:900' })
      await fill(950, { action: 'TradeClosedTP', size: '0.1', pnl: '12.5' })
      const { order } = await ask('orderStatus', { oid: tp.oid })
      assert.deepEqual([order.status, order.order.sz, order.order.isPositionTpsl], ['filled', '0.0', true])
      assert.equal((await ask('orderStatus', { oid: sl.oid })).order.status, 'canceled')
      const [told] = await ask('userFills')
      assert.deepEqual([told.oid, told.dir, told.side, told.closedPnl], [tp.oid, 'Close Long', 'A', '12.5'])
      const [latest] = await ask('historicalOrders')
      assert.deepEqual(
        [latest.order.oid, latest.order.orderType, latest.status],
        [tp.oid, 'Take Profit Market', 'filled'],
      )
    })

    it('are one order for all trades of a position, which closes them one after the other', async () => {
      const held = ['900', '910', '920'].map((id) => livePosition(id, { sl: usd(55_000), tp: Price.zero }))
      for (const position of held) await open(position)
      const [sl, ...others] = await triggers()
      assert.deepEqual([sl.sz, sl.origSz, others], ['0.04999', '0.04999', []])
      const statusOf = async (oid: number) => (await ask('orderStatus', { oid })).order
      for (const [at, position] of held.entries()) {
        await fire(position, at)
        const { order, status } = await statusOf(sl.oid)
        const left = ['0.03333', '0.01666', '0.0'][at]
        assert.deepEqual([status, order.sz, order.origSz], [at === 2 ? 'filled' : 'open', left, '0.04999'])
        assert.deepEqual(
          (await triggers()).map(({ oid, sz }: { oid: number; sz: string }) => [oid, sz]),
          at === 2 ? [] : [[sl.oid, left]],
        )
      }
      const fills = await ask('userFills')
      assert.deepEqual(
        fills.map(({ oid }: { oid: number }) => oid),
        [sl.oid, sl.oid, sl.oid],
      )
      const history = (await ask('historicalOrders')).filter(({ order }: never) => order['oid'] === sl.oid)
      assert.deepEqual(
        history.map(({ status }: { status: string }) => status),
        ['filled'],
      )
    })

    it('that differ are one order for each price', async () => {
      for (const [id, price] of [
        ['900', 55_000],
        ['910', 56_000],
        ['920', 55_000],
      ] as const) {
        await open(livePosition(id, { sl: usd(price), tp: Price.zero }))
      }
      const listed = await triggers()
      assert.deepEqual(
        listed.map(({ triggerPx, sz }: { triggerPx: string; sz: string }) => [triggerPx, sz]),
        [
          ['55000.0', '0.03333'],
          ['56000.0', '0.01666'],
        ],
      )
    })

    describe('that were placed as one, where the trades differ', () => {
      const HELD = [55_000, 54_000].map((sl, at) => livePosition(`9${at}0`, { sl: usd(sl), tp: Price.zero }))
      const statusOf = async (oid: number) => {
        const { order, status } = (await ask('orderStatus', { oid })).order
        return [status, order.sz, order.origSz]
      }
      const listed = async () => (await triggers()).map(({ oid, sz }: { oid: number; sz: string }) => [oid, sz])
      let placed: number
      let other: number

      beforeEach(async () => {
        for (const position of HELD) await open(position)
        const terms = { kind: 'sl', price: usd(40_000), parts: HELD, isWhole: true } as const
        placed = Number(
          await world.opened.store.transaction(TEST_SCOPE, (sql) => world.reads.triggers.assign(sql, terms)),
        )
        world.reads.triggers.forget(terms)
        const [first, second] = await listed()
        assert.equal(first[0], placed)
        other = second[0]
      })

      for (const [which, [first, second]] of [
        ['the one that has the id', [HELD[0]!, HELD[1]!]],
        ['the other one', [HELD[1]!, HELD[0]!]],
      ] as const) {
        it(`stay open under the id that the client was told when ${which} fires, and are filled with the last`, async () => {
          await fire(first, 0)
          assert.deepEqual(await listed(), [[placed, '0.01666']])
          const isPlaced = first === HELD[0]
          assert.deepEqual(await statusOf(placed), ['open', '0.01666', isPlaced ? '0.03333' : '0.01666'])
          assert.deepEqual((await statusOf(other))[0], isPlaced ? 'canceled' : 'filled')
          await fire(second, 1)
          assert.deepEqual(await statusOf(placed), ['filled', '0.0', isPlaced ? '0.03333' : '0.01666'])
          // A position of later is not of that order.
          await open(livePosition('960', { sl: usd(56_000), tp: Price.zero }, { openedAtMs: 9_000 }))
          const [[next]] = (await listed()) as [[number]]
          assert.ok(next !== placed && next !== other)
          assert.equal((await statusOf(placed))[0], 'filled')
        })
      }

      it('are both filled where both fire at once', async () => {
        for (const [at, position] of HELD.entries()) await fire(position, at)
        for (const oid of [placed, other]) assert.deepEqual(await statusOf(oid), ['filled', '0.0', '0.01666'])
      })

      it('are canceled where nothing of them fired', async () => {
        for (const position of HELD) {
          const state = { ...position.state, trade: { ...position.state.trade, sl: Price.zero } }
          await world.opened.store.transaction(TEST_SCOPE, (sql) => savePositionState(sql, position.record.id, state))
        }
        world.positions = []
        for (const oid of [placed, other]) assert.equal((await statusOf(oid))[0], 'canceled')
      })
    })

    it('are found by the ids that their client gave them', async () => {
      await open(POSITION)
      const [, sl] = await triggers()
      const key = { chain: 'base', trader: ALICE, cloid: CLOID } as const
      await world.opened.store.transaction(TEST_SCOPE, (sql) =>
        insertCloid(sql, key, { asked: '', oid: String(sl.oid) as OrderId }),
      )
      const { status, order } = await ask('orderStatus', { oid: CLOID.toUpperCase().replace('X', 'x') })
      assert.deepEqual([status, order.status, order.order.oid, order.order.cloid], ['order', 'open', sl.oid, CLOID])
      assert.deepEqual(await ask('orderStatus', { oid: CLOID, user: BOB }), { status: 'unknownOid' })
      assert.deepEqual(await ask('orderStatus', { oid: `0x${'0b'.repeat(16)}` }), { status: 'unknownOid' })
    })

    it('that nobody has asked for go by the id of the order that closed the position', async () => {
      await open(POSITION)
      await close(POSITION)
      await place(951, { kind: 'close', type: 'stop', reduceOnly: true }, { status: 'filled' }, { originKey: 'sl:900' })
      await fill(951, { action: 'TradeClosedSL' })
      assert.equal((await ask('userFills'))[0].oid, 951)
    })
  })

  describe('fills', () => {
    it('are told with their order, fee and direction, newest first', async () => {
      await place(7, { clientId: CLOID }, { status: 'filled' })
      const { id } = await fill(7)
      assert.deepEqual(await ask('userFills'), [
        {
          coin: 'BTC',
          px: '60000.0',
          sz: '0.25',
          side: 'B',
          time: 1_000,
          startPosition: '-0.25',
          dir: 'Open Long',
          closedPnl: '0.0',
          hash: HASH,
          oid: 7,
          crossed: true,
          fee: '0.9',
          tid: id,
          feeToken: 'USDC',
          cloid: CLOID,
          twapId: null,
        },
      ])
    })

    it('of one order add up to what the order says that it filled', async () => {
      const legs = ['0.009998233', '0.009996', '0.0099951'].map((size, index) => ({
        positionId: String(900 + index) as OrderId,
        tradeIndex: index,
        size: size as Decimal,
      }))
      await place(7, { kind: 'close', side: 'short', type: 'market', reduceOnly: true, legs }, { status: 'filled' })
      for (const { size } of legs) await fill(7, { action: 'TradeClosedMarket', size })
      const told = (await ask('userFills')).toReversed()
      assert.deepEqual(
        told.map(({ sz }: { sz: string }) => sz),
        ['0.01', '0.00999', '0.01'],
      )
      assert.deepEqual(orderStatusAnswer(coinsOf(world.reads.markets()).universe[0]!, filledBy('0.029989333')), {
        filled: { totalSz: '0.02999', avgPx: '60000.0', oid: 7 },
      })
    })

    it('begin where the position was before them', async () => {
      const tokens = (size: number) => BigInt(size * 1_000) * 10n ** 15n
      await fill(undefined, { size: '1' })
      await fill(undefined, { size: '0.5', action: 'TradePosSizeIncrease' })
      await fill(undefined, { size: '0.25', action: 'TradePosSizeDecrease' })
      await fill(undefined, { size: '0.25', action: 'TradeLeverageUpdate' })
      await fill(undefined, { size: '2', side: 'short' })
      world.positions = [
        livePosition('1', { positionSizeToken: TokenSize.of(tokens(1.25)) }),
        livePosition('2', { long: false, positionSizeToken: TokenSize.of(tokens(2)) }),
      ]
      const told = await ask('userFills')
      assert.deepEqual(
        told.map(({ dir, side, startPosition }: Record<string, string>) => [dir, side, startPosition]),
        [
          ['Open Short', 'A', '1.25'],
          ['Close Long', 'A', '1.5'],
          ['Open Long', 'B', '1.0'],
          ['Open Long', 'B', '0.0'],
        ],
      )
    })

    it('of a liquidation say so', async () => {
      await fill(undefined, { action: 'TradeClosedLIQ', side: 'short' })
      const [told] = await ask('userFills')
      assert.deepEqual(told.liquidation, { liquidatedUser: ALICE.toLowerCase(), markPx: '60000.0', method: 'market' })
      assert.equal(told.dir, 'Close Short')
    })

    it('between two times are told oldest first', async () => {
      for (let i = 0; i < 6; i += 1) await fill(undefined)
      const times = async (fields: Record<string, unknown>) =>
        (await ask('userFillsByTime', fields)).map(({ time }: { time: number }) => time)
      assert.deepEqual(await times({ startTime: 0 }), [1_000, 2_000, 3_000, 4_000, 5_000, 6_000])
      assert.deepEqual(await times({ startTime: 2_000, endTime: 4_000, aggregateByTime: true }), [2_000, 3_000, 4_000])
      assert.deepEqual(await times({ startTime: 6_001 }), [])
      await assert.rejects(ask('userFillsByTime', {}), MalformedInfoError)
      await assert.rejects(ask('userFillsByTime', { startTime: 'now' }), MalformedInfoError)
    })

    it('are at most 2,000 in one answer, and each id once', async () => {
      for (let i = 0; i < 2_003; i += 1) await fill(undefined)
      const [all, byTime] = [await ask('userFills'), await ask('userFillsByTime', { startTime: 0 })]
      assert.deepEqual([all.length, byTime.length], [2_000, 2_000])
      assert.deepEqual([all[0].time, byTime[0].time], [2_003_000, 1_000])
      assert.equal(new Set(all.map(({ tid }: { tid: number }) => tid)).size, 2_000)
    })
  })
})
