import { ApiError } from '@bezel/protocol'
import { ExchangeErr, anyText, refusalText } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'

/** An item that was accepted, with its outcome. */
export interface Taken<Status> {
  /** The outcome. Never rejects, and resolves by the deadline of the request. */
  readonly status: Promise<Status>
  /**
   * True when later items with the same key must wait, because this item changes the state they are checked against.
   */
  readonly isAwaited: boolean
}

/** The largest number of items in one request, because each item is a transaction of its own. */
const MAX_ITEMS = 10

type StatusOr<Status> = Status | { readonly error: string }

/**
 * Returns the items of a request. Throws an `ExchangeErr` when there are too many, or none. Readers call it before they
 * look at an item, because anybody can send a long list, and reading and hashing one is not cheap.
 */
export function requireBatch<Item>(items: readonly Item[], what: string): readonly Item[] {
  if (items.length === 0) throw new ExchangeErr(`There are no ${what} in the action.`)
  if (items.length > MAX_ITEMS) {
    throw new ExchangeErr(`The action has ${items.length} ${what}; at most ${MAX_ITEMS} are taken at once.`)
  }
  return items
}

/**
 * Takes the items one after the other and answers them in the same order. A refused item does not stop the others. An
 * error of the service stops everything while no item was taken, so that the whole request can be sent again; later it
 * is reported with its item.
 */
export async function runBatch<Item, Status>(
  context: Pick<ActionContext, 'agent'>,
  items: readonly Item[],
  of: {
    readonly keyOf: (item: Item) => string
    readonly take: (item: Item) => Promise<Taken<Status>>
    /** The text that is appended to a refusal of the item. */
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

/** True for an error that concerns the whole request, so that no other item could succeed. */
function isOfTheWhole(error: unknown, { agent }: Pick<ActionContext, 'agent'>): boolean {
  if (error instanceof ApiError && error.code === 'AGENT_NOT_DELEGATED') return true
  return refusalText(error, agent) === undefined
}
