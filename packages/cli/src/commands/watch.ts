import type { AccountEvent } from '@bezel/sdk'
import { readWhole } from '../arguments/readWhole.ts'
import { eventLine } from '../output/eventLine.ts'
import type { Command } from './command.ts'
import { showStreamStatus } from './showStreamStatus.ts'

/** `bezel watch`. */
export const watch: Command = {
  name: 'watch',
  summary: 'shows what happens to the account, each event once and in order, until Ctrl-C',
  operands: [],
  options: {
    after: {
      type: 'string',
      value: 'SEQ',
      what: 'begin behind this event; 0 shows the whole log (default: from now on)',
    },
  },
  examples: ['watch', 'watch --after 0', 'watch --json --after 120'],
  async run({ args, output, environment, interruption }) {
    const text = args.text('after')
    const after = text === undefined ? 'latest' : readWhole(text, '--after', { min: 0, max: Number.MAX_SAFE_INTEGER })
    const client = await environment.readingClient()
    // A wrong key is found out here, and not in a stream that tries again and again.
    await client.account.events({ limit: 1 })
    interruption.endsWell()
    const events = client.events({ after, onStatus: (status) => showStreamStatus(output, status) })
    interruption.signal.addEventListener('abort', () => events.close())
    if (!output.isJson) output.note('Watching the account. Ctrl-C ends it.')
    for await (const event of events) show(event)

    function show(event: AccountEvent): void {
      output.event(event, () => [eventLine(event, output.style)])
    }
  },
}
