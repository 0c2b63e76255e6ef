import { useEffect, useRef } from 'preact/hooks'
import { formatAmount, formatPercent, formatPrice, signOf } from '../ground/format.ts'
import { Skeleton } from './Skeleton.tsx'

export interface MoneyProps {
  /** A decimal as text; null while it is not known. */
  readonly amount: string | null | undefined
  readonly symbol?: string | undefined
  /** `auto` colours a gain and a loss and writes the sign of both. Default `none`. */
  readonly tone?: 'auto' | 'none' | undefined
  readonly decimals?: number | undefined
}

/** An amount of money with its unit, in digits of equal width. */
export function Money({ amount, symbol, tone = 'none', decimals }: MoneyProps) {
  if (amount === null || amount === undefined) return <span class="number">–</span>
  const isToned = tone === 'auto'
  const text = formatAmount(amount, { symbol, decimals, sign: isToned })
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
  /** Flashes green or red for a moment when the price moves. */
  readonly flash?: boolean | undefined
}

/** A price in digits of equal width. */
export function PriceText({ value, precision, flash = false }: PriceTextProps) {
  const ref = useRef<HTMLSpanElement>(null)
  const last = useRef(value)
  useEffect(() => {
    const [before, element] = [last.current, ref.current]
    last.current = value
    if (!flash || typeof before !== 'string' || typeof value !== 'string' || before === value) return
    if (element === null || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const color = Number(value) > Number(before) ? 'var(--flash-up)' : 'var(--flash-down)'
    element.animate([{ backgroundColor: color }, { backgroundColor: 'transparent' }], { duration: 500 })
  }, [value, flash])
  if (value === null || value === undefined) return <Skeleton width="7ch" />
  return (
    <span ref={ref} class="number price">
      {formatPrice(value, { precision })}
    </span>
  )
}

export interface ChangeProps {
  /** A fraction as text: `0.0123` is 1.23 %. */
  readonly rate: string | null | undefined
  readonly digits?: number | undefined
}

/** A change with its sign, an arrow and a colour. */
export function Change({ rate, digits = 2 }: ChangeProps) {
  if (rate === null || rate === undefined) return <span class="number">–</span>
  const sign = signOf(rate)
  const arrow = sign > 0 ? '▲' : sign < 0 ? '▼' : ''
  return (
    <span class={`number ${toneClass(rate)}`}>
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
  const sign = signOf(amount)
  return sign > 0 ? 'tone-up' : sign < 0 ? 'tone-down' : 'tone-flat'
}
