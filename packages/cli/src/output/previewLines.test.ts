import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OrderPreview, PositionPreview } from '@bezel/sdk'
import { orderPreviewLines, positionPreviewLines } from './previewLines.ts'
import { styleFor } from './text.ts'

const PLAIN = { width: 80, style: styleFor(false, {}) }

const ORDER: OrderPreview = {
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  reduceOnly: false,
  size: '0.02',
  notionalUsd: '1200.24',
  leverage: '10',
  effectiveLeverage: '10.078',
  collateral: '120.024',
  collateralSymbol: 'USDC',
  slippage: '1',
  oraclePrice: '60000',
  price: '60012',
  spreadRate: '0.0002',
  volumeImpactRate: '0.00000049999',
  skewImpactRate: '-0.0000005',
  priceImpactRate: '0.000199995',
  feeCollateral: '0.75',
  feeRate: '0.0006',
  deposit: '120.024',
  payout: '0',
  pnl: '0',
  fundingFee: '0',
  borrowingFee: '0',
  liquidationPrice: '54694.9368',
  sl: null,
  tp: '70000',
  legs: [],
  reason: null,
  warnings: [],
  missing: [],
  spend: null,
  simulation: null,
  priceAt: 0,
  block: 1,
}

const field = (lines: readonly string[], name: string): string | undefined =>
  lines
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()

describe('the lines of a preview', () => {
  it('say what an order costs, with percentages that are rounded and not cut', () => {
    const lines = orderPreviewLines(ORDER, PLAIN)
    assert.equal(field(lines, 'Impact'), '0.02 %: spread 0.02 %, volume 0.00005 %, skew -0.00005 %')
    assert.equal(field(lines, 'Fee'), "0.75 USDC (the market's minimum, more than 0.06 % of 1200.24 USD)")
    assert.equal(field(lines, 'Collateral'), '120.024 USDC from the wallet')
    assert.equal(field(lines, 'Leverage'), '10x, effective 10.078x')
    assert.equal(field(lines, 'Take profit'), '70000')
    assert.equal(field(lines, 'Stop loss'), undefined)
    assert.equal(field(lines, 'Trigger'), undefined)
    const resting = orderPreviewLines({ ...ORDER, type: 'limit' }, PLAIN, '60000.05')
    assert.equal(field(resting, 'Trigger'), 'the market at 60000.05; spread and impact come on top')
    assert.ok(lines.every((line) => line.length <= 80))
  })

  it('say what the fee is a share of, or that it is the minimum, in tokens of any price', () => {
    const feeOf = (of: Partial<OrderPreview>): string | undefined =>
      field(orderPreviewLines({ ...ORDER, ...of }, { ...PLAIN, width: 120 }), 'Fee')
    const large = { notionalUsd: '12002.4', collateral: '1200.24', feeCollateral: '7.20144' }
    assert.equal(feeOf(large), '7.20144 USDC (0.06 % of 12002.4 USD)')
    // The fee was truncated after the collateral was, and the rate after the trader's tier.
    assert.equal(feeOf({ ...large, feeRate: '0.000599999999' }), '7.20144 USDC (0.06 % of 12002.4 USD)')
    const weth = { collateralSymbol: 'WETH', notionalUsd: '12000', collateral: '0.48', feeCollateral: '0.00288' }
    assert.equal(feeOf(weth), '0.00288 WETH (0.06 % of 12000 USD)')
    assert.match(feeOf({ ...weth, feeCollateral: '0.003' })!, /^0\.003 WETH \(the market's minimum, more than 0\.06 % /)
    const leg = { positionId: '1', size: '0.01', price: '1', feeCollateral: '0.75', payout: '1', reason: null }
    assert.match(
      feeOf({ legs: [leg, leg], feeCollateral: '1.5' })!,
      /\(0\.06 %, at least the market's minimum for each/,
    )
  })

  it('say what a close pays, and funding that was earned', () => {
    const close = { ...ORDER, reduceOnly: true, pnl: '-3.5', payout: '98.1', fundingFee: '-0.2', borrowingFee: '0.1' }
    const lines = orderPreviewLines({ ...close, liquidationPrice: null, effectiveLeverage: null }, PLAIN)
    assert.deepEqual(
      ['Profit', 'Funding', 'Borrowing', 'Payout', 'Leverage', 'Liquidation'].map((name) => field(lines, name)),
      ['-3.5 USDC', '0.2 USDC earned', '0.1 USDC', '98.1 USDC to the wallet', '10x', undefined],
    )
  })

  it('say what is missing, what is refused and what the day has left', () => {
    const tokens = { collateral: null, needed: null, available: null }
    const lines = orderPreviewLines(
      {
        ...ORDER,
        reason: 'SLIPPAGE',
        missing: [
          { kind: 'scope', code: 'X', message: 'Too much.', remedy: 'Ask.', ...tokens, transaction: null },
          {
            kind: 'allowance',
            code: 'Y',
            message: 'Too little.',
            remedy: 'Send it.',
            collateral: 'USDC',
            needed: '9',
            available: '0',
            transaction: { to: '0x', data: '0x', chainId: 1 },
          },
        ],
        spend: { agent: '0x', spentUsd: '1', afterUsd: '1201.24', dailySpendCapUsd: '5000', resetsAt: 86_400_000 },
        simulation: { passed: false, gas: null, errorName: 'Paused', message: 'Not now.' },
      },
      PLAIN,
    )
    assert.deepEqual(lines.slice(-5), [
      'Refused      the contracts would refuse it: SLIPPAGE',
      'Missing      scope: Too much. Ask.',
      'Missing      allowance: Too little. Allow it with bezel approve USDC 10',
      'Daily cap    1201.24 of 5000 USD used with this, until 1970-01-02 00:00:00 UTC',
      'Simulation   fails: Not now.',
    ])
  })

  it('say how a right is given, and repeat what the user typed', () => {
    const right = { kind: 'scope', code: 'SCOPE_LEVERAGE_EXCEEDED', message: 'Too high.', remedy: 'Ask.' } as const
    const missing = [{ ...right, collateral: null, needed: null, available: null, transaction: null }]
    const typing = { program: 'bezel', options: ['--as trader-2'] }
    const lines = orderPreviewLines({ ...ORDER, missing }, { ...PLAIN, width: undefined, typing })
    assert.match(
      field(lines, 'Missing')!,
      /: Too high\. .*: bezel agent authorise --max-leverage 10 \.\.\. --as trader-2$/,
    )
  })

  it('say every warning, whatever its kind, and nothing of a cap that is not touched', () => {
    const warnings = [{ code: 'price_old', message: 'The price is old.' } as const]
    const spend = { agent: '0x', spentUsd: '7', afterUsd: '7', dailySpendCapUsd: '5000', resetsAt: 0 } as const
    const lines = orderPreviewLines({ ...ORDER, warnings, spend }, PLAIN)
    assert.equal(field(lines, 'Warning'), 'The price is old.')
    assert.equal(field(lines, 'Daily cap'), undefined)
    const uncapped = { ...spend, afterUsd: '9', dailySpendCapUsd: null }
    assert.equal(field(orderPreviewLines({ ...ORDER, spend: uncapped }, PLAIN), 'Daily cap'), undefined)
  })

  it('say what a change makes of a position', () => {
    const { market, side, size, leverage, effectiveLeverage, collateral, collateralSymbol, oraclePrice } = ORDER
    const { reason, warnings, missing, spend, simulation, priceAt, block } = ORDER
    const same = { market, side, size, leverage, effectiveLeverage, collateral, collateralSymbol, oraclePrice }
    const preview: PositionPreview = {
      ...same,
      reason,
      warnings,
      missing,
      spend,
      simulation,
      priceAt,
      block,
      positionId: '3',
      feeCollateral: '0.091875',
      deposit: '100',
      payout: '0',
      liquidationPrice: '50000',
      sl: '0',
      tp: '70000',
    }
    const lines = positionPreviewLines(preview, PLAIN)
    assert.deepEqual(
      ['Position', 'From wallet', 'To wallet', 'Fee', 'Stop loss'].map((name) => field(lines, name)),
      ['3 BTC/USD long 0.02', '100 USDC', undefined, '0.091875 USDC', 'none'],
    )
  })
})
