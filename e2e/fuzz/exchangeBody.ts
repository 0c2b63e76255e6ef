import type { Random } from './random.ts'

type Fields = Readonly<Record<string, unknown>>

const PRICES = ['60000', '50000', '1000', '61000.5', '0', '-1', '1e5']
const SIZES = ['0.05', '0.00001', '0', '9000', '0.0000001']
const TERMS = [
  { limit: { tif: 'Gtc' } },
  { limit: { tif: 'Ioc' } },
  { limit: { tif: 'Alo' } },
  { trigger: { isMarket: true, triggerPx: '55000', tpsl: 'sl' } },
  { trigger: { isMarket: false, triggerPx: '65000', tpsl: 'tp' } },
]

function order(random: Random): Fields {
  const [p, s, t] = [random.pick(PRICES), random.pick(SIZES), random.pick(TERMS)]
  const cloid = random.chance(0.3) ? { c: `0x${random.hex(16)}` } : {}
  return { a: random.below(30), b: random.chance(0.5), p, s, r: random.chance(0.3), t, ...cloid }
}

/** Makers of an action's fields, by its name. Actions without fields are missing. */
const FIELDS: Readonly<Record<string, (random: Random) => Fields>> = {
  order: (random) => ({ orders: [order(random)], grouping: random.pick(['na', 'normalTpsl', 'positionTpsl']) }),
  cancel: (random) => ({ cancels: [{ a: 0, o: random.below(2_000) }] }),
  cancelByCloid: (random) => ({ cancels: [{ asset: 0, cloid: `0x${random.hex(16)}` }] }),
  modify: (random) => ({ oid: random.below(2_000), order: order(random) }),
  batchModify: (random) => ({ modifies: [{ oid: random.below(2_000), order: order(random) }] }),
  updateLeverage: (random) => ({ asset: 0, isCross: true, leverage: random.below(300) }),
  updateIsolatedMargin: () => ({ asset: 0, isBuy: true, ntli: 1_000_000 }),
}

/**
 * Completes an envelope with what the schema can't express: the fields of its action, and a signature of an unknown
 * key.
 */
export function exchangeBody(made: unknown, random: Random): unknown {
  const { action, nonce } = made as { readonly action: { readonly type: string }; readonly nonce: number }
  const fields = FIELDS[action.type]?.(random) ?? {}
  const signature = { r: `0x${random.hex(32)}`, s: `0x0${random.hex(31)}`, v: random.pick([27, 28]) }
  return { action: { ...action, ...fields }, nonce: random.chance(0.8) ? Date.now() : nonce, signature }
}
