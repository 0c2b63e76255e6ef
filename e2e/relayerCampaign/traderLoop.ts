import type { JsonValue } from '../../packages/server/src/json/parseStrictJson.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import type { CampaignTrader, Wish } from './campaignTrader.ts'
import type { AskedOpen, EnvelopeJournal } from './envelopeJournal.ts'

/** The options of one of a trader's parallel loops. */
export interface TraderLoopOptions {
  readonly trader: CampaignTrader
  readonly journal: EnvelopeJournal
  readonly random: SeededRandom
  readonly isOver: () => boolean
}

type Item = { [key: string]: JsonValue }

/** The fields used of an order in `frontendOpenOrders`. */
interface OpenOrder {
  readonly oid: number
  readonly sz: string
  readonly cloid: string | null
  readonly isTrigger: boolean
  readonly reduceOnly: boolean
  readonly orderType: string
}

/** The fields used of `clearinghouseState`. */
interface ClearinghouseState {
  readonly assetPositions: readonly { readonly position: { readonly szi: string } }[]
}

const GTC = { limit: { tif: 'Gtc' } }
const IOC = { limit: { tif: 'Ioc' } }
const UNITS_PER_COIN = 1e5
/** Expiries that pass before some transactions are mined. */
const SHORT_MS = [150, 400, 1_000, 3_000]

/** Trades at random until `isOver`. */
export async function runTraderLoop(options: TraderLoopOptions): Promise<void> {
  while (!options.isOver()) await act(options)
}

async function act(of: TraderLoopOptions): Promise<void> {
  const choice = of.random.next()
  if (choice < 0.22) return openAtMarket(of)
  if (choice < 0.42) return rest(of, 1)
  if (choice < 0.48) return rest(of, 2)
  if (choice < 0.52) return enterByStop(of)
  if (choice < 0.65) return modify(of)
  if (choice < 0.77) return cancel(of)
  if (choice < 0.9) return close(of)
  if (choice < 0.97) return protect(of)
  return setLeverage(of)
}

/** Returns a wish. Some expire quickly, so that their nonces are burnt at times. */
function wish({ random }: TraderLoopOptions, action: Wish['action'], opens: readonly AskedOpen[] = []): Wish {
  return { action, opens, forMs: random.chance(0.15) ? random.pick(SHORT_MS) : null }
}

function ask({ trader, journal, random }: TraderLoopOptions, of: Partial<AskedOpen> = {}): AskedOpen {
  const cloid = random.chance(0.6) ? `0x${hex(random, 32)}` : null
  const asked = {
    trader: trader.address,
    units: trader.nextUnits(),
    cloid,
    tp: null,
    sl: null,
    told: [],
    isLost: false,
  }
  const open: AskedOpen = { ...asked, ...of }
  journal.opens.push(open)
  return open
}

function hex(random: SeededRandom, digits: number): string {
  return Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
}

const sizeOf = ({ units }: AskedOpen): string => String(units / UNITS_PER_COIN)

function item(isBuy: boolean, px: string, sz: string, terms: JsonValue, more: Item = {}): Item {
  return { a: 0, b: isBuy, p: px, s: sz, r: false, t: terms, ...more }
}

const cloidIn = ({ cloid }: AskedOpen): Item => (cloid === null ? {} : { c: cloid })

function trigger(tpsl: 'tp' | 'sl', px: string): JsonValue {
  return { trigger: { isMarket: true, triggerPx: px, tpsl } }
}

/** Returns the worst price to accept. */
const boundOf = (isBuy: boolean): string => (isBuy ? '66000' : '54000')

async function openAtMarket(of: TraderLoopOptions): Promise<void> {
  const { trader, random } = of
  const { isLong } = trader
  const hasTriggers = random.chance(0.35)
  const [tp, sl] = isLong ? ['61600', '58200'] : ['58200', '61600']
  const open = ask(of, hasTriggers ? { tp, sl } : {})
  const main = item(isLong, boundOf(isLong), sizeOf(open), IOC, cloidIn(open))
  if (!hasTriggers) return trader.send(wish(of, { type: 'order', orders: [main], grouping: 'na' }, [open]))
  const child = (tpsl: 'tp' | 'sl', px: string): Item => item(!isLong, px, sizeOf(open), trigger(tpsl, px), { r: true })
  const orders = [main, child('tp', tp), child('sl', sl)]
  return trader.send(wish(of, { type: 'order', orders, grouping: 'normalTpsl' }, [open]))
}

/** Returns a resting price that the mark reaches at times. */
function restingPx({ trader, random }: TraderLoopOptions): string {
  return String(trader.isLong ? 57_500 + random.below(25) * 100 : 60_100 + random.below(25) * 100)
}

async function rest(of: TraderLoopOptions, count: number): Promise<void> {
  const { isLong } = of.trader
  const opens = Array.from({ length: count }, () => ask(of))
  const orders = opens.map((open) => item(isLong, restingPx(of), sizeOf(open), GTC, cloidIn(open)))
  return of.trader.send(wish(of, { type: 'order', orders, grouping: 'na' }, opens))
}

async function enterByStop(of: TraderLoopOptions): Promise<void> {
  const { isLong } = of.trader
  const open = ask(of)
  const px = isLong ? '62000' : '58000'
  const order = item(isLong, px, sizeOf(open), trigger('sl', px), cloidIn(open))
  return of.trader.send(wish(of, { type: 'order', orders: [order], grouping: 'na' }, [open]))
}

async function openOrders({ trader }: TraderLoopOptions): Promise<readonly OpenOrder[]> {
  return (await trader.info<readonly OpenOrder[]>('frontendOpenOrders')) ?? []
}

/** Changes the price of an order, or its size as well. */
async function modify(of: TraderLoopOptions): Promise<void> {
  const { trader, random } = of
  const orders = (await openOrders(of)).filter(({ isTrigger, orderType }) => isTrigger || orderType === 'Limit')
  if (orders.length === 0) return
  const { oid, sz, cloid, isTrigger, reduceOnly, orderType } = random.pick(orders)
  if (reduceOnly) return moveTrigger(of, oid, sz, orderType === 'Stop Market' ? 'sl' : 'tp')
  if (isTrigger) return
  const resized = random.chance(0.5) ? ask(of, { cloid: null }) : undefined
  const order = item(trader.isLong, restingPx(of), resized === undefined ? sz : sizeOf(resized), GTC)
  const named = cloid !== null && random.chance(0.5) ? cloid : oid
  return trader.send(wish(of, { type: 'modify', oid: named, order }, resized === undefined ? [] : [resized]))
}

function triggerPx({ trader, random }: TraderLoopOptions, tpsl: 'tp' | 'sl'): string {
  const isAbove = (tpsl === 'tp') === trader.isLong
  return String((isAbove ? 61_500 : 57_500) + random.below(10) * 50)
}

async function moveTrigger(of: TraderLoopOptions, oid: number, sz: string, tpsl: 'tp' | 'sl'): Promise<void> {
  const px = triggerPx(of, tpsl)
  const order = item(!of.trader.isLong, px, sz, trigger(tpsl, px), { r: true })
  return of.trader.send(wish(of, { type: 'modify', oid, order }))
}

async function cancel(of: TraderLoopOptions): Promise<void> {
  const { trader, random } = of
  const orders = await openOrders(of)
  if (orders.length === 0) return
  const { oid, cloid, reduceOnly } = random.pick(orders)
  const cancels = reduceOnly ? {} : { cancels: oid }
  const isByCloid = cloid !== null && random.chance(0.5)
  const action = isByCloid
    ? { type: 'cancelByCloid', cancels: [{ asset: 0, cloid }] }
    : { type: 'cancel', cancels: [{ a: 0, o: oid }] }
  return trader.send({ ...wish(of, action), ...cancels })
}

async function heldSize({ trader }: TraderLoopOptions): Promise<number> {
  const state = await trader.info<ClearinghouseState>('clearinghouseState')
  return Math.abs(Number(state?.assetPositions[0]?.position.szi ?? 0))
}

/** Closes the whole position, or half of it. */
async function close(of: TraderLoopOptions): Promise<void> {
  const { trader, random } = of
  const held = await heldSize(of)
  if (held === 0) return
  const size = random.chance(0.3) ? held / 2 : held
  const isBuy = !trader.isLong
  const more = { r: true, ...(random.chance(0.5) ? { c: `0x${hex(random, 32)}` } : {}) }
  const order = item(isBuy, boundOf(isBuy), String(Number(size.toFixed(5))), IOC, more)
  return trader.send(wish(of, { type: 'order', orders: [order], grouping: 'na' }))
}

/** Sets a take profit or a stop loss for the whole position. */
async function protect(of: TraderLoopOptions): Promise<void> {
  const { trader, random } = of
  const held = await heldSize(of)
  if (held === 0) return
  const tpsl = random.pick(['tp', 'sl'] as const)
  const px = triggerPx(of, tpsl)
  const more = { r: true, ...(random.chance(0.5) ? { c: `0x${hex(random, 32)}` } : {}) }
  const order = item(!trader.isLong, px, String(Number(held.toFixed(5))), trigger(tpsl, px), more)
  return trader.send(wish(of, { type: 'order', orders: [order], grouping: 'positionTpsl' }))
}

async function setLeverage(of: TraderLoopOptions): Promise<void> {
  const leverage = of.random.pick([5, 10, 25])
  return of.trader.send(wish(of, { type: 'updateLeverage', asset: 0, isCross: true, leverage }))
}
