import { invalidParams } from '../chain/rpcError.ts'
import { FeedInputError } from '../feed/price.ts'
import type { Prices } from '../feed/prices.ts'
import type { ExtraMethods } from '../rpc/createResponder.ts'
import { flagParam, textParam } from './params.ts'

/** Controls of the one feed; they act on all chains, whichever one they are sent to. */
export function priceControls(prices: Prices): ExtraMethods {
  return {
    bezel_setPrice: (_chain, [symbol, price]) =>
      done(() => prices.setPrice(textParam(symbol, 'the symbol'), textParam(price, 'the price'))),
    bezel_freezePrice: (_chain, [symbol, frozen]) =>
      done(() => prices.freeze(textParam(symbol, 'the symbol'), flagParam(frozen, 'frozen'))),
    bezel_setMarketOpen: (_chain, [symbol, open]) =>
      done(() =>
        prices.setMarketOpen(textParam(symbol, 'the symbol'), open === null ? null : flagParam(open, 'open (or null)')),
      ),
  }
}

function done(control: () => void): true {
  try {
    control()
    return true
  } catch (error) {
    throw error instanceof FeedInputError ? invalidParams(error.message) : error
  }
}
