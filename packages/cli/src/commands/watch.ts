import type { AccountEvent, Order, Position } from '@bezel/sdk'
import { readWhole } from '../arguments/readers.ts'
import type { Command } from './command.ts'
import { pendingWords } from '../output/pendingUpdate.ts'
import { showStreamStatus } from '../output/createOutput.ts'
import { paintStatus, plainText, shortDecimal, shortTime, type Style } from '../output/text.ts'

const SEQ_WIDTH = '#1234'.length

const CHANNEL_WIDTH = 'positions'.length

/** `bezel watch`. */
export const watchCommand: Command = {
  name: 'watch',
  summary: 'shows what happens to the account, each event once and in order, until Ctrl-C',
  operands: [],
  options: {
    after: {
      type: 'string',
      value: 'SEQ',
      what: 'start after this event; 0 shows the whole log (default: from now on)',
    },
  },
  examples: ['watch', 'watch --after 0', 'watch --json --after 120'],
  async run({ args, output, environment, interruption }) {
    const text = args.text('after')
    const after = text === undefined ? 'latest' : readWhole(text, '--after', { min: 0, max: Number.MAX_SAFE_INTEGER })
    const client = await environment.readingClient()
    // Fails here for a wrong key, instead of in a stream that would retry for ever.
    await client.account.events({ limit: 1 })
    interruption.endsWell()
    const events = client.events({ after, onStatus: (status) => showStreamStatus(output, status) })
    interruption.signal.addEventListener('abort', () => events.close())
    const account = environment.labelOf(await client.trader())
    output.note(plainText(`Watching account ${account}. Ctrl-C ends it.`))
    for await (const event of events) show(event)

    function show(event: AccountEvent): void {
      output.event(event, () => [eventLine(event, output.style)])
    }
  },
}

/** Returns one event of the account's log as a line for people. */
function eventLine(event: AccountEvent, style: Style): string {
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
  return plainText(positions.map(positionWords).join(', '))
}

function positionWords({ id, market, side, size, pendingUpdate, collateralSymbol }: Position): string {
  const pending = pendingUpdate === null ? '' : ` (${pendingWords(pendingUpdate, collateralSymbol)})`
  return `${id}: ${market} ${side} ${shortDecimal(size, 6)}${pending}`
}
