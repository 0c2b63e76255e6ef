import {
  BatchNotDoneError,
  type BezelClient,
  type CloseAllOptions,
  type LeftOpen,
  type Order,
  type SentBatch,
  type WaitOptions,
} from '@bezel/sdk'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal, readMarket } from '../arguments/readers.ts'
import { LeftoverError, UsageError } from '../errors/cliError.ts'
import { formatTable, type Column } from '../output/formatTable.ts'
import { paintSide, paintStatus, plainText, shortPrice, shortSize } from '../output/text.ts'
import type { Command, CommandContext } from './command.ts'
import { confirm, timeoutMsOf, WAIT_OPTIONS } from './confirm.ts'
import { showWarnings } from './followOrder.ts'

const POLL_MS = 300

/** The option of commands that end all things of a market. */
export const MARKET_OPTION = {
  market: { type: 'string', value: 'MARKET', what: 'only what belongs to this market (default: all markets)' },
} as const satisfies OptionTable

/** Returns the market that `--market` names, as a filter. */
export function marketFilterOf(args: CommandArguments): { readonly market?: string } {
  const text = args.text('market')
  return text === undefined ? {} : { market: readMarket(text) }
}

/** The option of commands that close positions. */
export const SLIPPAGE_OPTION = {
  slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you (default: 1)' },
} as const satisfies OptionTable

const COLUMNS: readonly Column<Order>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'TYPE', cell: ({ type, reduceOnly }) => (reduceOnly ? 'close' : type) },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true, drop: 2 },
  { title: 'PRICE', cell: ({ fill }) => (fill === null ? '-' : shortPrice(fill.price)), isNumber: true, drop: 1 },
  {
    title: 'STATUS',
    cell: ({ status, reason }) => (reason === null ? status : `${status} ${reason}`),
    paint: paintStatus,
  },
]

/** `bezel flatten`. */
export const flattenCommand: Command = {
  name: 'flatten',
  summary: 'cancels all orders and closes all positions at the market',
  operands: [],
  options: { ...MARKET_OPTION, ...SLIPPAGE_OPTION, ...WAIT_OPTIONS },
  examples: ['flatten', 'flatten --market BTC/USD --slippage 2'],
  run: (context) =>
    endAll(context, { doing: 'Ending all orders and positions', ends: ['orders', 'positions'] }, (client, of) =>
      client.flatten(of),
    ),
}

/** Throws when a command is told to end everything and one thing too. */
export function refuseOperand({ operands }: CommandArguments): void {
  if (operands.length > 0) throw new UsageError('--all is for everything: leave the id away, or leave --all away.')
}

/**
 * Ends many orders and positions, waits until they have ended, and prints them. Throws when something is left that
 * should have ended.
 */
export async function endAll(
  context: CommandContext,
  { doing, ends }: { readonly doing: string; readonly ends: readonly Ended[] },
  send: (client: BezelClient, options: CloseAllOptions) => Promise<SentBatch>,
): Promise<void> {
  const { args, output, environment, interruption } = context
  const options = filterOf(args)
  const client = await environment.tradingClient()
  await confirm(context, doing, () => countLines(client, ends, options))
  interruption.leaves(
    () => 'Stopped. Some of it may have been sent already: look with `bezel orders` and `bezel positions`',
  )
  output.progress(doing)
  const sent = await send(client, options)
  showWarnings(output, sent.warnings)
  const count = sent.orders.length
  if (count > 0) output.progress(`Waiting for ${count === 1 ? '1 order' : `${count} orders`}`)
  const { orders, missed } = args.flag('no-wait')
    ? { orders: sent.orders.map(({ order }) => order), missed: [] }
    : await waitForAll(sent, { timeoutMs: timeoutMsOf(args), pollMs: POLL_MS })
  const { leftOut, txHashes } = sent
  const answer = { orders, leftOut, txHashes }
  const isDone = leftOut.length + missed.length === 0
  // A failure has the same facts in its own document.
  if (isDone || !output.isJson) {
    const owner = environment.labelOf(await client.trader())
    const table = orders.length === 0 ? ['There was nothing to end.'] : formatTable(orders, COLUMNS, output)
    output.answer(answer, () => [...table, '', plainText(`Account ${owner}`)])
  }
  if (isDone) return
  const left = leftOut.length + missed.length
  const what = left === 1 ? '1 of them is left' : `${left} of them are left`
  const message = `${what}. Look with \`bezel orders\` and \`bezel positions\` and run it again.`
  throw new LeftoverError(message, linesOf(leftOut, missed), answer)
}

/** Waits for a batch. Returns its orders as they ended, and among them those that did not end as they should. */
async function waitForAll(
  sent: SentBatch,
  options: WaitOptions,
): Promise<{ readonly orders: readonly Order[]; readonly missed: readonly Order[] }> {
  try {
    return { orders: await sent.wait(options), missed: [] }
  } catch (error) {
    if (error instanceof BatchNotDoneError) return error
    throw error
  }
}

type Ended = 'orders' | 'positions'

/** Returns how many orders and positions there are to end. */
async function countLines(client: BezelClient, ends: readonly Ended[], { market }: CloseAllOptions): Promise<string[]> {
  const filter = market === undefined ? {} : { market }
  const reads = { orders: client.account.openOrders, positions: client.account.positions }
  return Promise.all(ends.map(async (name) => `${(await reads[name](filter)).length} ${name}`))
}

function filterOf(args: CommandArguments): CloseAllOptions {
  const slippage = args.text('slippage')
  return {
    ...marketFilterOf(args),
    ...(slippage === undefined ? {} : { slippage: readDecimal(slippage, '--slippage') }),
  }
}

/** Returns one line for each thing that is left. */
function linesOf(leftOut: readonly LeftOpen[], failed: readonly Order[]): string {
  return [
    ...leftOut.map(({ id, code, message }) => `${id}: ${code}: ${message}`),
    ...failed.map(({ id, status, reason }) => `${id}: ${status}${reason === null ? '' : ` ${reason}`}`),
  ]
    .map(plainText)
    .join('\n')
}
