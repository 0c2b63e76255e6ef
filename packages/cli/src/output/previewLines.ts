import { decimal, withRoom, type Missing, type OrderPreview, type PositionPreview } from '@bezel/sdk'
import { rightsAdvice } from './advice.ts'
import { formatFields, type PageShape } from './formatTable.ts'
import { dateAndTime, percentOf, shortAmount, shortLeverage, shortPrice, shortSize, shortValue } from './text.ts'

type Field = readonly [string, string | null]

/**
 * Returns the lines that show what an order or a close would do and cost. `asked` is the price of a limit or stop order
 * as it was typed.
 */
export function orderPreviewLines(preview: OrderPreview, shape: PageShape, asked?: string): string[] {
  const { collateralSymbol: token, reduceOnly, type, side, market, liquidationPrice, effectiveLeverage } = preview
  const amount = (text: string): string => `${shortAmount(text)} ${token}`
  const price = (text: string | null): string | null => (text === null ? null : shortPrice(text))
  const impacts = [preview.spreadRate, preview.volumeImpactRate, preview.skewImpactRate].map(percentOf)
  const opening: readonly Field[] = [['Collateral', `${amount(preview.deposit)} from the wallet`]]
  const closing: readonly Field[] = [
    ['Profit', amount(preview.pnl)],
    ['Funding', feeText(preview.fundingFee, amount)],
    ['Borrowing', feeText(preview.borrowingFee, amount)],
    ['Payout', `${amount(preview.payout)} to the wallet`],
  ]
  return formatFields(
    [
      [reduceOnly ? 'Close' : 'Order', `${market} ${side} ${shortSize(preview.size)}, ${type}`],
      ['Trigger', asked === undefined ? null : `the market at ${asked}; spread and impact come on top`],
      ['Price', `${shortPrice(preview.price)} (oracle ${shortPrice(preview.oraclePrice)})`],
      [
        'Impact',
        `${percentOf(preview.priceImpactRate)}: spread ${impacts[0]}, volume ${impacts[1]}, skew ${impacts[2]}`,
      ],
      ['Fee', `${amount(preview.feeCollateral)} (${feeBasis(preview)})`],
      ...(reduceOnly ? closing : opening),
      ['Leverage', leverageText(preview.leverage, effectiveLeverage)],
      ['Liquidation', price(liquidationPrice)],
      ['Take profit', price(preview.tp)],
      ['Stop loss', price(preview.sl)],
      ...circumstances(preview),
    ],
    shape,
  )
}

/** Returns the lines that show what a change of a position would make of it and cost. */
export function positionPreviewLines(preview: PositionPreview, shape: PageShape): string[] {
  const { collateralSymbol: token, positionId, market, side } = preview
  const amount = (text: string): string => `${shortAmount(text)} ${token}`
  return formatFields(
    [
      ['Position', `${positionId} ${market} ${side} ${shortSize(preview.size)}`],
      ['Leverage', leverageText(preview.leverage, preview.effectiveLeverage)],
      ['Collateral', amount(preview.collateral)],
      ['From wallet', preview.deposit === '0' ? null : amount(preview.deposit)],
      ['To wallet', preview.payout === '0' ? null : amount(preview.payout)],
      ['Fee', amount(preview.feeCollateral)],
      ['Liquidation', shortPrice(preview.liquidationPrice)],
      ['Take profit', preview.tp === '0' ? 'none' : shortPrice(preview.tp)],
      ['Stop loss', preview.sl === '0' ? 'none' : shortPrice(preview.sl)],
      ...circumstances(preview),
    ],
    shape,
  )
}

/** Returns the fields that both kinds of previews end with. */
function circumstances(preview: OrderPreview | PositionPreview): readonly Field[] {
  const { reason, warnings, missing, spend, simulation } = preview
  return [
    ...warnings.map(({ message }): Field => ['Warning', message]),
    ['Refused', reason === null ? null : `the contracts would refuse it: ${reason}`],
    ...missing.map((one): Field => ['Missing', missingText(one, preview)]),
    ['Daily cap', capText(spend)],
    ['Simulation', simulation === null ? null : simulation.passed ? 'passes' : `fails: ${simulation.message}`],
  ]
}

/** Last place of `feeRate`, which is truncated: a fee is below that of the next higher rate, or the minimum. */
const RATE_STEP = '0.000000000001'

/**
 * Returns what the trading fee is a share of. A small trade pays the market's minimum instead, which each position of a
 * close does for itself; their parts have no notional of their own here, so of several nothing more is said.
 */
function feeBasis({ feeRate, feeCollateral, notionalUsd, collateral, leverage, legs }: OrderPreview): string {
  const share = percentOf(feeRate)
  if (legs.length > 1) return `${share}, at least the market's minimum for each position`
  const most = decimal.mul(decimal.mul(collateral, leverage), decimal.add(feeRate, RATE_STEP))
  const basis = `${share} of ${shortValue(notionalUsd)} USD`
  return decimal.compare(feeCollateral, most) > 0 ? `the market's minimum, more than ${basis}` : basis
}

function missingText(missing: Missing, preview: OrderPreview | PositionPreview): string {
  return `${missing.kind}: ${missing.message} ${remedyOf(missing, preview)}`
}

/** Returns the remedy of what is missing, in commands of this program where it has one. */
function remedyOf(missing: Missing, { market, leverage, spend }: OrderPreview | PositionPreview): string {
  switch (missing.kind) {
    case 'allowance':
      return `Allow it with \`bezel approve ${missing.collateral} ${withRoom(missing.needed)}\``
    case 'delegation':
      return 'The trader sends that with `bezel agent delegate`'
    case 'scope':
      return rightsAdvice(missing.code, { markets: [market], leverage, capUsd: spend?.afterUsd }) ?? missing.remedy
    case 'balance':
      return missing.remedy
  }
}

/** Returns what is used of the agent's daily cap; null where there is none, and for what opens nothing. */
function capText(spend: OrderPreview['spend']): string | null {
  if (spend === null || spend.dailySpendCapUsd === null || spend.afterUsd === spend.spentUsd) return null
  const { afterUsd, dailySpendCapUsd, resetsAt } = spend
  return `${shortValue(afterUsd)} of ${shortValue(dailySpendCapUsd)} USD used with this, until ${dateAndTime(resetsAt)} UTC`
}

function leverageText(leverage: string, effective: string | null): string {
  return [leverage, ...(effective === null ? [] : [effective])].map(shortLeverage).join(', effective ')
}

function feeText(fee: string, amount: (text: string) => string): string | null {
  if (fee === '0') return null
  return fee.startsWith('-') ? `${amount(fee.slice(1))} earned` : amount(fee)
}
