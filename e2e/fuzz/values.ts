import type { Knowledge } from './knowledge.ts'
import { ODD_TEXTS, WILD_NUMBERS } from './oddities.ts'
import type { Random } from './random.ts'
import type { Schema, Surface } from './surface.ts'

/** The place that a value is made for, and the sender. */
export interface Place {
  readonly random: Random
  /** The sender's trader. */
  readonly trader: string | undefined
  /** Addresses of the actors and visitors, to choose from. */
  readonly addresses: readonly string[]
  /** The name of the property or parameter. */
  readonly name: string
  /** The operation the value is for. */
  readonly operationId: string
  /** The properties that the object has already. */
  readonly siblings: Readonly<Record<string, unknown>>
}

const OPTIONAL_CHANCE = 0.3
const WILD_CHANCE = 0.1
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  size: ['0.01', '0.02', '0.05', '0.1', '0.5', '1', '3'],
  leverage: ['2', '3', '5', '10', '20', '25', '50', '1.5', '7.125'],
  slippage: ['1', '0.5', '3', '65.535', '0.001'],
  amount: ['1', '2.5', '10', '0.000001'],
  maxLeverage: ['5', '20', '100'],
  dailySpendCapUsd: ['100', '5000', '1000000'],
}

/** Creates the maker of values that a schema allows: mostly reasonable ones, some at its edges. */
export function createValues(surface: Surface, knowledge: Knowledge) {
  function valueOf(schema: Schema, place: Place): unknown {
    const { name: type, schema: found } = surface.resolve(schema)
    const named = namedValue(type, found, place, knowledge)
    if (named !== undefined) return named
    if (found.const !== undefined) return found.const
    if (found.enum !== undefined) return place.random.pick(found.enum)
    if (found.anyOf !== undefined) return valueOf(place.random.pick(found.anyOf), place)
    switch (found.type) {
      case 'object':
        return objectOf(found, place)
      case 'array':
        return listOf(found, place)
      case 'integer':
        return integerOf(found, place.random)
      case 'boolean':
        return place.random.chance(0.3)
      case 'null':
        return null
      default:
        return textOf(found, place.random)
    }
  }

  function objectOf(schema: Schema, place: Place): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name) === true
      if (!isRequired && !isWanted(name, made, place)) continue
      made[name] = valueOf(property, { ...place, name, siblings: made })
    }
    return made
  }

  function listOf({ items, maxItems = 8 }: Schema, place: Place): unknown[] {
    const length = place.random.pick([0, 1, 2, 3, Math.min(maxItems, 20)])
    return Array.from({ length }, () => valueOf(items!, place))
  }

  return { valueOf }
}

/**
 * True when an optional property is included. Most resting orders get a price, because one without it is refused at
 * once.
 */
function isWanted(name: string, made: Readonly<Record<string, unknown>>, { random, operationId }: Place): boolean {
  if (operationId !== 'createOrder') return random.chance(OPTIONAL_CHANCE)
  if (name === 'price') return random.chance(made.type === 'market' ? 0.1 : 0.97)
  return random.chance(name === 'clientId' ? OPTIONAL_CHANCE : 0.12)
}

/** Returns a value by the name of its type or of its property, because the shape alone does not say what it means. */
function namedValue(type: string | undefined, schema: Schema, place: Place, knowledge: Knowledge): unknown {
  const { random, name } = place
  switch (type) {
    case 'Decimal':
      return decimalFor(place, knowledge)
    case 'Address':
      return random.chance(0.75) && place.trader !== undefined ? place.trader : random.pick(place.addresses)
    case 'Id':
      return idFor(place, knowledge)
    case 'MarketSymbol':
      return marketSymbol(random, knowledge)
    case 'Timestamp':
      return random.chance(0.9) ? Date.now() : random.pick([0, 1, Date.now() - 3_600_000, Number.MAX_SAFE_INTEGER])
    case 'Hex':
      return `0x${random.hex(random.pick([0, 1, 64, 65, 65, 65, 66, 500]))}`
    case 'ChainSlug':
      return random.chance(0.95) ? 'arbitrum-sepolia' : random.pick(schema.enum ?? ['base'])
    default:
      return namedText(name, place, knowledge)
  }
}

function namedText(name: string, place: Place, knowledge: Knowledge): string | undefined {
  const { random } = place
  switch (name) {
    case 'id':
      return idFor(place, knowledge)
    case 'symbol': {
      const symbol = marketSymbol(random, knowledge)
      return random.chance(0.5) ? symbol.replace('/', '-') : symbol
    }
    case 'cursor':
      return random.chance(0.8) && knowledge.cursors.length > 0 ? random.pick(knowledge.cursors) : undefined
    case 'txHash':
      return random.chance(0.5) && knowledge.hashes.length > 0 ? random.pick(knowledge.hashes) : `0x${random.hex(32)}`
    case 'collateral':
      if (place.operationId !== 'createOrder') return undefined
      return random.chance(0.9) && knowledge.collaterals.length > 0 ? random.pick(knowledge.collaterals) : undefined
    case 'clientId':
      if (place.operationId === 'getOrderByClientId' && knowledge.namedOrders.length > 0)
        return String(random.pick(knowledge.namedOrders).clientId)
      return random.chance(0.85) ? `fuzz-${random.below(400)}` : undefined
    case 'label':
      return random.chance(0.8) ? `label-${random.below(20)}` : undefined
    default:
      return undefined
  }
}

function idFor({ random, trader, operationId }: Place, knowledge: Knowledge): string {
  const ofPosition = /(?:Position|previewClose)$/.test(operationId) !== random.chance(0.03)
  const isChange = operationId === 'updateOrder' || operationId === 'cancelOrder'
  const resting = isChange && random.chance(0.6) ? knowledge.restingOrderId(random, trader) : undefined
  const known = ofPosition ? knowledge.positionId(random, trader) : (resting ?? knowledge.orderId(random, trader))
  return known !== undefined && random.chance(0.92) ? known : String(random.below(2_000))
}

function marketSymbol(random: Random, { markets }: Knowledge): string {
  if (markets.length === 0 || random.chance(0.5)) return 'BTC/USD'
  return random.chance(0.97) ? random.pick(markets).symbol : 'NONE/USD'
}

function decimalFor(place: Place, knowledge: Knowledge): string {
  const { random, name } = place
  if (random.chance(WILD_CHANCE)) return random.pick(WILD_NUMBERS)
  if (['price', 'sl', 'tp'].includes(name)) return priceFor(place, knowledge)
  if (name === 'size' && typeof place.siblings.market === 'string')
    return sizeFor(place.siblings.market, random, knowledge)
  return random.pick(NUMBERS[name] ?? ['1', '10', '0.5'])
}

/** Returns a size worth between too little and more than an account has. */
function sizeFor(market: string, random: Random, knowledge: Knowledge): string {
  const precision = knowledge.markets.find(({ symbol }) => symbol === market)?.sizePrecision ?? 2
  const usd = random.pick([100, 1_600, 2_000, 3_000, 8_000, 40_000])
  return withoutTrailingZeros((usd / knowledge.mark(market)).toFixed(precision))
}

function withoutTrailingZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** Returns a price around the mark, so that some orders are filled, some rest and some are refused. */
function priceFor({ random, name, siblings }: Place, knowledge: Knowledge): string {
  if (name !== 'price' && random.chance(0.2)) return '0'
  const market = typeof siblings.market === 'string' ? siblings.market : 'BTC/USD'
  const precision = knowledge.markets.find(({ symbol }) => symbol === market)?.pricePrecision ?? 2
  const factor = random.pick([0.5, 0.8, 0.95, 0.999, 1, 1.001, 1.05, 1.2, 2])
  return withoutTrailingZeros((knowledge.mark(market) * factor).toFixed(precision))
}

function integerOf({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema, random: Random): number {
  if (maximum > 1e12 && random.chance(0.5)) return Date.now() + random.below(3_600_000)
  return random.pick([minimum, maximum, minimum + 1, Math.min(maximum, minimum + random.below(100))])
}

/** Returns a text at the edges of the allowed length, sometimes with characters that count double. */
function textOf({ minLength = 0, maxLength = 40, pattern }: Schema, random: Random): string {
  if (pattern !== undefined) return random.pick(ODD_TEXTS)
  const length = random.pick([minLength, minLength + 1, maxLength, Math.ceil((minLength + maxLength) / 2)])
  const letter = random.pick(['a', 'Z', '9', 'é', '\u{1f600}', ' ', '"', '\\', '\u007f'])
  return letter.repeat(length)
}
