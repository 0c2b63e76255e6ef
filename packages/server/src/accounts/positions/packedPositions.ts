import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { fromExactJson, toExactJson } from '../../store/sql.ts'
import type { PositionRecord, PositionState } from '../../trading/positions/positionModel.ts'

/** An open position with its fixed part. */
export interface OpenPosition {
  readonly record: PositionRecord
  readonly state: PositionState
}

/**
 * Open positions as text, a third of its JSON and a quarter of its objects: nearly all have the same fields, so the
 * text between their values is kept once, and each position has its values alone. Positions of one trader are joined
 * by line breaks, which JSON has none of.
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

/** Joins the parts of a packed position: its ids, the number of its template, and its values. JSON escapes it. */
const VALUE_SEPARATOR = '\u0001'
/** States whose fields are not those of any template are packed as a whole from then on. */
const MAX_TEMPLATES = 32

/** The text before, between and behind the values of a JSON text. */
type Template = readonly string[]

/** The template of any text, which is its only value. */
const ANY_TEXT: Template = ['', '']

export function createPositionPacker(): PositionPacker {
  const templates: Template[] = [ANY_TEXT]

  /** Returns the number of a template and the values of a text in it, separated. */
  function valuesIn(text: string): string {
    for (let number = templates.length - 1; number > 0; number -= 1) {
      const values = takeValues(templates[number]!, text)
      if (values !== undefined && !hasNames(values)) return number + VALUE_SEPARATOR + values
    }
    if (templates.length < MAX_TEMPLATES) {
      const template = templateOf(text)
      return templates.push(template) - 1 + VALUE_SEPARATOR + takeValues(template, text)!
    }
    return 0 + VALUE_SEPARATOR + text
  }

  const packStored = (id: OrderId, originOrderId: OrderId, stateText: string): string =>
    id + VALUE_SEPARATOR + originOrderId + VALUE_SEPARATOR + valuesIn(stateText)

  return {
    packStored,
    pack: ({ record, state }) => packStored(record.id, record.originOrderId, toExactJson(state)),
    unpack: (chain, trader, packed) =>
      packed.split(PACKED_SEPARATOR).map((one) => {
        const [id, originOrderId, number, ...values] = one.split(VALUE_SEPARATOR)
        const text = fillIn(templates[Number(number)]!, values)
        const record = { id: id as OrderId, chain, trader, originOrderId: originOrderId as OrderId }
        return { record, state: fromExactJson<PositionState>(text) }
      }),
  }
}

/** Matches names with what is around them, and what closes a text. Everything else is a value. */
const BETWEEN_VALUES = /(?:[{},]*"(?:[^"\\]|\\.)*":)+\{*|[{}]+$/g

/** Matches the end of a name; quotes within a value are escaped. */
const NAME_END = /[^\\]":/

/** Returns the text around the values of a JSON text. */
function templateOf(text: string): Template {
  const parts = text.match(BETWEEN_VALUES) ?? []
  return takeValues(parts, text) === undefined ? ANY_TEXT : parts
}

/**
 * Returns the values of a text, separated; `undefined` when it does not have the parts of the template in this order.
 * The template filled in with them is the text again, whatever the parts are.
 */
function takeValues(template: Template, text: string): string | undefined {
  const last = template.length - 1
  if (last < 1 || !text.startsWith(template[0]!) || !text.endsWith(template[last]!)) return undefined
  let values = ''
  let from = template[0]!.length
  for (let at = 1; at < last; at += 1) {
    const until = text.indexOf(template[at]!, from)
    if (until === -1) return undefined
    values += text.slice(from, until) + VALUE_SEPARATOR
    from = until + template[at]!.length
  }
  const end = text.length - template[last]!.length
  return end < from ? undefined : values + text.slice(from, end)
}

function fillIn(template: Template, values: readonly string[]): string {
  return template.map((part, at) => part + (values[at] ?? '')).join('')
}

/** Returns true when a value has fields, which another template may have the names of. */
function hasNames(values: string): boolean {
  return NAME_END.test(values)
}
