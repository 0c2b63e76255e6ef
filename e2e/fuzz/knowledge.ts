import type { Random } from './random.ts'

interface KnownMarket {
  readonly symbol: string
  readonly pricePrecision: number
  readonly sizePrecision: number
}

/** The values learnt from answers. Later requests are made of them, which turns single requests into sequences. */
export interface Knowledge {
  readonly markets: readonly KnownMarket[]
  readonly collaterals: readonly string[]
  readonly hashes: readonly string[]
  readonly cursors: readonly string[]
  readonly apiKeys: readonly { readonly key: string; readonly trader: string; readonly label: string }[]
  /** Bodies of orders with a clientId, to be sent again. */
  readonly namedOrders: readonly Readonly<Record<string, unknown>>[]
  mark(market: string): number
  /** Returns the id of an order, mostly one of this trader. */
  orderId(random: Random, trader: string | undefined): string | undefined
  /** Returns the id of an order that rests on the chain, as far as known. */
  restingOrderId(random: Random, trader: string | undefined): string | undefined
  positionId(random: Random, trader: string | undefined): string | undefined
  learnHash(hash: string): void
  learnNamedOrder(body: Readonly<Record<string, unknown>>): void
  /** Learns from the body of a successful answer. */
  learn(operationId: string, body: unknown): void
}

/** The number of values kept: enough to include old ones, few enough to meet one again. */
const KEPT = 60
const DEFAULT_MARK = 100

function keep<Item>(list: Item[], item: Item): void {
  list.push(item)
  if (list.length > KEPT) list.shift()
}

interface Ids {
  add(trader: string, id: string): void
  remove(trader: string, id: string): void
  pick(random: Random, trader: string | undefined): string | undefined
}

function createIds(): Ids {
  const byTrader = new Map<string, string[]>()
  return {
    add(trader, id) {
      const list = byTrader.get(trader) ?? []
      byTrader.set(trader, list)
      if (!list.includes(id)) keep(list, id)
    },
    remove(trader, id) {
      const list = byTrader.get(trader) ?? []
      if (list.includes(id)) list.splice(list.indexOf(id), 1)
    },
    pick(random, trader) {
      const own = trader === undefined ? undefined : byTrader.get(trader)
      const list = own === undefined || random.chance(0.15) ? [...byTrader.values()].flat() : own
      if (list.length === 0) return undefined
      // The newest ids are the most likely to be still alive.
      return random.chance(0.7) ? list.at(-1 - random.below(Math.min(4, list.length))) : random.pick(list)
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function isKnownMarket(record: Fields): record is Fields & KnownMarket {
  const { symbol, pricePrecision, sizePrecision } = record
  return typeof symbol === 'string' && typeof pricePrecision === 'number' && typeof sizePrecision === 'number'
}

export function createKnowledge(): Knowledge {
  const [orders, resting, positions] = [createIds(), createIds(), createIds()]
  const marks = new Map<string, number>()
  let markets: readonly KnownMarket[] = []
  const [hashes, cursors, collaterals]: string[][] = [[], [], []] as [string[], string[], string[]]
  const apiKeys: { key: string; trader: string; label: string }[] = []
  const namedOrders: Fields[] = []

  /** Learns from one record. Orders, positions and prices have the same shape in every answer. */
  function learnRecord(record: Fields): void {
    const { id, trader, fill, txHash, market, mark, status } = record
    if (typeof id === 'string' && typeof trader === 'string') {
      const isPosition = 'liquidationPrice' in record
      if (isPosition) positions.add(trader.toLowerCase(), id)
      else orders.add(trader.toLowerCase(), id)
      if (status === 'open') resting.add(trader.toLowerCase(), id)
      else resting.remove(trader.toLowerCase(), id)
      const { positionId } = fieldsOf(fill)
      if (typeof positionId === 'string') positions.add(trader.toLowerCase(), positionId)
    }
    if (typeof txHash === 'string') keep(hashes!, txHash)
    if (typeof market === 'string' && typeof mark === 'string') marks.set(market, Number(mark))
  }

  return {
    get markets() {
      return markets
    },
    collaterals: collaterals!,
    hashes: hashes!,
    cursors: cursors!,
    apiKeys,
    namedOrders,
    mark: (market) => marks.get(market) ?? DEFAULT_MARK,
    orderId: (random, trader) => orders.pick(random, trader),
    restingOrderId: (random, trader) => resting.pick(random, trader),
    positionId: (random, trader) => positions.pick(random, trader),
    learnHash: (hash) => keep(hashes!, hash),
    learnNamedOrder: (body) => keep(namedOrders, body),
    learn(operationId, body) {
      const { data, order, position, nextCursor, apiKey, trader, label } = fieldsOf(body)
      const records = Array.isArray(data) ? data.map(fieldsOf) : [fieldsOf(body), fieldsOf(order), fieldsOf(position)]
      for (const record of records) learnRecord(record)
      if (typeof nextCursor === 'string') keep(cursors!, nextCursor)
      if (typeof apiKey === 'string')
        keep(apiKeys, { key: apiKey, trader: String(trader).toLowerCase(), label: String(label) })
      if (operationId !== 'listMarkets') return
      markets = records.filter(isKnownMarket)
      const symbols = records.flatMap((market) => (market.collaterals as Fields[]).map(({ symbol }) => String(symbol)))
      for (const symbol of new Set(symbols)) if (!collaterals!.includes(symbol)) collaterals!.push(symbol)
    },
  }
}
