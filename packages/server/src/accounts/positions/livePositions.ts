import type {
  PositionChange,
  LivePosition,
  PositionRecord,
  PositionState,
} from '../../trading/positions/positionModel.ts'
import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { listOpenPositions } from '../../store/positionStore.ts'
import type { Store } from '../../store/sql.ts'
import type { KnownTerms } from './traderTerms.ts'

/**
 * The open positions of one chain, kept in memory: every read values them, and would otherwise load all of them from
 * the store.
 */
export interface LivePositions {
  /**
   * Returns the trader's positions in the order of their ids, oldest first. Returns the same array until one of them
   * changes.
   */
  ofTrader(trader: Address): readonly LivePosition[]
  find(id: OrderId): LivePosition | undefined
  /** Returns the positions of all traders. */
  all(): Iterable<LivePosition>
  /** Applies the changes that a committed block, or the undoing of a block, made to positions. */
  apply(changes: readonly Pick<PositionChange, 'record' | 'after'>[]): void
  /** Reads all positions again. */
  reload(): Promise<void>
  readonly size: number
}

/** Opens the positions with the terms of their traders: one whose terms change is replaced like any other change. */
export async function openLivePositions(
  store: Store,
  chain: ChainSlug,
  terms: Pick<KnownTerms, 'of' | 'onChange'>,
): Promise<LivePositions> {
  const byId = new Map<OrderId, LivePosition>()
  const byTrader = new Map<Address, readonly LivePosition[]>()
  await reload()
  terms.onChange(({ trader, pairIndex }) => {
    for (const { record, state } of byTrader.get(trader) ?? NONE) {
      if (state.trade.pairIndex === pairIndex) put(record, state)
    }
  })

  async function reload(): Promise<void> {
    const open = await listOpenPositions(store.read, chain)
    byId.clear()
    byTrader.clear()
    for (const { record, state } of open) put(record, state)
  }

  /** Replaces a position. A closed position, and one whose opening was undone (no state), is only removed. */
  function put(record: PositionRecord, state: PositionState | undefined): void {
    const others = (byTrader.get(record.trader) ?? NONE).filter((position) => position.record.id !== record.id)
    byId.delete(record.id)
    if (state?.isOpen === true) {
      const position: LivePosition = { record, state, terms: terms.of(record.trader, state.trade.pairIndex) }
      byId.set(record.id, position)
      others.splice(placeOf(others, position), 0, position)
    }
    if (others.length === 0) byTrader.delete(record.trader)
    else byTrader.set(record.trader, others)
  }

  return {
    ofTrader: (trader) => byTrader.get(trader) ?? NONE,
    find: (id) => byId.get(id),
    all: () => byId.values(),
    apply(changes) {
      for (const { record, after } of changes) if (record.chain === chain) put(record, after)
    },
    reload,
    get size() {
      return byId.size
    },
  }
}

const NONE: readonly LivePosition[] = []

/**
 * Compares positions by age, oldest first. Ids are decimal numbers of at most 53 bits, so they are compared as numbers.
 */
export function comparePositions(a: LivePosition, b: LivePosition): number {
  return Number(a.record.id) - Number(b.record.id)
}

/** Returns the index at which to insert a position into a sorted list. */
function placeOf(sorted: readonly LivePosition[], position: LivePosition): number {
  const at = sorted.findIndex((other) => comparePositions(other, position) > 0)
  return at === -1 ? sorted.length : at
}
