import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { fromExactJson, toExactJson } from '../../store/sql.ts'
import type { PositionRecord, PositionState } from '../../trading/positions/positionModel.ts'

/** An open position with its fixed part. */
export interface OpenPosition {
  readonly record: PositionRecord
  readonly state: PositionState
}

/**
 * Open positions as text, a third of its JSON and a quarter of its objects: nearly all have the same fields, so their
 * names are kept once, and each position has its values alone. Positions of one trader are joined by line breaks,
 * which JSON has none of.
 */
export interface PositionPacker {
  /** Packs a position whose state is given as the store has it. */
  packStored(id: OrderId, originOrderId: OrderId, stateText: string): string
  pack(position: OpenPosition): string
  /** Unpacks the positions of a trader, in the order in which they were joined. */
  unpack(chain: ChainSlug, trader: Address, packed: string): OpenPosition[]
}

/** Joins packed positions of one trader. */
export const PACKED_SEPARATOR = '\n'

/** Parts of the name of a shape. Names of fields are words, so none of these is one. */
const NAME_SEPARATOR = '\n'
const INNER = '{'
const LEAF = '.'
const END = '}'

type Fields = Readonly<Record<string, unknown>>

/** The names of an object's fields, each with those of the object in it; `null` for any other value. */
type Shape = readonly (readonly [name: string, inner: Shape | null])[]

/** Id, id of the order, number of the shape, and the values. */
type Packed = readonly [OrderId, OrderId, number, readonly unknown[]]

export function createPositionPacker(): PositionPacker {
  const shapes: Shape[] = []
  const numbers = new Map<string, number>()

  function numberOf(names: string, state: Fields): number {
    const known = numbers.get(names)
    if (known !== undefined) return known
    numbers.set(names, shapes.length)
    return shapes.push(shapeOf(state)) - 1
  }

  function packStored(id: OrderId, originOrderId: OrderId, stateText: string): string {
    const state = JSON.parse(stateText) as Fields
    const names: string[] = []
    const values = valuesOf(state, names)
    const packed: Packed = [id, originOrderId, numberOf(names.join(NAME_SEPARATOR), state), values]
    return JSON.stringify(packed)
  }

  return {
    packStored,
    pack: ({ record, state }) => packStored(record.id, record.originOrderId, toExactJson(state)),
    unpack: (chain, trader, packed) =>
      packed.split(PACKED_SEPARATOR).map((text) => {
        const [id, originOrderId, shape, values] = JSON.parse(text) as Packed
        const state = fromExactJson<PositionState>(JSON.stringify(fieldsOf(shapes[shape]!, values)))
        return { record: { id, chain, trader, originOrderId }, state }
      }),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shapeOf(fields: Fields): Shape {
  return Object.entries(fields).map(([name, value]) => [name, isFields(value) ? shapeOf(value) : null])
}

/** Returns the values of an object, and adds its names to `names` in a way that no other shape has. */
function valuesOf(fields: Fields, names: string[]): unknown[] {
  const values: unknown[] = []
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    const isInner = isFields(value)
    names.push(isInner ? INNER : LEAF, name)
    values.push(isInner ? valuesOf(value, names) : value)
  }
  names.push(END)
  return values
}

function fieldsOf(shape: Shape, values: readonly unknown[]): Fields {
  return Object.fromEntries(
    shape.map(([name, inner], at) => {
      const value = values[at]
      return [name, inner === null ? value : fieldsOf(inner, value as readonly unknown[])]
    }),
  )
}
