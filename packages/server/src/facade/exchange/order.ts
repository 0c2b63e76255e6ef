import type { OrderId } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { MalformedEnvelope } from '../signing/malformedEnvelope.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { ERR } from './errStrings.ts'
import { ordersAnswer, type ExchangeAnswer, type OrderStatusAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext, RunAction } from './exchangeParts.ts'
import { listAt } from './fields.ts'
import { readOrderItem, type OrderItem } from './orderItem.ts'
import { placeOrder } from './placeOrder.ts'
import { requireBatch, runBatch, type Taken } from './runBatch.ts'
import type { Attached, OrderToTranslate } from './translateOrder.ts'

type Grouping = 'na' | 'normalTpsl' | 'positionTpsl'

/** Places orders, each for itself or as an order with the triggers of what it opens. What is paid to a builder is ignored: nobody is. */
export function order(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = listAt(action.orders, 'action.orders').map((item, at) => readOrderItem(item, `action.orders[${at}]`))
  const grouping = readGrouping(action.grouping)
  return async (context) => {
    requireBatch(items, 'orders')
    return ordersAnswer(
      await (grouping === 'normalTpsl' ? placeGroup(context, items) : placeEach(context, items, grouping)),
    )
  }
}

/** One client has a grouping of its own, an object, which says nothing about triggers. */
function readGrouping(value: ExchangeAction[string] | undefined): Grouping {
  if (value === 'normalTpsl' || value === 'positionTpsl') return value
  if (value === 'na' || (value !== null && typeof value === 'object')) return 'na'
  throw new MalformedEnvelope('action.grouping must be na, normalTpsl or positionTpsl.')
}

async function placeEach(
  context: ActionContext,
  items: readonly OrderItem[],
  grouping: Grouping,
): Promise<readonly OrderStatusAnswer[]> {
  return runBatch(context, items, {
    keyOf: ({ asset }) => String(asset),
    suffixOf,
    take: (item) => {
      const isOfPosition = grouping === 'positionTpsl' && item.terms.kind === 'trigger'
      return placeWithRefusals(context, { item, attached: {}, isOfPosition })
    },
  })
}

/** An order that the chain refuses while the answer is held says for which asset. */
async function placeWithRefusals(context: ActionContext, of: OrderToTranslate): Promise<Taken<OrderStatusAnswer>> {
  const placed = await placeOrder(context, of)
  return { ...placed, status: placed.status.then((status) => named(status, of.item)) }
}

function named(status: OrderStatusAnswer, item: OrderItem): OrderStatusAnswer {
  return typeof status === 'object' && 'error' in status ? { error: `${status.error}${suffixOf(item)}` } : status
}

function suffixOf({ asset }: OrderItem): string {
  return ` asset=${asset}`
}

/** One order that is opened with its take profit and stop loss: on the chain they are part of it. */
async function placeGroup(context: ActionContext, items: readonly OrderItem[]): Promise<readonly OrderStatusAnswer[]> {
  const [main, ...children] = items
  const attached = attachedBy(main!, children)
  let positionId: Promise<OrderId | null> = Promise.resolve(null)
  const [status] = await runBatch(context, [main!], {
    keyOf: ({ asset }) => String(asset),
    suffixOf,
    async take(item) {
      const of = { item, attached, isOfPosition: false }
      const placed = await placeOrder(context, of)
      positionId = placed.positionId
      return { ...placed, status: placed.status.then((answer) => named(answer, item)) }
    },
  })
  const answers = await childAnswers(context, children, status!, await positionId)
  return [status!, ...answers]
}

/** Throws when they are not the triggers of the first order. */
function attachedBy(main: OrderItem, children: readonly OrderItem[]): Attached {
  if (main.terms.kind !== 'limit' || main.reduceOnly) {
    throw new ExchangeErr('The first order of normalTpsl must be one that opens a position.')
  }
  const attached: Partial<Record<TriggerKind, OrderItem['px']>> = {}
  for (const { terms, ...child } of children) {
    const isOfMain = child.asset === main.asset && child.isBuy !== main.isBuy && child.reduceOnly
    if (terms.kind !== 'trigger' || !isOfMain || attached[terms.tpsl] !== undefined) {
      throw new ExchangeErr('The other orders of normalTpsl must be one reduce-only TP and one SL of the first one.')
    }
    if (child.sz !== main.sz) throw new ExchangeErr(ERR.partialTrigger)
    attached[terms.tpsl] = terms.triggerPx
  }
  return attached
}

/** They rest with the position once that is there; until then they wait with the order, and are refused with it. */
async function childAnswers(
  { parts }: ActionContext,
  children: readonly OrderItem[],
  main: OrderStatusAnswer,
  positionId: OrderId | null,
): Promise<readonly OrderStatusAnswer[]> {
  if (typeof main === 'object' && 'error' in main) return children.map(() => main)
  if (positionId === null) return children.map(() => 'waitingForFill' as const)
  const keys = children.map(({ terms }) => ({ positionId, kind: kindOf(terms) }))
  // The order is filled whether these can be named now or not.
  const oids = await parts.reads.triggers.oidsOf(keys).catch(() => [])
  return children.map((_, at) => (oids[at] === undefined ? 'waitingForFill' : { resting: { oid: Number(oids[at]) } }))
}

function kindOf(terms: OrderItem['terms']): TriggerKind {
  if (terms.kind !== 'trigger') throw new Error('the order is no trigger')
  return terms.tpsl
}
