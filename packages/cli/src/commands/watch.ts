import type { AccountEvent, BezelClient } from '@bezel/sdk'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readMarkets, readWhole, requireMarkets } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { showStreamStatus } from '../output/createOutput.ts'
import { dateAndTime, plainText } from '../output/text.ts'
import { eventLines } from '../screen/eventText.ts'
import { watchScreen } from '../screen/watchScreen.ts'
import type { Command, CommandContext } from './command.ts'

/** Events that the log of the screen begins with. */
const PAST_EVENTS = 100

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
    screen: { type: 'boolean', what: 'show positions, orders, prices and the log on the whole terminal; q leaves' },
    markets: {
      type: 'string',
      value: 'LIST',
      what: 'with --screen: markets whose prices are shown beside those you trade, BTC/USD,ETH/USD (default: all)',
    },
  },
  examples: ['watch', 'watch --after 0', 'watch --screen', 'watch --json --after 120'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const after = afterOf(args)
    if (args.flag('screen')) return showScreen(context, after)
    if (args.text('markets') !== undefined) throw new UsageError('--markets is for the prices of watch --screen.')
    const client = await environment.readingClient()
    // Fails here for a wrong key, instead of in a stream that would retry for ever.
    await client.account.events({ limit: 1 })
    interruption.endsWell()
    const events = client.events({ after, onStatus: (status) => showStreamStatus(output, status) })
    interruption.signal.addEventListener('abort', () => events.close())
    const account = environment.labelOf(await client.trader())
    output.note(plainText(`Watching account ${account}. Ctrl-C ends it.`))
    for await (const event of events) output.event(event, () => eventLines(event, output, dateAndTime))
  },
}

function afterOf(args: CommandArguments): number | 'latest' {
  const text = args.text('after')
  return text === undefined ? 'latest' : readWhole(text, '--after', { min: 0, max: Number.MAX_SAFE_INTEGER })
}

/** Shows the account on the whole terminal until the user leaves. */
async function showScreen(
  { args, output, environment, interruption }: CommandContext,
  after: number | 'latest',
): Promise<void> {
  const { terminal, style, typing } = output
  if (output.isJson) throw new UsageError('--screen is for people, --json for programs: leave one of them away.')
  if (terminal === undefined) {
    throw new UsageError(
      'watch --screen draws on a terminal, and stdout is none. Leave --screen away for lines of text.',
    )
  }
  const client = await environment.readingClient()
  const text = args.text('markets')
  const wanted = text === undefined ? undefined : readMarkets(text)
  const known = wanted && requireMarkets(await client.markets.list(), wanted, '--markets: ')
  const markets = known?.map(({ symbol }) => symbol)
  const past = await readPast(client, after)
  const account = environment.labelOf(await client.trader())
  const { now, passwords } = environment
  const { input } = passwords.streams
  const { signal, undoes: onOpen } = interruption
  interruption.endsWell()
  await watchScreen({ client, account, markets, past, typing, terminal, input, style, now, signal, onOpen })
}

/** Reads the last events, not those up to `after`. Fails for a wrong key, before the screen is taken over. */
async function readPast({ account }: BezelClient, after: number | 'latest'): Promise<readonly AccountEvent[]> {
  const { lastSeq } = await account.events({ limit: 1 })
  const from = Math.max(after === 'latest' ? 0 : after, lastSeq - PAST_EVENTS)
  return (await account.events({ after: from, limit: PAST_EVENTS })).data
}
