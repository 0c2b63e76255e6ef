import {
  BezelApiError,
  type Order,
  type OrderStatus,
  type TrackedOrder,
  type VerifyOptions,
  type Warning,
} from '@bezel/sdk'
import { UnwatchedOrderError } from '../errors/cliError.ts'
import { sentenceOf } from '../errors/sentenceOf.ts'
import { laterAdvice } from '../output/advice.ts'
import type { CommandContext } from './command.ts'
import { timeoutMsOf } from './confirm.ts'
import { formatFields, type PageShape } from '../output/formatTable.ts'
import type { Output } from '../output/createOutput.ts'
import { plainText, shortAmount, shortLeverage, shortPrice, shortSize } from '../output/text.ts'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal } from '../arguments/readers.ts'

/** The option of commands whose transaction is checked against the market's price. */
export const EXPECT_OPTION = {
  expect: {
    type: 'string',
    value: 'PRICE',
    what: "the market's price by your own source, to check what is signed (default: the service's word)",
  },
} as const satisfies OptionTable

const POLL_MS = 300

const DOING: Readonly<Partial<Record<OrderStatus, string>>> = {
  prepared: 'waiting for the block',
  pending: 'waiting for the oracle',
  open: 'resting',
}

/** Shows the progress of an order until the chain has what was asked for, then prints it. Another end is an error. */
export async function followOrder(context: CommandContext, tracked: TrackedOrder): Promise<void> {
  const { args, output, environment, interruption } = context
  const { warnings, txHash: sentTxHash } = tracked
  interruption.leaves(() => stillOpen(tracked.order))
  // Told before the wait, because they are about what will happen.
  showWarnings(output, warnings)
  const order = args.flag('no-wait') ? tracked.order : await waitForEnd(context, tracked)
  output.answer(withWarnings({ ...order, sentTxHash }, warnings), () =>
    orderFields(order, { sentTxHash, account: environment.labelOf(order.trader) }, output),
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

function waitForEnd({ args, output }: CommandContext, tracked: TrackedOrder): Promise<Order> {
  const startMs = performance.now()
  const onProgress = ({ id, status, type }: Order): void => {
    const doing = status === 'pending' && type !== 'market' ? DOING.prepared : DOING[status]
    const seconds = output.isProgressInPlace ? ` (${Math.floor((performance.now() - startMs) / 1000)} s)` : ''
    output.progress(`Order ${id}: ${doing ?? status}${seconds}`)
  }
  onProgress(tracked.order)
  return tracked.wait({ timeoutMs: timeoutMsOf(args), pollMs: POLL_MS, onProgress }).catch((error: unknown) => {
    // A refusal now is one of the reads: what was sent is not undone by it.
    const { order, txHash } = tracked
    const isUnwatched = error instanceof BezelApiError && txHash !== null
    throw isUnwatched ? new UnwatchedOrderError(order, txHash, sentenceOf(error)) : error
  })
}

function stillOpen({ id, status }: Order): string {
  return `Stopped waiting. Order ${id} was last seen ${status} and goes on by itself: ${laterAdvice(id, status)}`
}

/** Returns the facts that the user knows better than the service. */
export function verifyOptionsOf(args: CommandArguments): VerifyOptions {
  const text = args.text('expect')
  return text === undefined ? {} : { expectedPrice: readDecimal(text, '--expect') }
}

interface OrderFacts {
  /** Hash of the transaction that this command sent; null when it sent none. */
  readonly sentTxHash: string | null
  readonly account: string
}

/** Returns the lines that describe an order. */
function orderFields(order: Order, { sentTxHash, account }: OrderFacts, shape: PageShape): string[] {
  const { fill } = order
  const kind = order.reduceOnly ? `${order.type}, reduce only` : order.type
  const price = (text: string | null): string | null => (text === null ? null : shortPrice(text))
  return formatFields(
    [
      ['Order', `${order.id} ${order.status}${order.reason === null ? '' : ` (${order.reason})`}`],
      ['Market', `${order.market} ${order.side} ${shortSize(order.size)} at ${shortLeverage(order.leverage)}, ${kind}`],
      ['Price', fill === null ? price(order.price) : null],
      ['Filled', fill === null ? null : `${shortSize(fill.size)} at ${shortPrice(fill.price)}`],
      ['Fee', fill === null ? null : `${shortAmount(fill.feeCollateral)} ${order.collateral}`],
      ['Take profit', price(order.tp)],
      ['Stop loss', price(order.sl)],
      ['Position', fill?.positionId],
      ['Transaction', sentTxHash ?? order.txHash],
      ['Filled in', fill?.txHash],
      ['Account', account],
    ],
    shape,
  )
}
