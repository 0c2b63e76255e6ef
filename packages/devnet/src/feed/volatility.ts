import type { VolatilityClass } from '../listing/pairs.ts'

/** How far a price typically moves in a day, in parts per billion. Ours: near what such markets do in a quiet month. */
export const DAILY_MOVE_PPB: Readonly<Record<VolatilityClass, number>> = {
  major: 25_000_000,
  altcoin: 40_000_000,
  meme: 60_000_000,
  forex: 4_500_000,
  stock: 15_000_000,
  index: 8_000_000,
  metal: 12_000_000,
  energy: 20_000_000,
}
