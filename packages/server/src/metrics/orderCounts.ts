import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OrderStatus } from '@bezel/protocol'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { CountedOrders } from '../store/orderStore.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'

/**
 * The number of orders by status. One node of a deployment counts the table in the background, in pages so that no
 * statement is long, and adds the changes of commits from then on. Nothing waits for it.
 */
export interface OrderCounts {
  /** Begins to count. Resolves, once it is called, when that has ended. */
  begin(readPage: ReadPage): () => Promise<void>
  /** Applies the changes of a commit, unless they are counted already. */
  apply(changes: readonly OrderCountChange[], of: { readonly chain: string; readonly number: number | undefined }): void
  /** Counts again, where it is counted, because commits are missing. The counts stay until that is done. */
  restart(): void
  /** Takes off orders that the store has forgotten. */
  forget(status: OrderStatus, orders: number): void
  /** Returns the counts; `undefined` until they are known, and where nothing is counted. */
  current(): ReadonlyMap<OrderStatus, number> | undefined
}

/** Counts the orders that come after an id, up to some number of them. */
type ReadPage = (after: bigint) => Promise<CountedOrders>

/** The part of an order's change that affects the counts. */
interface OrderCountChange {
  readonly record: { readonly id: string }
  readonly before: Pick<OrderState, 'status'> | undefined
  readonly after: Pick<OrderState, 'status'> | undefined
}

/** Pause after a page that could not be read. */
const RETRY_MS = 1_000

export function createOrderCounts({
  onError,
  retryMs = RETRY_MS,
}: {
  readonly onError: (error: unknown) => void
  readonly retryMs?: number
}): OrderCounts {
  let readPage: ReadPage | undefined
  /** Distinguishes a counting from those that began later. */
  let counting = 0
  let work = Promise.resolve()
  let tally: Tally | undefined
  /** Changes since the counting began; `undefined` while nobody counts. */
  let meanwhile: ((tally: Tally) => void)[] | undefined

  async function count(own: number, read: ReadPage): Promise<void> {
    const next = createTally()
    for (let after: bigint | undefined = 0n; after !== undefined; await nextTurn()) {
      const page = await read(after)
      if (own !== counting) return
      next.addPage(after, page)
      after = page.last
    }
    if (own !== counting) return
    for (const again of meanwhile ?? []) again(next)
    meanwhile = undefined
    tally = next
  }

  function restart(): void {
    if (readPage === undefined) return
    const own = ++counting
    meanwhile = []
    work = count(own, readPage).catch((error: unknown) => {
      if (own !== counting) return
      if (!(error instanceof StoreUnavailableError)) onError(error)
      setTimeout(() => (own === counting ? restart() : undefined), retryMs).unref()
    })
  }

  return {
    begin(read) {
      readPage = read
      restart()
      return () => {
        counting += 1
        readPage = meanwhile = tally = undefined
        return work
      }
    },
    apply(changes, of) {
      const add = (to: Tally): void => to.apply(changes, of)
      meanwhile?.push(add)
      if (tally !== undefined) add(tally)
    },
    restart,
    forget(status, orders) {
      tally?.forget(status, orders)
      // Nobody can say if they were counted before they were forgotten.
      if (meanwhile !== undefined) restart()
    },
    current: () => tally?.byStatus,
  }
}

/** Counts that were read page by page, each as of its own commits. */
interface Tally extends Pick<OrderCounts, 'apply' | 'forget'> {
  readonly byStatus: ReadonlyMap<OrderStatus, number>
  addPage(after: bigint, page: CountedOrders): void
}

function createTally(): Tally {
  const byStatus = new Map<OrderStatus, number>()
  const pages: { readonly after: bigint; readonly asOf: CountedOrders['asOf'] }[] = []

  function add(status: OrderStatus | undefined, orders: number): void {
    if (status !== undefined) byStatus.set(status, Math.max(0, (byStatus.get(status) ?? 0) + orders))
  }

  /** Returns true for the change of an order whose page was read after that commit. */
  function isCounted(id: bigint, chain: string, number: number | undefined): boolean {
    // Each page knows all commits of those before it, and the last one all.
    if (number === undefined || number > (pages.at(-1)?.asOf.get(chain) ?? 0)) return false
    return number <= (pages.findLast(({ after }) => after < id)?.asOf.get(chain) ?? 0)
  }

  return {
    byStatus,
    addPage(after, page) {
      pages.push({ after, asOf: page.asOf })
      for (const [status, orders] of page.byStatus) add(status, orders)
    },
    apply(changes, { chain, number }) {
      for (const { record, before, after } of changes) {
        if (isCounted(BigInt(record.id), chain, number)) continue
        add(before?.status, -1)
        add(after?.status, 1)
      }
    },
    forget: (status, orders) => add(status, -orders),
  }
}
