import { ApiError } from '@bezel/protocol'
import { ExchangeErr } from './exchangeErr.ts'
import { anyText, refusalText } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'

/** An item that was taken, with what becomes of it. */
export interface Taken<Status> {
  /** Never rejects, and is there by the deadline of the request. */
  readonly status: Promise<Status>
  /** What later items of the same key have to wait for, because it changes what they are judged by. */
  readonly isAwaited: boolean
}

/** Each is a transaction of its own. */
const MAX_ITEMS = 10

/** A status or a refusal. */
type StatusOr<Status> = Status | { readonly error: string }

/** Throws when a request has too many items, or none. */
export function requireBatch(items: readonly unknown[], what: string): void {
  if (items.length === 0) throw new ExchangeErr(`There are no ${what} in the action.`)
  if (items.length > MAX_ITEMS) {
    throw new ExchangeErr(`The action has ${items.length} ${what}; at most ${MAX_ITEMS} are taken at once.`)
  }
}

/**
 * Takes the items one after the other and answers each, in their order. An item that is refused does not stop the others. Trouble of our own stops
 * everything while nothing was taken, so that the whole can be sent again; afterwards it is told with the item.
 */
export async function runBatch<Item, Status>(
  context: Pick<ActionContext, 'agent'>,
  items: readonly Item[],
  of: {
    readonly keyOf: (item: Item) => string
    readonly take: (item: Item) => Promise<Taken<Status>>
    /** Told with a refusal. */
    readonly suffixOf: (item: Item) => string
  },
): Promise<readonly StatusOr<Status>[]> {
  const awaited = new Map<string, Promise<unknown>>()
  const statuses: Promise<StatusOr<Status>>[] = []
  let isAnyTaken = false
  for (const item of items) {
    await awaited.get(of.keyOf(item))
    try {
      const { status, isAwaited } = await of.take(item)
      isAnyTaken = true
      statuses.push(status)
      if (isAwaited) awaited.set(of.keyOf(item), status)
    } catch (error) {
      if (!isAnyTaken && isOfTheWhole(error, context)) throw error
      statuses.push(Promise.resolve({ error: `${anyText(error, context.agent)}${of.suffixOf(item)}` }))
    }
  }
  return Promise.all(statuses)
}

/** Nothing that another item could do better. */
function isOfTheWhole(error: unknown, { agent }: Pick<ActionContext, 'agent'>): boolean {
  if (error instanceof ApiError && error.code === 'AGENT_NOT_DELEGATED') return true
  return refusalText(error, agent) === undefined
}
