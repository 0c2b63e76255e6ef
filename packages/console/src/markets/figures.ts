import { decimal } from '@bezel/sdk'
import { formatPercent } from '../ground/format.ts'

let usdFormat: Intl.NumberFormat | undefined

/** Returns an amount in USD in few digits: `$12.3M`. */
export function compactUsd(amount: string): string {
  usdFormat ??= new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    notation: 'compact',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    trailingZeroDisplay: 'stripIfInteger',
  })
  return usdFormat.format(Number(amount))
}

/** Returns a rate in percent per hour, as markets have it, in words: `0.0012` is +0.0012 %. */
export function hourlyRate(percent: string): string {
  return formatPercent(decimal.mul(percent, '0.01'), { digits: 4, sign: true })
}

/** The kinds of executions in words. */
const ACTIONS: Readonly<Record<string, string>> = {
  TradeOpenedMarket: 'opened',
  TradeOpenedLimit: 'opened by an order',
  TradeClosedMarket: 'closed',
  TradeClosedLIQ: 'liquidated',
  TradeClosedSL: 'stopped out',
  TradeClosedTP: 'took profit',
  TradeLeverageUpdate: 'changed leverage',
  TradePosSizeIncrease: 'increased',
  TradePosSizeDecrease: 'decreased',
}

/** Returns what an execution did, in words. */
export function actionWords(action: string): string {
  return ACTIONS[action] ?? 'traded'
}
