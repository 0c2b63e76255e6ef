import { OrderNotFilledError, type Order, type OrderStatus, type TrackedOrder } from '@bezel/sdk'
import { orderFields } from '../output/orderFields.ts'
import type { CommandContext } from './command.ts'
import { timeoutMsOf } from './waiting.ts'

const POLL_MS = 300

const DOING: Readonly<Partial<Record<OrderStatus, string>>> = {
  prepared: 'waiting for the block',
  pending: 'waiting for the oracle',
  open: 'resting',
}

/** Every status that an order does not leave by itself. */
const ENDED: readonly OrderStatus[] = ['filled', 'rejected', 'timed_out', 'canceled', 'expired']

/** Shows how an order goes on until it is in one of the `wanted` statuses, and answers with it. Another end is an error. */
export async function followOrder(
  context: CommandContext,
  tracked: TrackedOrder,
  wanted: readonly OrderStatus[],
): Promise<void> {
  const { args, output, interruption } = context
  interruption.leaves(() => stillOpen(tracked.order))
  const order = args.flag('no-wait') ? tracked.order : await waitForEnd(context, tracked, wanted)
  if (!args.flag('no-wait') && !wanted.includes(order.status)) throw new OrderNotFilledError(order)
  output.answer(order, () => orderFields(order, output.style))
}

function waitForEnd(
  { args, output }: CommandContext,
  tracked: TrackedOrder,
  wanted: readonly OrderStatus[],
): Promise<Order> {
  const startMs = performance.now()
  const onProgress = ({ id, status, type }: Order): void => {
    const doing = status === 'pending' && type !== 'market' ? DOING.prepared : DOING[status]
    const seconds = output.isProgressInPlace ? ` (${Math.floor((performance.now() - startMs) / 1000)} s)` : ''
    output.progress(`Order ${id}: ${doing ?? status}${seconds}`)
  }
  onProgress(tracked.order)
  const isOver = ({ status }: Order): boolean => wanted.includes(status) || isAtEnd(status, wanted)
  return tracked.waitFor(isOver, { timeoutMs: timeoutMsOf(args), pollMs: POLL_MS, onProgress })
}

/** A timed-out order is where a cancel begins, so it is no end of one. */
function isAtEnd(status: OrderStatus, wanted: readonly OrderStatus[]): boolean {
  return ENDED.includes(status) && !(status === 'timed_out' && wanted.includes('canceled'))
}

function stillOpen({ id, status }: Order): string {
  return `Stopped waiting. Order ${id} was last seen ${status} and goes on by itself: look at it with bezel orders --history, or end it with bezel cancel ${id}.`
}
