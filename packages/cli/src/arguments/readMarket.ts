import { parsePathSymbol } from '@bezel/protocol'
import { UsageError } from '../errors/usageError.ts'

/** `BTC/USD`, and also `btc-usd` or `btc`, which people type. */
export function readMarket(text: string): string {
  const upper = text.toUpperCase()
  const symbol = parsePathSymbol(/[/-]/.test(upper) ? upper : `${upper}/USD`)
  if (symbol !== undefined) return symbol
  throw new UsageError(
    `${JSON.stringify(text.slice(0, 40))} is no market; they look like BTC/USD. bezel markets lists them.`,
  )
}
