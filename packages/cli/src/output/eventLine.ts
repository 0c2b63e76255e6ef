import type { AccountEvent, Order, Position } from '@bezel/sdk'
import { paintStatus } from './orderColumns.ts'
import { plainText } from './plainText.ts'
import { shortDecimal } from './shortDecimal.ts'
import { shortTime } from './shortTime.ts'
import type { Style } from './style.ts'

const SEQ_WIDTH = '#1234'.length
const CHANNEL_WIDTH = 'positions'.length

/** One event of the account's log, for people. */
export function eventLine(event: AccountEvent, style: Style): string {
  const { seq, channel, timestamp, reverted } = event
  const head = `${shortTime(timestamp)}  ${`#${seq}`.padEnd(SEQ_WIDTH)}  ${channel.padEnd(CHANNEL_WIDTH)}`
  const again = reverted ? style.warn('  (the chain was reorganised)') : ''
  return `${style.dim(head)}  ${wordsOf(event, style)}${again}`
}

function wordsOf(event: AccountEvent, style: Style): string {
  switch (event.channel) {
    case 'orders':
    case 'fills':
      return orderWords(event.data, style)
    case 'positions':
      return positionsWords(event.data)
    case 'account':
      return plainText(
        event.data.balances.map(({ collateral, balance }) => `${shortDecimal(balance, 2)} ${collateral}`).join(', '),
      )
  }
}

function orderWords(order: Order, style: Style): string {
  const { id, market, side, type, status, fill, reason } = order
  const price = fill?.price ?? order.price
  const at = price === null ? '' : ` at ${shortDecimal(price, 6)}`
  const size = shortDecimal(fill?.size ?? order.size, 6)
  const why = reason === null ? '' : ` (${reason})`
  return `${plainText(`order ${id} ${market} ${side} ${size} ${type}${at}`)} ${paintStatus(order, style)(status)}${why}`
}

function positionsWords(positions: readonly Position[]): string {
  if (positions.length === 0) return 'none open'
  return plainText(
    positions.map(({ id, market, side, size }) => `${id}: ${market} ${side} ${shortDecimal(size, 6)}`).join(', '),
  )
}
