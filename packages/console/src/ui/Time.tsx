import { useComputed } from '@preact/signals'
import { formatAge, formatDate, formatTime } from '../ground/format.ts'
import { nowSecond } from './clock.ts'

export interface TimeProps {
  /** Epoch milliseconds; null where nothing happened. */
  readonly ms: number | null | undefined
  /** `age` is how long ago, and keeps up. Default the time of today, the date and the time of any other day. */
  readonly as?: 'auto' | 'time' | 'date' | 'age' | undefined
}

/** A time in the browser's locale. The tooltip has date and time in full. */
export function Time({ ms, as = 'auto' }: TimeProps) {
  if (ms === null || ms === undefined) return <span class="number">–</span>
  return (
    <time class="number" dateTime={new Date(ms).toISOString()} title={formatDate(ms)}>
      {as === 'age' ? <Age ms={ms} /> : wordsOf(ms, as)}
    </time>
  )
}

function Age({ ms }: { readonly ms: number }) {
  const words = useComputed(() => formatAge(ms, nowSecond.value))
  return <>{words}</>
}

function wordsOf(ms: number, as: 'auto' | 'time' | 'date'): string {
  if (as === 'date') return formatDate(ms)
  const isToday = new Date(ms).toDateString() === new Date().toDateString()
  return as === 'time' || isToday ? formatTime(ms) : formatDate(ms)
}
