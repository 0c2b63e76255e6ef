import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { createBreaks } from '../../ground/breaks.ts'
import { listOpenPositionTexts } from '../../store/positionStore.ts'
import { fromExactJson, type Store } from '../../store/sql.ts'
import type {
  PositionChange,
  LivePosition,
  PositionRecord,
  PositionState,
} from '../../trading/positions/positionModel.ts'
import { createPositionPacker, PACKED_SEPARATOR, type OpenPosition, type PositionPacker } from './packedPositions.ts'
import type { KnownTerms, TradedPair } from './traderTerms.ts'

/**
 * The open positions of one chain, kept in memory: every read values them, and would otherwise load all of them from
 * the store. Those of active traders are ready for use; beyond a number of them, those of the traders who were not
 * asked for longest are packed, and unpacked when somebody asks.
 */
export interface LivePositions {
  /**
   * Returns the trader's positions in the order of their ids, oldest first. Returns the same array until one of them
   * changes, or nobody asks for so long that they are packed.
   */
  ofTrader(trader: Address): readonly LivePosition[]
  find(id: OrderId): LivePosition | undefined
  /** Returns the positions of the active traders: of all, unless there are very many. */
  active(): Iterable<LivePosition>
  /** Returns the pairs of the other traders' positions, one for each position. They may change meanwhile. */
  packedPairs(): Iterable<TradedPair>
  /** Applies the changes that a committed block, or the undoing of a block, made to positions. */
  apply(changes: readonly Pick<PositionChange, 'record' | 'after'>[]): void
  /** Reads all positions again. */
  reload(): Promise<void>
  /** Number of open positions. */
  readonly size: number
}

/** Number of positions that are ready for use, about 30 MB. */
const MAX_ACTIVE = 20_000
/** Positions that are read from the store at a time. */
const READ_AT_ONCE = 1_000

/** Opens the positions with the terms of their traders: one whose terms change is replaced like any other change. */
export async function openLivePositions(
  store: Store,
  chain: ChainSlug,
  terms: Pick<KnownTerms, 'of' | 'onChange'>,
  maxActive = MAX_ACTIVE,
): Promise<LivePositions> {
  const packer = createPositionPacker()
  const withTerms = ({ record, state }: OpenPosition): LivePosition => ({
    record,
    state,
    terms: terms.of(record.trader, state.trade.pairIndex),
  })
  let held = await load()
  terms.onChange(({ trader, pairIndex }) => {
    for (const { record, state } of held.activeOf(trader)) {
      if (state.trade.pairIndex === pairIndex) put(record, state)
    }
  })

  /** Reads all positions in pieces, because there may be hundreds of thousands and requests wait meanwhile. */
  async function load(): Promise<HeldPositions> {
    const read = createHeldPositions({ chain, packer, withTerms, maxActive })
    const takeBreak = createBreaks()
    for (let afterId: OrderId | undefined = '0' as OrderId; afterId !== undefined;) {
      const page = await listOpenPositionTexts(store.read, chain, { afterId, limit: READ_AT_ONCE })
      for (const { record, stateText } of page) {
        read.takeIn(record, stateText)
        await takeBreak()
      }
      afterId = page.length < READ_AT_ONCE ? undefined : page.at(-1)?.record.id
    }
    return read
  }

  /** Replaces a position. A closed position, and one whose opening was undone (no state), is only removed. */
  function put(record: PositionRecord, state: PositionState | undefined): void {
    const others = held.ofTrader(record.trader).filter((position) => position.record.id !== record.id)
    held.traders.delete(record.id)
    if (state?.isOpen === true) {
      const position = withTerms({ record, state })
      held.traders.set(record.id, record.trader)
      others.splice(placeOf(others, position), 0, position)
    }
    held.hold(record.trader, others)
  }

  return {
    ofTrader: (trader) => held.ofTrader(trader),
    find(id) {
      const trader = held.traders.get(id)
      return trader === undefined ? undefined : held.ofTrader(trader).find(({ record }) => record.id === id)
    },
    active: () => held.active(),
    packedPairs: () => held.packedPairs(),
    apply(changes) {
      for (const { record, after } of changes) if (record.chain === chain) put(record, after)
    },
    reload: async () => void (held = await load()),
    get size() {
      return held.traders.size
    },
  }
}

/** The open positions of traders, each of whom is active or packed, never both. */
interface HeldPositions extends Pick<LivePositions, 'ofTrader' | 'active' | 'packedPairs'> {
  /** Trader of each open position. */
  readonly traders: Map<OrderId, Address>
  /** Adds a position that the store has, the newest of its trader. */
  takeIn(record: PositionRecord, stateText: string): void
  /** Returns the trader's positions if it is active. */
  activeOf(trader: Address): readonly LivePosition[]
  /** Makes these the trader's positions, and packs others if there are too many. */
  hold(trader: Address, positions: readonly LivePosition[]): void
}

function createHeldPositions(of: {
  readonly chain: ChainSlug
  readonly packer: PositionPacker
  readonly withTerms: (position: OpenPosition) => LivePosition
  readonly maxActive: number
}): HeldPositions {
  const { packer, withTerms, maxActive } = of
  /** While some are packed, the trader who was not asked for longest is the first. */
  const active = new Map<Address, readonly LivePosition[]>()
  const packed = new Map<Address, string>()
  const traders = new Map<OrderId, Address>()
  let activeCount = 0

  function hold(trader: Address, positions: readonly LivePosition[]): void {
    activeCount += positions.length - (active.get(trader)?.length ?? 0)
    // The order matters only to those who may be packed; without any, a trader keeps its place.
    if (positions.length === 0 || packed.size > 0 || activeCount > maxActive) active.delete(trader)
    if (positions.length > 0) active.set(trader, positions)
    for (const [other, theirs] of active) {
      if (activeCount <= maxActive || other === trader) break
      active.delete(other)
      activeCount -= theirs.length
      packed.set(other, theirs.map((position) => packer.pack(position)).join(PACKED_SEPARATOR))
    }
  }

  return {
    traders,
    hold,
    takeIn(record, stateText) {
      const { id, trader, originOrderId } = record
      traders.set(id, trader)
      const others = active.get(trader)
      const text = packed.get(trader)
      if (others !== undefined || (text === undefined && activeCount < maxActive)) {
        active.set(trader, [...(others ?? NONE), withTerms({ record, state: fromExactJson<PositionState>(stateText) })])
        activeCount += 1
        return
      }
      const added = packer.packStored(id, originOrderId, stateText)
      packed.set(trader, text === undefined ? added : text + PACKED_SEPARATOR + added)
    },
    activeOf: (trader) => active.get(trader) ?? NONE,
    ofTrader(trader) {
      const known = active.get(trader)
      if (known !== undefined) {
        if (packed.size > 0) hold(trader, known)
        return known
      }
      const text = packed.get(trader)
      if (text === undefined) return NONE
      packed.delete(trader)
      const unpacked = packer.unpack(of.chain, trader, text).map(withTerms)
      hold(trader, unpacked)
      return unpacked
    },
    *active() {
      // A list of its own, because the order of the traders changes while somebody walks through them.
      const listed = [...active.keys()]
      for (const trader of listed) yield* active.get(trader) ?? NONE
    },
    *packedPairs() {
      for (const [trader, text] of packed) {
        for (const { state } of packer.unpack(of.chain, trader, text))
          yield { trader, pairIndex: state.trade.pairIndex }
      }
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
