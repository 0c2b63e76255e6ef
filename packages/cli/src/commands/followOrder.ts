import {
  OrderNotFilledError,
  type Order,
  type OrderStatus,
  type TrackedOrder,
  type VerifyOptions,
  type Warning,
} from '@bezel/sdk'
import type { CommandContext } from './command.ts'
import { formatFields } from '../output/formatTable.ts'
import type { Output } from '../output/createOutput.ts'
import { plainText, shortDecimal, type Style } from '../output/text.ts'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal, readWhole } from '../arguments/readers.ts'

/** Options of commands that wait for the chain. */
export const WAIT_OPTIONS = {
  'no-wait': { type: 'boolean', what: 'end as soon as the transaction is sent and reported' },
  timeout: { type: 'string', value: 'SECONDS', what: 'how long to wait (default: 90)' },
} as const satisfies OptionTable

/** The option of commands whose transaction is checked against the market's price. */
export const EXPECT_OPTION = {
  expect: {
    type: 'string',
    value: 'PRICE',
    what: "the market's price by your own source, to check what is signed (default: the service's word)",
  },
} as const satisfies OptionTable

const DEFAULT_SECONDS = 90

const MAX_SECONDS = 86_400

const POLL_MS = 300

const DOING: Readonly<Partial<Record<OrderStatus, string>>> = {
  prepared: 'waiting for the block',
  pending: 'waiting for the oracle',
  open: 'resting',
}

/** The statuses that an order does not leave by itself. */
const ENDED: readonly OrderStatus[] = ['filled', 'rejected', 'timed_out', 'canceled', 'expired']

/**
 * Shows the progress of an order until it reaches one of the `wanted` statuses and is as it should be, then prints the
 * order. Any other end is an error.
 */
export async function followOrder(
  context: CommandContext,
  tracked: TrackedOrder,
  wanted: readonly OrderStatus[],
  isDone: (order: Order) => boolean = () => true,
): Promise<void> {
  const { args, output, environment, interruption } = context
  const { warnings } = tracked
  interruption.leaves(() => stillOpen(tracked.order))
  // Told before the wait, because they are about what will happen.
  showWarnings(output, warnings)
  const order = args.flag('no-wait') ? tracked.order : await waitForEnd(context, tracked, { wanted, isDone })
  if (!args.flag('no-wait') && !wanted.includes(order.status)) throw new OrderNotFilledError(order)
  output.answer(withWarnings(order, warnings), () =>
    orderFields(order, environment.labelOf(order.trader), output.style),
  )
}

/** Prints where what will happen differs from what was asked for. */
export function showWarnings(output: Output, warnings: readonly Warning[]): void {
  for (const { message } of warnings) output.note(plainText(`Warning: ${message}`))
}

/** Returns the JSON of an answer, with its warnings if there are any. */
export function withWarnings<Answer extends object>(
  answer: Answer,
  warnings: readonly Warning[],
): Answer & { readonly warnings?: readonly Warning[] } {
  return warnings.length === 0 ? answer : { ...answer, warnings }
}

function waitForEnd(
  { args, output }: CommandContext,
  tracked: TrackedOrder,
  { wanted, isDone }: { readonly wanted: readonly OrderStatus[]; readonly isDone: (order: Order) => boolean },
): Promise<Order> {
  const startMs = performance.now()
  const onProgress = ({ id, status, type }: Order): void => {
    const doing = status === 'pending' && type !== 'market' ? DOING.prepared : DOING[status]
    const seconds = output.isProgressInPlace ? ` (${Math.floor((performance.now() - startMs) / 1000)} s)` : ''
    output.progress(`Order ${id}: ${doing ?? status}${seconds}`)
  }
  onProgress(tracked.order)
  const isOver = (order: Order): boolean =>
    (wanted.includes(order.status) && isDone(order)) || isAtEnd(order.status, wanted)
  return tracked.waitFor(isOver, { timeoutMs: timeoutMsOf(args), pollMs: POLL_MS, onProgress })
}

/**
 * Decides whether an order has ended. A cancel starts from `timed_out`, so that status does not end the wait for a
 * cancel.
 */
function isAtEnd(status: OrderStatus, wanted: readonly OrderStatus[]): boolean {
  return ENDED.includes(status) && !(status === 'timed_out' && wanted.includes('canceled'))
}

function stillOpen({ id, status }: Order): string {
  return `Stopped waiting. Order ${id} was last seen ${status} and goes on by itself: look at it with bezel orders --history, or end it with bezel cancel ${id}.`
}

/** Returns the facts that the user knows better than the service. */
export function verifyOptionsOf(args: CommandArguments): VerifyOptions {
  const text = args.text('expect')
  return text === undefined ? {} : { expectedPrice: readDecimal(text, '--expect') }
}

/** Returns `--timeout` in milliseconds. Default 90 s. */
export function timeoutMsOf(args: CommandArguments): number {
  const text = args.text('timeout')
  return 1_000 * (text === undefined ? DEFAULT_SECONDS : readWhole(text, '--timeout', { min: 1, max: MAX_SECONDS }))
}

/** Returns the lines that describe an order. */
function orderFields(order: Order, account: string, style: Style): string[] {
  const { fill } = order
  const kind = order.reduceOnly ? `${order.type}, reduce only` : order.type
  return formatFields(
    [
      ['Order', `${order.id} ${order.status}${order.reason === null ? '' : ` (${order.reason})`}`],
      ['Market', `${order.market} ${order.side} ${order.size} at ${order.leverage}x, ${kind}`],
      ['Price', fill === null ? order.price : null],
      ['Filled', fill === null ? null : `${shortDecimal(fill.size, 8)} at ${shortDecimal(fill.price, 8)}`],
      ['Fee', fill === null ? null : `${shortDecimal(fill.feeCollateral, 6)} ${order.collateral}`],
      ['Take profit', order.tp],
      ['Stop loss', order.sl],
      ['Position', fill?.positionId],
      ['Transaction', fill?.txHash ?? order.txHash],
      ['Account', account],
    ],
    style,
  )
}
