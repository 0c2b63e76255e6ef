import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PercentP } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { readInput, writeInput } from '../testing/callTree.ts'
import { SAMPLE_ORDER, SAMPLE_POSITION } from '../testing/sampleFacts.ts'
import { SAMPLE_SHAPES, type Shape } from '../testing/sampleShapes.ts'
import { mulberry32 } from '../testing/mulberry32.ts'
import { tamper } from '../testing/tamper.ts'
import { expectCredibleMark } from './expectAmount.ts'
import type { VerifyContext } from './verifyContext.ts'
import { verifyPrepared } from './verifyPrepared.ts'

const TAMPERED_COUNT = 10_000

const SEED = 20_260_101

const named = (name: string): Shape => SAMPLE_SHAPES.find((shape) => shape.name === name)!

function refusal(shape: Shape, change: Partial<VerifyContext> = {}): UnverifiedTransactionError {
  try {
    verifyPrepared(shape.request, shape.prepared, { ...shape.context, ...change })
  } catch (error) {
    assert.ok(error instanceof UnverifiedTransactionError, String(error))
    return error
  }
  return assert.fail(`${shape.name} was accepted`)
}

function accepts(shape: Shape, context: VerifyContext): boolean {
  try {
    verifyPrepared(shape.request, shape.prepared, context)
    return true
  } catch {
    return false
  }
}

const AMOUNTS_COUNT = 4_000

/** Openings whose amount is counted at the price of `expectedPrice` or their trigger. */
const OPENINGS = SAMPLE_SHAPES.filter(({ name }) =>
  ['far protective price', 'limit with stops', 'another token', 'new size', 'new price and'].some((part) =>
    name.includes(part),
  ),
)

/** Returns the shape with other values in the struct of its `openTrade`. */
function changedOpening(shape: Shape, change: { readonly collateralAmount: bigint }): Shape {
  const tree = readInput(shape.prepared.transaction.data)
  const calls = tree.calls.map((call) =>
    call.name === 'openTrade' ? { ...call, args: call.args.with(0, { ...(call.args[0] as object), ...change }) } : call,
  )
  return withCalls(shape, calls)
}

/** Returns the prepared write with its amount moved by a share of itself, and the amount before. */
function withAmount(shape: Shape, off: number): { readonly prepared: Shape['prepared']; readonly promised: number } {
  const opening = readInput(shape.prepared.transaction.data).calls.find(({ name }) => name === 'openTrade')!
  const { collateralAmount } = opening.args[0] as { readonly collateralAmount: bigint }
  const moved = collateralAmount + (collateralAmount * BigInt(Math.round(off * 1e9))) / 1_000_000_000n
  return { prepared: changedOpening(shape, { collateralAmount: moved }).prepared, promised: Number(collateralAmount) }
}

function slippageOf({ request }: Shape): number {
  const { slippage } =
    request.operation === 'updateOrder' ? request.order : (request as { body: { slippage?: string } }).body
  return Number(slippage ?? '1') / 100
}

const withCalls = (shape: Shape, calls: Parameters<typeof writeInput>[0]['calls']): Shape => {
  const data = writeInput({ actsFor: shape.context.trader as `0x${string}`, calls, tail: '00000000000000a7' })
  return { ...shape, prepared: { ...shape.prepared, transaction: { ...shape.prepared.transaction, data } } }
}

describe('the check of prepared transactions', () => {
  for (const shape of SAMPLE_SHAPES) {
    it(`accepts ${shape.name}, with and without a look at the chain`, () => {
      verifyPrepared(shape.request, shape.prepared, shape.context)
      // Within the default tolerance of the token's price, and with digits of any case.
      const { transaction } = shape.prepared
      const data = `0x${transaction.data.slice(2).toUpperCase()}` as const
      const collateral = { ...shape.context.collateral, priceTolerancePercent: '1' }
      verifyPrepared(
        shape.request,
        { ...shape.prepared, transaction: { ...transaction, data } },
        { ...shape.context, collateral },
      )
      verifyPrepared(shape.request, shape.prepared, { ...shape.context, impactP: undefined })
      if (shape.name.includes('with slippage')) return
      verifyPrepared(shape.request, shape.prepared, { ...shape.context, onChain: undefined, impactP: undefined })
    })
  }

  it(`refuses ${TAMPERED_COUNT} tampered transactions, of every kind`, () => {
    const random = mulberry32(SEED)
    const kinds = new Map<string, number>()
    for (let count = 0; count < TAMPERED_COUNT; count += 1) {
      const shape = SAMPLE_SHAPES[count % SAMPLE_SHAPES.length]!
      const { how, prepared } = tamper(shape, random)
      kinds.set(how, (kinds.get(how) ?? 0) + 1)
      assert.throws(
        () => verifyPrepared(shape.request, prepared, shape.context),
        UnverifiedTransactionError,
        `${shape.name} with another ${how} was accepted: ${JSON.stringify(prepared.transaction)}`,
      )
    }
    // A generator that never produces a kind would prove nothing about it.
    assert.equal(kinds.size, 22, [...kinds].join(' '))
    for (const [how, count] of kinds) assert.ok(count > 20, `${how}: only ${count}`)
  })

  it('accepts an amount exactly when it is within the bound: the slippage, or 0.1 % of what the chain charges', () => {
    const random = mulberry32(SEED)
    let accepted = 0
    for (let count = 0; count < AMOUNTS_COUNT; count += 1) {
      const shape = OPENINGS[count % OPENINGS.length]!
      const off = (random.below(40_000) - 20_000) / (random.below(2) === 0 ? 1e7 : 1e6)
      const context = random.below(2) === 0 ? shape.context : { ...shape.context, impactP: undefined }
      const { prepared, promised } = withAmount(shape, off)
      const room = context.impactP === undefined ? slippageOf(shape) : 0.001
      // The bound without a look at the chain is around the price before spread and impact.
      const center = context.impactP === undefined ? 1 / (1 + Number(shape.context.impactP) / 1e12) : 1
      const distance = Math.abs((promised * (1 + off)) / (promised * center) - 1) - room
      if (Math.abs(distance) < 1e-5) continue
      const isAccepted = accepts({ ...shape, prepared }, context)
      assert.equal(isAccepted, distance < 0, `${shape.name}: ${off} of ${room}`)
      accepted += isAccepted ? 1 : 0
    }
    assert.ok(accepted > AMOUNTS_COUNT / 10 && accepted < (AMOUNTS_COUNT * 9) / 10, `${accepted} were accepted`)
  })

  it('never counts the protective price of a market order as its size', () => {
    // 0.02 x 114,000 / 10 instead of 0.02 x 60,100 x 1.0005 / 10.
    const shape = changedOpening(named('market with a far protective price'), { collateralAmount: 228_000_000n })
    assert.equal(refusal(shape).field, 'collateralAmount')
    assert.equal(refusal(shape, { onChain: undefined, impactP: undefined }).field, 'collateralAmount')
  })

  it('refuses a new price in place where the collateral would buy another size', () => {
    const inPlace = (price: string, units: bigint): Shape => ({
      ...withCalls(named('new price for which the collateral is enough'), [
        { name: 'updateOpenOrder', args: [4, units, 0n, 70_000n * 10n ** 10n, 1500] },
      ]),
      request: { operation: 'updateOrder', order: SAMPLE_ORDER, body: { price } },
    })
    const blind = { onChain: undefined, impactP: undefined }
    const far = inPlace('66000', 660_000n * 10n ** 9n)
    assert.equal(refusal(far).field, 'collateral of the order')
    assert.equal(refusal(far, blind).field, 'price')
    // 0.3 % off: more than half a step, but within the slippage, which is all that is known without the chain.
    const near = inPlace('65200', 652_000n * 10n ** 9n)
    assert.equal(refusal(near).field, 'collateral of the order')
    verifyPrepared(near.request, near.prepared, { ...near.context, ...blind })
    // The service can't make a step large.
    const { market } = far.context
    assert.equal(refusal(near, { market: { ...market, sizePrecision: 0 } }).field, 'collateral of the order')
    const resized = { ...SAMPLE_ORDER, size: '0.04' }
    const other = { ...inPlace('65000.5', 650_005n * 10n ** 9n), prepared: near.prepared }
    assert.equal(
      refusal({ ...other, request: { operation: 'updateOrder', order: SAMPLE_ORDER, body: { size: resized.size } } })
        .field,
      'size',
    )
  })

  it('takes the word of the service for the market only where it takes no more than the trigger', () => {
    const resting = { side: 'short', type: 'limit', size: '1', price: '65000', slippage: '1' } as const
    for (const mark of ['60000', '65000', '65649']) expectCredibleMark(resting, mark)
    assert.throws(() => expectCredibleMark(resting, '65651'), /your own expectedPrice/)
    expectCredibleMark({ ...resting, side: 'long' }, '10')
    expectCredibleMark({ ...resting, type: 'stop' }, '10')
    assert.throws(
      () => expectCredibleMark({ ...resting, type: 'stop', side: 'long' }, '90000'),
      /your own expectedPrice/,
    )
    expectCredibleMark({ ...resting, type: 'market' }, '90000')
  })

  it('leaves the amount of an order alone whose price stays', () => {
    const same = named('new stops of an order')
    const request = {
      operation: 'updateOrder',
      order: SAMPLE_ORDER,
      body: { price: '65000.0', sl: '71000', tp: '50000' },
    } as const
    // The impact may be another one than at the time when the order was placed.
    verifyPrepared(request, same.prepared, { ...same.context, impactP: PercentP.of(PercentP.one) })
  })

  it('reclaims only what stands in the way of this position', () => {
    const close = named('close over a change that timed out')
    const calls = [
      { name: 'cancelOrderAfterTimeout', args: [8] },
      { name: 'closeTradeMarket', args: [2, 601_000n * 10n ** 9n] },
    ]
    assert.equal(refusal(withCalls(close, calls)).field, 'trade index')
    assert.equal(refusal(withCalls(close, [{ name: 'cancelOrderAfterTimeout', args: [5] }])).field, 'order index')
    assert.equal(refusal(withCalls(close, calls.slice(1))).field, 'call 1')
    assert.equal(refusal(withCalls(close, calls.slice(1)), { onChain: undefined }).field, 'call 1')
    // An answer that came late leaves nothing to reclaim.
    const answered = { ...close.context.onChain!, pending: [] }
    const bare = withCalls(close, calls.slice(1))
    verifyPrepared(bare.request, bare.prepared, { ...bare.context, onChain: answered })
    // Without the chain the position, as it was read, must have something to reclaim.
    const idle = withCalls(named('close'), calls)
    assert.equal(refusal(idle, { onChain: undefined }).field, 'order index')
  })

  it('says which field differs, what was expected and what was found', () => {
    const { field, expected, found, message } = refusal(named('leverage'), { trader: `0x${'11'.repeat(20)}` })
    assert.equal(field, 'trader')
    assert.equal(expected, `0x${'11'.repeat(20)}`)
    assert.match(found, /^0x7099/)
    assert.match(message, /was not sent.*Prepare it again/)
    assert.equal(refusal(named('market'), { diamond: `0x${'22'.repeat(20)}` }).field, 'to')
    assert.equal(refusal(named('market'), { chainId: 1 }).field, 'chainId')
    assert.equal(refusal(named('market'), { expectedPrice: '61000' }).field, 'price')
    assert.equal(refusal(named('market'), { expectedPrice: undefined }).field, 'price')
  })

  it("refuses the service's word for a market that the chain's own price contradicts", () => {
    for (const name of ['market', 'close']) {
      const shape = named(name)
      const told = Number(shape.context.expectedPrice)
      const near = { price: String(told * 1.04), tolerancePercent: '5' }
      verifyPrepared(shape.request, shape.prepared, { ...shape.context, chainPrice: near })
      for (const factor of [0.9, 1.1]) {
        const chainPrice = { ...near, price: String(told * factor) }
        assert.equal(refusal(shape, { chainPrice }).field, 'expectedPrice')
      }
    }
  })

  it('refuses a trade index that the chain knows otherwise', () => {
    const { trades, pending } = named('close').context.onChain!
    const others = trades.map((trade) => ({ ...trade, long: !trade.long }))
    for (const name of ['close', 'cancel', 'leverage', 'new size', 'reduce two positions']) {
      assert.equal(refusal(named(name), { onChain: { trades: others, pending } }).field, 'trade index', name)
      assert.equal(refusal(named(name), { onChain: { trades: [], pending } }).field, 'trade index', name)
    }
    assert.equal(refusal(named('reclaim'), { onChain: { trades, pending: [] } }).field, 'order index')
  })

  it('refuses a close that relies on another slippage than the one in force', () => {
    const lax = named('close').context.onChain!
    const trades = lax.trades.map((trade) => ({ ...trade, maxSlippageP: 5000 }))
    assert.equal(refusal(named('close'), { onChain: { ...lax, trades } }).field, 'slippage')
    const silent = withCalls(named('close with slippage'), [
      { name: 'closeTradeMarket', args: [2, 601_000n * 10n ** 9n] },
    ])
    assert.equal(refusal(silent, { onChain: undefined }).field, 'slippage')
  })

  it('accepts the default closing slippage with a stop, in place of a tighter one only', () => {
    const stop = named('stop loss')
    const [updateSl] = readInput(stop.prepared.transaction.data).calls
    const setting = (maxSlippageP: number, index = 2): Shape =>
      withCalls(stop, [{ name: 'updateMaxClosingSlippageP', args: [index, maxSlippageP] }, updateSl!])
    const onChain = (maxSlippageP: number): Partial<VerifyContext> => {
      const facts = stop.context.onChain!
      return { onChain: { ...facts, trades: facts.trades.map((trade) => ({ ...trade, maxSlippageP })) } }
    }
    const restored = setting(1_000)
    for (const change of [onChain(50), onChain(0), { onChain: undefined }]) {
      verifyPrepared(restored.request, restored.prepared, { ...restored.context, ...change })
    }
    assert.equal(refusal(restored, onChain(5_000)).field, 'slippage')
    for (const other of [1, 999, 1_001, 60_000]) assert.equal(refusal(setting(other), onChain(50)).field, 'slippage')
    assert.equal(refusal(setting(1_000, 3), onChain(50)).field, 'trade index')
    assert.equal(refusal(setting(1_000, 3), { onChain: undefined }).field, 'trade index')
    const removed = named('no take profit')
    const [updateTp] = readInput(removed.prepared.transaction.data).calls
    const calls = [{ name: 'updateMaxClosingSlippageP', args: [2, 1_000] }, updateTp!]
    assert.equal(refusal(withCalls(removed, calls), onChain(50)).field, 'call 1')
  })

  it('takes a part for the whole only when what would be left is a trifle', () => {
    const whole = [{ name: 'closeTradeMarket', args: [2, 601_000n * 10n ** 9n] }]
    const closing = (size: string): Shape => ({
      ...withCalls(named('close'), whole),
      request: { operation: 'closePosition', position: SAMPLE_POSITION, body: { size } },
    })
    assert.equal(refusal(closing('0.02')).field, 'size')
    // This would leave 0.6 USDC, and the Diamond leaves no less than 0.9.
    const trifle = closing('0.0499')
    verifyPrepared(trifle.request, trifle.prepared, trifle.context)
    // The service can't turn a part into the whole by naming other minimums.
    const { market } = trifle.context
    assert.equal(refusal(closing('0.02'), { market: { ...market, minCollateralUsd: '1000000' } }).field, 'size')
    assert.equal(refusal(closing('0.02'), { market: { ...market, sizePrecision: 0 } }).field, 'size')
    assert.equal(refusal(closing('0.04'), { market: { ...market, sizePrecision: 1 } }).field, 'size')
  })

  it('refuses facts that can not be computed with', () => {
    const { market, collateral } = named('market').context
    assert.equal(refusal(named('market'), { collateral: { ...collateral, decimals: 40 } }).field, 'answer')
    assert.equal(refusal(named('market'), { collateral: { ...collateral, priceUsd: '0' } }).field, 'answer')
    assert.equal(refusal(named('close a part'), { market: { ...market, sizePrecision: 99 } }).field, 'answer')
    const odd = { ...named('market').prepared.transaction, data: '0xzz' as const }
    assert.equal(
      refusal({ ...named('market'), prepared: { order: SAMPLE_ORDER, transaction: odd } }).field,
      'order.side',
    )
  })

  it('has nothing to prove where nothing is sent', () => {
    const { request, context } = named('cancel')
    verifyPrepared(request, { order: SAMPLE_ORDER, transaction: null }, context)
  })
})
