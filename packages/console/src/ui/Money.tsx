import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatAmount, formatPercent, formatPrice, signOf } from '../ground/format.ts'
import { Skeleton } from './Skeleton.tsx'

export interface MoneyProps {
  /** A decimal as text; null while it is not known. */
  readonly amount: string | null | undefined
  readonly symbol?: string | undefined
  /** `auto` colours a gain and a loss and writes the sign of both. Default `none`. */
  readonly tone?: 'auto' | 'none' | undefined
  readonly decimals?: number | undefined
  /** Writes all decimals, so that the points of a column are below each other. */
  readonly fixed?: boolean | undefined
}

/** An amount of money with its unit, in digits of equal width. */
export function Money({ amount, symbol, tone = 'none', decimals, fixed }: MoneyProps) {
  if (amount === null || amount === undefined) return <span class="number">–</span>
  const isToned = tone === 'auto'
  const text = formatAmount(amount, { symbol, decimals, fixed, sign: isToned })
  return (
    <span
      class={isToned ? `number ${toneClass(amount)}` : 'number'}
      title={symbol === undefined ? amount : `${amount} ${symbol}`}
    >
      {text}
    </span>
  )
}

export interface PriceTextProps {
  /** A decimal as text; null while none is known. */
  readonly value: string | null | undefined
  /** Number of decimals of the market's prices. Default by magnitude. */
  readonly precision?: number | undefined
  /** Makes the price green or red for a moment when it moves. */
  readonly flash?: boolean | undefined
}

/** A price in digits of equal width. */
export function PriceText({ value, precision, flash = false }: PriceTextProps) {
  const ref = useRef<HTMLSpanElement>(null)
  const last = useRef(value)
  // Before the frame is drawn: an effect after it would cost a frame of its own for each update.
  useLayoutEffect(() => {
    const [before, element] = [last.current, ref.current]
    last.current = value
    if (!flash || typeof before !== 'string' || typeof value !== 'string' || before === value) return
    if (element !== null) showTick(element, Number(value) > Number(before) ? 'up' : 'down')
  }, [value, flash])
  if (value === null || value === undefined) return <Skeleton width="7ch" />
  return (
    <span ref={ref} class="number price">
      {formatPrice(value, { precision })}
    </span>
  )
}

const TICK_MS = 600

/** Prices that have the colour of their last move, with the time at which they lose it, the next one first. */
const ticks = new Map<HTMLElement, number>()
let tickTimer: ReturnType<typeof setTimeout> | undefined

/** Tells whether the user wants nothing to flash. Kept, since fifty prices ask it four times a second. */
const stillness = matchMedia('(prefers-reduced-motion: reduce)')

/**
 * Gives a price the colour of its move for a moment. A colour that fades would be drawn sixty times a second, and fifty
 * of them kept a third of a processor busy; this one is drawn together with the price.
 */
function showTick(element: HTMLElement, direction: 'up' | 'down'): void {
  if (stillness.matches) return
  element.dataset['tick'] = direction
  ticks.delete(element)
  ticks.set(element, performance.now() + TICK_MS)
  tickTimer ??= setTimeout(endTicks, TICK_MS)
}

function endTicks(): void {
  const nowMs = performance.now()
  tickTimer = undefined
  for (const [element, endMs] of ticks) {
    if (endMs > nowMs) {
      tickTimer = setTimeout(endTicks, endMs - nowMs)
      return
    }
    ticks.delete(element)
    delete element.dataset['tick']
  }
}

export interface ChangeProps {
  /** A fraction as text: `0.0123` is 1.23 %. */
  readonly rate: string | null | undefined
  readonly digits?: number | undefined
}

/** A change with its sign, an arrow and a colour. */
export function Change({ rate, digits = 2 }: ChangeProps) {
  if (rate === null || rate === undefined) return <span class="number">–</span>
  // A change that is shown as zero has no direction.
  const sign = Math.abs(Number(rate)) < 10 ** -(digits + 2) ? 0 : signOf(rate)
  const arrow = sign > 0 ? '▲' : sign < 0 ? '▼' : ''
  return (
    <span class={`number ${toneOf(sign)}`}>
      {arrow !== '' && (
        <span class="change-arrow" aria-hidden="true">
          {arrow}{' '}
        </span>
      )}
      {formatPercent(rate, { digits, sign: true })}
    </span>
  )
}

function toneClass(amount: string): string {
  return toneOf(signOf(amount))
}

function toneOf(sign: -1 | 0 | 1): string {
  return sign > 0 ? 'tone-up' : sign < 0 ? 'tone-down' : 'tone-flat'
}
