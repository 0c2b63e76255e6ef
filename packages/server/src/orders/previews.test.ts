import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  ApiError,
  diamondAbi,
  OrderPreviewSchema,
  PositionPreviewSchema,
  Price,
  type AgentScope,
  type Decimal,
  type OrderId,
  type OrderPreview,
} from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { decodeFunctionData, encodeErrorResult, erc20Abi, type Hex } from 'viem'
import type { Holdings } from '../accounts/readHoldings.ts'
import { positionOf } from '../trading/plan/testing/fixtures.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { createOrder } from './createOrder.ts'
import { previewClose, previewOrder, previewPosition, type ChainPreviews, type PreviewQuestion } from './previews.ts'
import {
  AGENT,
  LIMIT_BODY,
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  OTHER_TRADER,
  TRADER,
  type OrdersWorld,
} from './testing/ordersWorld.ts'
import { reverted, uint } from './testing/scriptedNode.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

const RICH: Holdings = {
  balances: [
    { collateral: 'WETH', balance: '0', allowance: '0' },
    { collateral: 'USDC', balance: '5000', allowance: String(2n ** 256n - 1n) },
  ],
  feeTierMultiplier: null,
  referrer: null,
  delegate: AGENT,
}

const ID = '7' as OrderId

describe('previews', () => {
  let world: OrdersWorld
  let previews: ChainPreviews
  let holdings: Holdings

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
    holdings = RICH
    previews = {
      orders: world.orders,
      holdings: () => holdings,
      learnTerms: async () => undefined,
      delegateFor: ({ agent }) => agent,
    }
    const own = positionOf({ user: TRADER })
    world.positions.push({ ...own, record: { ...own.record, trader: TRADER } })
  })
  afterEach(() => world.remove())

  const asked = (changes: Partial<PreviewQuestion> = {}): PreviewQuestion => ({
    trader: TRADER,
    agent: world.registry.agent('arbitrum', AGENT)!,
    isSimulated: false,
    ...changes,
  })
  const preview = (body = {}, question = asked()): Promise<OrderPreview> =>
    previewOrder(previews, question, { ...MARKET_BODY, ...body })
  const kinds = ({ missing }: Pick<OrderPreview, 'missing'>): string[] => missing.map(({ kind }) => kind)

  async function withScope(scope: Partial<AgentScope>): Promise<PreviewQuestion> {
    await world.register({ scope: { ...UNLIMITED_SCOPE, ...scope } })
    return asked()
  }

  it('say what an order costs and does, without a node and without a transaction', async () => {
    const { transactions } = world
    const answer = await preview()
    assert.deepEqual(answer, {
      market: 'BTC/USD',
      side: 'long',
      type: 'market',
      reduceOnly: false,
      size: '0.1',
      notionalUsd: '6001.2',
      leverage: '10',
      // 6001.2 x 60000 / 60012 = 6000 of size; 600.12 - 1.2 of spread - 3.60072 of fee is left.
      effectiveLeverage: '10.078',
      collateral: '600.12',
      collateralSymbol: 'USDC',
      slippage: '1',
      oraclePrice: '60000',
      price: '60012',
      spreadRate: '0.0002',
      volumeImpactRate: '0',
      skewImpactRate: '0',
      priceImpactRate: '0.0002',
      feeCollateral: '3.60072',
      feeRate: '0.0006',
      deposit: '600.12',
      payout: '0',
      pnl: '0',
      fundingFee: '0',
      borrowingFee: '0',
      liquidationPrice: '54694.9368',
      sl: null,
      tp: null,
      legs: [],
      reason: null,
      warnings: [],
      missing: [],
      spend: {
        agent: AGENT,
        spentUsd: '0',
        afterUsd: '6001.2',
        dailySpendCapUsd: null,
        resetsAt: Date.UTC(2027, 0, 16),
      },
      simulation: null,
      priceAt: world.market.nowMs,
      block: 100,
    })
    assert.deepEqual([...Value.Errors(OrderPreviewSchema, answer)], [])
    assert.deepEqual([world.node.batches.length, world.transactions], [0, transactions])
  })

  it('apply the fee tier of the account', async () => {
    holdings = { ...RICH, feeTierMultiplier: '0.925' as Decimal }
    const { feeRate, feeCollateral } = await preview()
    assert.deepEqual([feeRate, feeCollateral], ['0.000555', '3.330666'])
  })

  it('quote a resting order at its trigger, and one that the price has passed at the mark', async () => {
    const rests = await preview(LIMIT_BODY)
    assert.deepEqual([rests.oraclePrice, rests.price, rests.size], ['50000', '50010', '0.1'])
    const passed = await preview({ ...LIMIT_BODY, price: '70000' })
    assert.deepEqual([passed.oraclePrice, passed.price], ['60000', '60012'])
    assert.deepEqual([rests.warnings, passed.warnings.map((one) => one.code)], [[], ['marketable']])
  })

  it('name the reason for which the contracts would refuse the execution', async () => {
    const slipped = await preview({ slippage: '0.019' })
    assert.deepEqual([slipped.reason, slipped.size, slipped.price], ['SLIPPAGE', '0', '60012'])
    assert.equal((await preview({ slippage: '0.02' })).reason, null)
    assert.equal((await preview({ tp: '60010' })).reason, 'TP_REACHED')
  })

  it('say that the Diamond is paused, and that one in close-only mode takes closes', async () => {
    for (const [tradingActivated, expected] of [
      [1, ['PAUSED', null, 'PAUSED']],
      [2, ['PAUSED', 'PAUSED', 'PAUSED']],
    ] as const) {
      world.market.chain = { ...world.market.chain!, tradingActivated }
      const close = await previewClose(previews, asked(), ID, {})
      const change = await previewPosition(previews, asked(), ID, { sl: '57000' })
      assert.deepEqual([(await preview()).reason, close.reason, change.reason], expected)
    }
  })

  it('say which stop loss the contracts keep, measured from the execution', async () => {
    const { sl, warnings } = await preview({ sl: '50000' })
    assert.equal(warnings[0]!.code, 'sl_clamped')
    assert.ok(Number(sl) > 54_000 && Number(sl) < 60_000, String(sl))
  })

  it('list a missing balance and allowance, with the transaction that allows what is needed', async () => {
    const balances = [{ collateral: 'USDC', balance: '100.5', allowance: '600.119999' }]
    holdings = { ...RICH, balances }
    const { missing } = await preview()
    assert.deepEqual(kinds({ missing }), ['balance', 'allowance'])
    const [balance, allowance] = missing
    assert.deepEqual([balance!.needed, balance!.available, balance!.transaction], ['600.12', '100.5', null])
    assert.match(balance!.remedy, /Pay 499\.62 USDC or more into/)
    assert.match(allowance!.remedy, /It does not help alone: the balance is too small too\.$/)
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: allowance!.transaction!.data as Hex })
    assert.deepEqual([functionName, args], ['approve', [world.orders.chain.diamond, 600_120_000n]])
    holdings = { ...RICH, balances: [{ collateral: 'USDC', balance: '600.12', allowance: '600.12' }] }
    assert.deepEqual(kinds(await preview()), [])
  })

  it('list a missing delegation with its transaction, also of an agent that another caller names', async () => {
    holdings = { ...RICH, delegate: OTHER_AGENT }
    const { missing } = await preview()
    assert.deepEqual([missing[0]!.kind, missing[0]!.code], ['delegation', 'AGENT_NOT_DELEGATED'])
    assert.doesNotMatch(`${missing[0]!.message} ${missing[0]!.remedy}`, /details/, 'the transaction is in the entry')
    const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data: missing[0]!.transaction!.data as Hex })
    assert.deepEqual([functionName, args], ['setTradingDelegate', [AGENT]])
  })

  it('list what the scope forbids, with the codes of the real refusals', async () => {
    const tight = await withScope({ markets: ['EUR/USD'], maxLeverage: '5', dailySpendCapUsd: '6000' })
    const codes = async (body = {}): Promise<string[]> => (await preview(body, tight)).missing.map((one) => one.code)
    assert.deepEqual(await codes(), ['SCOPE_MARKET_NOT_ALLOWED', 'SCOPE_SPEND_CAP_EXCEEDED'])
    const fast = await withScope({ maxLeverage: '5', permissions: 'read' })
    const { missing } = await preview({}, fast)
    assert.deepEqual(
      missing.map((one) => [one.kind, one.code, one.transaction]),
      [
        ['scope', 'SCOPE_READ_ONLY', null],
        ['scope', 'SCOPE_LEVERAGE_EXCEEDED', null],
      ],
    )
    for (const { remedy } of missing) assert.match(remedy, /^(?!.*details\.).*anew \(`createAgent`\), with .*scope\./)
  })

  it('count the spend of the day, orders that are only prepared included', async () => {
    const question = await withScope({ dailySpendCapUsd: '15000' })
    await createOrder(world.orders, world.write(), MARKET_BODY)
    const { spend, missing } = await preview({}, question)
    assert.deepEqual([spend!.spentUsd, spend!.afterUsd, spend!.dailySpendCapUsd], ['6001.2', '12002.4', '15000'])
    assert.deepEqual(missing, [])
  })

  it('say nothing about rights where no agent is known', async () => {
    holdings = { ...RICH, delegate: OTHER_AGENT }
    const { spend, missing } = await preview({}, asked({ agent: null }))
    assert.deepEqual([spend, missing], [null, []])
  })

  it('refuse what the order itself would be refused for', async () => {
    await assert.rejects(preview({ size: '0.0001' }), code('SIZE_BELOW_MINIMUM'))
    await assert.rejects(preview({ size: '0.1234567' }), code('PRECISION_ERROR'))
    await assert.rejects(preview({ leverage: '500' }), code('LEVERAGE_OUT_OF_RANGE'))
    await assert.rejects(preview({ market: 'NO/USD' }), code('MARKET_NOT_FOUND'))
    await assert.rejects(preview({ market: 'EUR/USD' }), code('MARKET_CLOSED'))
    await assert.rejects(preview({ ...LIMIT_BODY, price: '90000', sl: '56000' }), code('UNSUPPORTED'))
    await assert.rejects(preview(LIMIT_BODY.type === 'limit' ? { type: 'limit' } : {}), code('VALIDATION_ERROR'))
  })

  it('refuse a stop on the wrong side of the price of the order as the contracts do, without a node', async () => {
    for (const [body, errorName] of [
      [{ sl: '60000' }, 'TradeSlInvalid'],
      [{ tp: '60000' }, 'TradeTpInvalid'],
      [{ ...LIMIT_BODY, sl: '55000' }, 'TradeSlInvalid'],
      [{ side: 'short', sl: '59000', tp: '61000' }, 'TradeTpInvalid'],
    ] as const) {
      const refusal = await preview(body).catch((error: unknown) => error as ApiError)
      assert.ok(refusal instanceof ApiError && refusal.code === 'SIMULATION_REVERTED', JSON.stringify(refusal))
      assert.equal(refusal.details?.errorName, errorName)
      const { functionName } = decodeFunctionData({ abi: diamondAbi, data: refusal.details?.calldata as Hex })
      assert.equal(functionName, 'openTrade')
    }
    assert.equal(world.node.batches.length, 0)
  })

  it('are what the order then asks for', async () => {
    const { collateral } = await preview({ sl: '55000', leverage: '7.5', size: '0.12345' })
    const body = { ...MARKET_BODY, sl: '55000', leverage: '7.5', size: '0.12345' }
    const { prepared } = await createOrder(world.orders, world.write(), body)
    const outer = decodeFunctionData({ abi: diamondAbi, data: prepared.transaction!.data as Hex })
    const inner = decodeFunctionData({ abi: diamondAbi, data: outer.args![1] as Hex })
    const [trade] = inner.args as never as readonly [{ readonly collateralAmount: bigint }]
    assert.equal(trade.collateralAmount, BigInt(Math.round(Number(collateral) * 1e6)))
  })

  it('simulate on demand, in one round trip, with what it reads', async () => {
    const { simulation, missing } = await preview({}, asked({ isSimulated: true }))
    assert.deepEqual(simulation, { passed: true, gas: '300002', errorName: null, message: null })
    assert.deepEqual([world.node.batches.length, missing], [1, []])

    world.node.simulation = reverted(encodeErrorResult({ abi: diamondAbi, errorName: 'InsufficientBalance' } as never))
    world.node.balance = uint(5n)
    const poor = await preview({}, asked({ isSimulated: true }))
    assert.deepEqual([poor.simulation!.passed, poor.simulation!.errorName], [false, 'InsufficientBalance'])
    assert.deepEqual(kinds(poor), ['balance'], 'what the node says counts, not what the account was')
    assert.equal(poor.collateral, '600.12')

    world.node.delegate = OTHER_AGENT
    const undelegated = await preview({}, asked({ isSimulated: true }))
    assert.deepEqual(kinds(undelegated), ['delegation', 'balance'])
    assert.equal(undelegated.simulation!.passed, false)
  })

  it('size an order anew by what a simulation reads', async () => {
    world.node.terms = { cumulVolPriceImpactMultiplier: 0, fixedSpreadP: 100 }
    const { collateral, spreadRate } = await preview({}, asked({ isSimulated: true }))
    // A spread of 0.1 percent of its own: half of 0.14 percent.
    assert.deepEqual([collateral, spreadRate], ['600.42', '0.0007'])
    assert.equal(world.node.batches.length, 2)
  })

  it('fail where the node is needed and away', async () => {
    world.node.isAway = true
    assert.equal((await preview()).simulation, null)
    await assert.rejects(preview({}, asked({ isSimulated: true })), /did not answer/)
  })

  describe('of closes', () => {
    it('say what is paid out', async () => {
      const answer = await previewClose(previews, asked(), ID, {})
      assert.deepEqual([...Value.Errors(OrderPreviewSchema, answer)], [])
      const { side, size, price, spreadRate, feeCollateral, pnl, payout, deposit, liquidationPrice, reduceOnly } =
        answer
      assert.deepEqual(
        { side, size, price, spreadRate, feeCollateral, pnl, payout, deposit, liquidationPrice, reduceOnly },
        {
          side: 'short',
          size: '0.016663333999866693',
          price: '59988',
          spreadRate: '0.0002',
          // The fee of the smallest size, 1250 USD.
          feeCollateral: '0.75',
          // -0.39992 and less than a unit, which the contracts round down.
          pnl: '-0.399921',
          payout: '98.100079',
          deposit: '0',
          liquidationPrice: null,
          reduceOnly: true,
        },
      )
      assert.deepEqual(
        answer.legs.map(({ positionId, reason }) => [positionId, reason]),
        [['7', null]],
      )
      assert.equal(world.node.batches.length, 0)
    })

    it('say what is left of a part', async () => {
      const answer = await previewClose(previews, asked(), ID, { size: '0.005' })
      assert.equal(answer.reason, null)
      assert.ok(Number(answer.liquidationPrice) > 0 && Number(answer.effectiveLeverage) > 10)
      assert.ok(Number(answer.collateral) < 31 && Number(answer.collateral) > 29, answer.collateral)
    })

    it('name the reason of a refusal', async () => {
      const { reason, size, legs } = await previewClose(previews, asked(), ID, { slippage: '0.01' })
      assert.deepEqual([reason, size, legs[0]!.reason], ['SLIPPAGE', '0', 'SLIPPAGE'])
    })

    it('sum the legs of a reduction, each after the one before', async () => {
      const second: LivePosition = {
        ...world.positions[0]!,
        record: { ...world.positions[0]!.record, id: '8' as OrderId },
      }
      world.positions.push(second)
      const answer = await preview({ side: 'short', reduceOnly: true, size: '1' })
      assert.deepEqual(
        answer.legs.map(({ positionId }) => positionId),
        ['7', '8'],
      )
      assert.equal(answer.payout, '196.200158')
      assert.equal(answer.size, '0.033326667999733386')
    })

    it('have the fee rate of a counter trade, and of several positions the average', async () => {
      const counter = positionOf({ user: TRADER, index: 5, isCounterTrade: true }, '8')
      world.positions.push({ ...counter, record: { ...counter.record, trader: TRADER } })
      assert.equal((await previewClose(previews, asked(), '8' as OrderId, {})).feeRate, '0.0003')
      assert.equal((await preview({ side: 'short', reduceOnly: true, size: '1' })).feeRate, '0.00045')
    })

    it('count only the legs that fill, where one of several is refused', async () => {
      // A long from 70,000 is beyond its liquidation, and then no part of it can be closed.
      const lost = positionOf({ user: TRADER, index: 5, openPrice: Price.of(70_000n * Price.one) }, '8')
      world.positions.push({ ...lost, record: { ...lost.record, trader: TRADER } })
      const alone = await previewClose(previews, asked(), ID, {})
      const answer = await preview({ side: 'short', reduceOnly: true, size: '0.02' })
      assert.deepEqual(
        answer.legs.map(({ positionId, size, reason }) => [positionId, size, reason]),
        [
          ['7', alone.size, null],
          ['8', '0', 'LIQ_REACHED'],
        ],
      )
      assert.equal(answer.reason, 'LIQ_REACHED')
      for (const field of ['size', 'price', 'collateral', 'feeCollateral', 'payout', 'liquidationPrice'] as const) {
        assert.equal(answer[field], alone[field], field)
      }
    })

    it('go on with the last price while the feed is silent, as closes do, and openings do not', async () => {
      world.market.nowMs += 20_000
      await assert.rejects(preview(), code('NOT_READY'))
      const { warnings, price } = await previewClose(previews, asked(), ID, {})
      assert.deepEqual([warnings[0]!.code, price], ['price_old', '59988'])
    })

    it('refuse an execution at a price that the contracts can not hold', async () => {
      const short = positionOf({ user: TRADER, index: 5, long: false }, '8')
      world.positions.push({ ...short, record: { ...short.record, trader: TRADER } })
      world.market.quotes.set(0, { ...world.market.quotes.get(0)!, mark: Price.of(2n ** 64n - 1n) })
      await assert.rejects(previewClose(previews, asked(), '8' as OrderId, {}), code('VALIDATION_ERROR'))
    })

    it("know nothing of another trader's position", async () => {
      const stranger = asked({ trader: OTHER_TRADER })
      await assert.rejects(previewClose(previews, stranger, ID, {}), code('POSITION_NOT_FOUND'))
      await assert.rejects(previewClose(previews, asked(), undefined, {}), code('POSITION_NOT_FOUND'))
    })
  })

  describe('of changes of positions', () => {
    it('say what a lower leverage takes and moves', async () => {
      const answer = await previewPosition(previews, asked(), ID, { leverage: '5' })
      assert.deepEqual([...Value.Errors(PositionPreviewSchema, answer)], [])
      const { leverage, collateral, deposit, payout, feeCollateral, reason } = answer
      assert.deepEqual(
        { leverage, collateral, deposit, payout, feeCollateral, reason },
        { leverage: '5', collateral: '200', deposit: '100', payout: '0', feeCollateral: '0.091875', reason: null },
      )
      assert.deepEqual(answer.missing, [])
      holdings = { ...RICH, balances: [{ collateral: 'USDC', balance: '99', allowance: '100' }] }
      assert.deepEqual(kinds(await previewPosition(previews, asked(), ID, { leverage: '5' })), ['balance'])
    })

    it('refuse a leverage beyond the effective maximum as the contracts do', async () => {
      const { reason } = await previewPosition(previews, asked(), ID, { leverage: '199' })
      assert.ok(reason === 'MAX_LEVERAGE' || reason === 'LIQ_REACHED', String(reason))
    })

    it('say what removing collateral pays', async () => {
      const { payout, deposit, leverage } = await previewPosition(previews, asked(), ID, {
        collateral: { action: 'remove', amount: '50' },
      })
      assert.deepEqual([payout, deposit, leverage], ['50', '0', '20'])
    })

    it('cost nothing for stops, and tell the one that is kept', async () => {
      const answer = await previewPosition(previews, asked(), ID, { sl: '50000', tp: '70000' })
      assert.deepEqual([answer.feeCollateral, answer.deposit, answer.tp, answer.leverage], ['0', '0', '70000', '10'])
      assert.notEqual(answer.sl, '50000')
      assert.equal(answer.warnings[0]!.code, 'sl_clamped')
      assert.equal(answer.warnings[0]!.value, answer.sl)
    })
  })
})
