import { decimal, type OrderPreview, type VerifiedOrder } from '@bezel/sdk'
import { formatPrice } from '../ground/format.ts'

/** An order that is being reviewed. */
export interface Reviewed {
  readonly preview: Pick<OrderPreview, 'type' | 'oraclePrice' | 'slippage' | 'missing' | 'reason'>
  /** The prepared and verified order; null before. */
  readonly verified: Pick<VerifiedOrder, 'transaction'> | null
}

/** The state of things now, to be compared with that at the time of a review. */
export interface Since {
  readonly mark: string | null
  /** Time by the clock of the service. */
  readonly nowMs: number
  /** A sentence that says why no market order is taken now; null while the market is open. */
  readonly closed: string | null
}

/** A transaction is not sent in the last moment before it expires: the wallet takes a while. */
const EXPIRY_ROOM_MS = 3_000

/**
 * Returns why an order has to be reviewed again, in a sentence; null while its review holds. A price counts as
 * changed once it has moved by more than half of the slippage, because then the rest of it is soon used up.
 */
export function outdated({ preview, verified }: Reviewed, { mark, nowMs, closed }: Since): string | null {
  const isMarket = preview.type === 'market'
  if (isMarket && closed !== null) return closed
  const expiresAt = verified?.transaction?.expiresAt
  if (expiresAt !== undefined && nowMs > expiresAt - EXPIRY_ROOM_MS) {
    return 'The prepared transaction is too old to be sent. Nothing was sent; review the order again.'
  }
  if (!isMarket || mark === null) return null
  const { oraclePrice, slippage } = preview
  const moved = decimal.sub(mark, oraclePrice).replace(/^-/, '')
  const room = decimal.mul(decimal.mul(oraclePrice, slippage), '0.005')
  if (decimal.compare(moved, room) <= 0) return null
  return `The price has moved from ${formatPrice(oraclePrice)} to ${formatPrice(mark)} since the review. Look at the new numbers before you send.`
}

/** Returns true when nothing keeps a reviewed order from being prepared. */
export function isOrderable({ preview }: Pick<Reviewed, 'preview'>, lacksGas: boolean): boolean {
  return preview.missing.length === 0 && preview.reason === null && !lacksGas
}
