import type { Order, Position } from '@bezel/protocol'
import { parseUnits } from 'viem'
import type { SizedMarket } from '../sizePromise/sizeWorld.ts'
import { tradeOf } from '@bezel/testkit/chainClient.ts'
import { findTrade, SYMBOLS, type AccountingWorld, type BookedTrader } from './accountingWorld.ts'

/** Opens of a wave, dealt in turn, so that even a short campaign has each. */
export const OPENS = ['tp', 'plain', 'liq', 'sl', 'limit', 'floored', 'onChain', 'resting', 'large'] as const
type OpenKind = (typeof OPENS)[number]

/** Changes of positions, dealt in turn. */
export const CHANGES = [
  'leverageDown',
  'partial',
  'increase',
  'decreaseLeverage',
  'leverageUp',
  'add',
  'remove',
  'stops',
  'increaseLeverage',
] as const
type ChangeKind = (typeof CHANGES)[number]

/** Requests that are made while the oracle is silent, dealt in turn. */
export const REQUESTS = ['open', 'close', 'leverageDown', 'increase', 'partial', 'leverageUp'] as const
type RequestKind = (typeof REQUESTS)[number]

/** Leverage from which on a move of 3 % ends a position, and one of half a percent does not yet. */
export const DOOMED_LEVERAGE = 40
/** Distance of take profits and stop losses from the mark. */
const STOP_DISTANCE = 0.015
/** Slippage of the chain, 1e3 per percent. */
const ANY_SLIPPAGE = 65_535
const TIGHT_SLIPPAGE = 10

interface Terms {
  readonly market: SizedMarket
  readonly isLong: boolean
  readonly leverage: number
  readonly collateralUsd: number
  readonly symbol: string
}

function drawTerms({ markets }: AccountingWorld, { random }: BookedTrader, kind: OpenKind): Terms {
  const isDoomed = kind === 'liq' || kind === 'floored'
  const market = random.pick(markets)
  return {
    market,
    // The first move at the end of a wave is upwards: it dooms shorts.
    isLong: isDoomed ? kind === 'liq' : random.chance(0.5),
    leverage: isDoomed ? DOOMED_LEVERAGE + random.below(12) : 10 + random.below(100) / 10,
    collateralUsd: kind === 'large' ? 4_000 + random.below(4_000) : 120 + random.below(400),
    symbol: random.pick(SYMBOLS),
  }
}

/** Opens a position, or places an order that rests. */
export async function open(world: AccountingWorld, trader: BookedTrader, kind: OpenKind): Promise<void> {
  const terms = drawTerms(world, trader, kind)
  if (kind === 'onChain') return openOnChain(world, trader, terms)
  const { market, isLong, leverage, collateralUsd, symbol } = terms
  const mark = world.markOf(market)
  const up = isLong ? 1 : -1
  const price = (factor: number): string => (mark * factor).toFixed(market.pricePrecision)
  const body = {
    market: market.symbol,
    side: isLong ? 'long' : 'short',
    type: kind === 'limit' || kind === 'resting' ? 'limit' : 'market',
    size: ((collateralUsd * leverage) / mark).toFixed(market.sizePrecision),
    leverage: String(leverage),
    collateral: symbol,
    slippage: '5',
    ...(kind === 'limit' ? { price: price(1 + 0.005 * up) } : {}),
    ...(kind === 'resting' ? { price: price(1 - 0.2 * up) } : {}),
    ...(kind === 'tp' ? { tp: price(1 + STOP_DISTANCE * up) } : {}),
    ...(kind === 'sl' ? { sl: price(1 - STOP_DISTANCE * up) } : {}),
  }
  await world.act(`open ${kind}`, trader, 'createOrder', 'POST', '/orders', body)
}

async function openOnChain(world: AccountingWorld, { account }: BookedTrader, terms: Terms): Promise<void> {
  const { market, isLong, leverage, collateralUsd, symbol } = terms
  const { chain } = world
  const { index, decimals } = chain.collateral(symbol)
  const trade = {
    ...tradeOf(chain, account.address, { price: 0n, long: isLong, leverage: leverage * 1_000 }),
    pairIndex: market.pairIndex,
    collateralIndex: index,
    collateralAmount: parseUnits(tokensFor(symbol, collateralUsd), decimals),
    openPrice: parseUnits(world.markOf(market).toFixed(10), 10),
  }
  await world.actOnChain('open on chain', () =>
    chain.send(account, 'openTrade', [trade, ANY_SLIPPAGE, account.address]),
  )
}

/** Returns about so many USD of a token. Not every draw of the campaign need be of the same worth. */
function tokensFor(symbol: string, usd: number): string {
  return (usd / (symbol === 'WETH' ? 2_500 : 1)).toFixed(6)
}

/** Changes a position, over the service or directly on the chain. */
export async function change(
  world: AccountingWorld,
  trader: BookedTrader,
  position: Position,
  kind: ChangeKind,
  isTight = false,
): Promise<void> {
  const { random } = trader
  const path = `/positions/${position.id}`
  const patch = (body: object) => world.act(kind, trader, 'updatePosition', 'PATCH', path, body)
  const leverage = Number(position.leverage)
  const part = (share: number): string => (Number(position.collateral) * share).toFixed(6)
  const slippage = isTight ? { slippage: '0.01' } : { slippage: '5' }
  switch (kind) {
    case 'leverageDown':
      return void (await patch({ leverage: (leverage * (0.5 + random.next() * 0.4)).toFixed(3) }))
    case 'leverageUp':
      return void (await patch({ leverage: (leverage * (isTight ? 5 : 1.2 + random.next() * 0.6)).toFixed(3) }))
    case 'add':
      return void (await patch({ collateral: { action: 'add', amount: part(0.1 + random.next()) } }))
    case 'remove':
      return void (await patch({ collateral: { action: 'remove', amount: part(0.1 + random.next() * 0.4) } }))
    case 'stops': {
      if (trader.tight.has(position.id)) return
      const market = world.markets.find(({ symbol }) => symbol === position.market)!
      const price = (way: number): string => (world.markOf(market) * (1 + 0.012 * way)).toFixed(market.pricePrecision)
      const up = position.side === 'long' ? 1 : -1
      return void (await patch({ tp: price(up), sl: price(-up) }))
    }
    case 'partial': {
      const size = (Number(position.size) * (0.2 + random.next() * 0.5)).toPrecision(3)
      const body = { size: String(Number(size)), ...slippage }
      return void (await world.act(kind, trader, 'closePosition', 'POST', `${path}/close`, body))
    }
    default:
      return changeOnChain(world, trader, position, kind, isTight)
  }
}

/** Makes a change for which the service has no operation. */
async function changeOnChain(
  { chain, actOnChain, markets, markOf }: AccountingWorld,
  { account, random }: BookedTrader,
  position: Position,
  kind: ChangeKind,
  isTight: boolean,
): Promise<void> {
  const trade = await findTrade(chain, position)
  if (trade === undefined) return
  const { index, leverage, collateralAmount } = trade
  const price = parseUnits(markOf(markets.find(({ symbol }) => symbol === position.market)!).toFixed(10), 10)
  const slippage = isTight ? TIGHT_SLIPPAGE : ANY_SLIPPAGE
  await actOnChain(kind, () => {
    if (kind === 'increase') {
      const delta = (collateralAmount * BigInt(10 + random.below(90))) / 100n
      return chain.send(account, 'increasePositionSize', [index, delta, leverage, price, slippage])
    }
    if (kind === 'increaseLeverage') {
      return chain.send(account, 'increasePositionSize', [index, 0n, Math.ceil(leverage / 4), price, slippage])
    }
    return chain.send(account, 'decreasePositionSize', [index, 0n, Math.floor(leverage / 3), price])
  })
}

/** Closes a position at the market. */
export async function close(
  world: AccountingWorld,
  trader: BookedTrader,
  { id }: Position,
  slippage = '60',
): Promise<boolean> {
  return world.act('close', trader, 'closePosition', 'POST', `/positions/${id}/close`, { slippage })
}

/** A move of a price at which a request is refused. */
interface Refusing {
  readonly market: string
  readonly isUp: boolean
}

/** Makes a request while the oracle is silent, with a tight slippage. Returns the move that refuses it. */
export async function request(world: AccountingWorld, trader: BookedTrader, kind: RequestKind): Promise<Refusing> {
  const position = (await world.positionsOf(trader)).find((one) => one.pendingUpdate === null && isPlain(one))
  if (kind !== 'open' && position !== undefined) {
    const { id, market, side } = position
    if (kind === 'close' || kind === 'partial') trader.tight.add(id)
    if (kind === 'close') await close(world, trader, position, '0.01')
    else await change(world, trader, position, kind, true)
    return { market, isUp: (side === 'long') === (kind === 'increase') }
  }
  const { market, isLong, leverage, collateralUsd, symbol } = drawTerms(world, trader, 'plain')
  const size = ((collateralUsd * leverage) / world.markOf(market)).toFixed(market.sizePrecision)
  const side = isLong ? 'long' : 'short'
  const body = { market: market.symbol, type: 'market', side, size, leverage: String(leverage), slippage: '0.3' }
  await world.act('request open', trader, 'createOrder', 'POST', '/orders', { ...body, collateral: symbol })
  return { market: market.symbol, isUp: isLong }
}

/** True for a position that waits for no end of its own. */
export function isPlain({ leverage, tp, sl }: Position): boolean {
  return Number(leverage) < DOOMED_LEVERAGE && tp === '0' && sl === '0'
}

/** Takes back all requests of a trader that have timed out. */
export async function reclaim(world: AccountingWorld, trader: BookedTrader): Promise<void> {
  const orders = await world.ask(trader, 'listOpenOrders', 'GET', `/account/${trader.account.address}/orders`)
  const late = ((orders?.data ?? []) as Order[]).filter(({ status }) => status === 'timed_out')
  for (const { id } of late) await world.act('reclaim order', trader, 'cancelOrder', 'DELETE', `/orders/${id}`)
  for (const { id, pendingUpdate } of await world.positionsOf(trader)) {
    if (pendingUpdate?.status !== 'timed_out') continue
    const path = `/positions/${id}/pending-update`
    await world.act('reclaim update', trader, 'cancelPositionUpdate', 'DELETE', path)
  }
}

/** Re-prices or cancels the resting orders of a trader. */
export async function tendOrders(world: AccountingWorld, trader: BookedTrader): Promise<void> {
  const orders = await world.ask(trader, 'listOpenOrders', 'GET', `/account/${trader.account.address}/orders`)
  for (const { id, market, price, status } of (orders?.data ?? []) as Order[]) {
    if (status !== 'open') continue
    const { pricePrecision } = world.markets.find(({ symbol }) => symbol === market)!
    const body = { price: (Number(price) * (0.98 + trader.random.next() * 0.04)).toFixed(pricePrecision) }
    if (trader.random.chance(0.5)) await world.act('cancel order', trader, 'cancelOrder', 'DELETE', `/orders/${id}`)
    else await world.act('amend order', trader, 'updateOrder', 'PATCH', `/orders/${id}`, body)
  }
}
