import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { writeInput } from '../testing/callTree.ts'
import { SAMPLE_ORDER, SAMPLE_POSITION, SAMPLE_SHAPES, type Shape } from '../testing/sampleShapes.ts'
import { mulberry32 } from '../testing/mulberry32.ts'
import { tamper } from '../testing/tamper.ts'
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
      const data = `0x${transaction.data.slice(2).toUpperCase()}`
      const collateral = { ...shape.context.collateral, priceTolerancePercent: '1' }
      verifyPrepared(
        shape.request,
        { ...shape.prepared, transaction: { ...transaction, data } },
        { ...shape.context, collateral },
      )
      if (shape.name.includes('with slippage')) return
      verifyPrepared(shape.request, shape.prepared, { ...shape.context, onChain: undefined })
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
    assert.equal(kinds.size, 20, [...kinds].join(' '))
    for (const [how, count] of kinds) assert.ok(count > 20, `${how}: only ${count}`)
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
    const odd = { ...named('market').prepared.transaction, data: '0xzz' }
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
