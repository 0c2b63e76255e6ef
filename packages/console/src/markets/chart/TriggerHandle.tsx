import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { formatPercent, formatPrice } from '../../ground/format.ts'
import { proposeTrigger } from '../../portfolio/dialogs.ts'
import { Icon } from '../../ui/Icon.tsx'
import type { TriggerMark } from './priceLines.ts'
import {
  draggedPrice,
  draggedY,
  firstTrigger,
  gainOf,
  MIN_DRAG_PX,
  steppedPrice,
  triggerProblem,
  type HandlePlace,
  type PricedMarket,
  type PriceScale,
  type TriggerDraft,
} from './triggerDrag.ts'

export interface TriggerHandleProps {
  readonly mark: TriggerMark
  /** `null` while the chart has no scale: the handle is then hidden. */
  readonly place: HandlePlace | null
  readonly scale: PriceScale
  readonly market: PricedMarket
  readonly symbol: string
  /** Returns the mark price; `null` while there is none. */
  readonly markPrice: () => string | null
  readonly draft: Signal<TriggerDraft | null>
}

/** Time for which a reason stays beside the handle. */
const PROBLEM_MS = 6_000

/**
 * The handle of a trigger: dragged by the pointer, or moved by arrow keys and confirmed by Enter; Escape gives up.
 * For a position without the trigger it adds one.
 */
export function TriggerHandle(props: TriggerHandleProps) {
  const { mark, place, draft } = props
  const { problem, ...events } = useTriggerDrag(props)
  const moved = draft.value?.id === mark.id ? draft.value.price : null
  const price = moved ?? mark.price
  if (place === null) return null
  return (
    <div class={`chart-handle chart-handle-${mark.trigger}`} style={{ transform: `translateY(${place.y}px)` }}>
      {(moved !== null || problem !== null) && (
        <span class={problem === null ? 'chart-bubble' : 'chart-bubble chart-bubble-bad'} role="status">
          {problem ?? (moved === null ? '' : bubbleText(moved, mark))}
        </span>
      )}
      <button
        type="button"
        role="slider"
        class={price === null ? 'chart-grip chart-grip-new' : 'chart-grip'}
        aria-orientation="vertical"
        aria-label={handleName(props)}
        aria-valuemin={0}
        aria-valuemax={Number(mark.entryPrice) * 10}
        aria-valuenow={Number(price ?? mark.entryPrice)}
        aria-valuetext={price === null ? 'None. Arrow keys add one.' : valueText(price, mark, moved !== null)}
        data-testid={`line-${mark.trigger}-${mark.positionId}`}
        {...events}
      >
        <Icon name={price === null ? 'plus' : 'drag'} size={12} />
        {mark.trigger.toUpperCase()}
        {mark.ordinal ?? ''}
        {place.beyond !== null && <Icon name={place.beyond === 'above' ? 'arrowUp' : 'arrowDown'} size={12} />}
      </button>
    </div>
  )
}

/** Returns the listeners of a handle, and the reason for which the last move was refused. */
function useTriggerDrag({ mark, scale, market, markPrice, draft }: TriggerHandleProps) {
  const problem = useSignal<string | null>(null)
  const press = useRef<{ readonly startY: number } | null>(null)
  useEffect(() => {
    if (problem.value === null) return
    const timer = setTimeout(() => (problem.value = null), PROBLEM_MS)
    return () => clearTimeout(timer)
  }, [problem.value])
  const own = (): TriggerDraft | null => (draft.peek()?.id === mark.id ? draft.peek() : null)
  const isProposed = (): boolean => draft.peek()?.isProposed === true
  const moveTo = (price: string | null) => {
    problem.value = null
    if (price !== null) draft.value = { id: mark.id, trigger: mark.trigger, price, isProposed: false }
  }
  const giveUp = () => {
    press.current = null
    if (own() !== null && !isProposed()) draft.value = null
  }
  const finish = () => {
    press.current = null
    const moved = own()
    if (moved === null || isProposed()) return
    problem.value = triggerProblem(markPrice(), moved.price, mark)
    if (problem.value !== null || moved.price === mark.price) return void (draft.value = null)
    const proposed = { ...moved, isProposed: true }
    draft.value = proposed
    const forget = () => {
      if (draft.peek() === proposed) draft.value = null
    }
    void proposeTrigger(mark.positionId, mark.trigger, moved.price).finally(forget)
  }
  const onPointerDown = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    if (event.button !== 0 || isProposed()) return
    event.preventDefault()
    event.currentTarget.focus()
    event.currentTarget.setPointerCapture(event.pointerId)
    press.current = { startY: event.clientY }
  }
  const onPointerMove = (event: PointerEvent) => {
    if (press.current === null) return
    event.preventDefault()
    const way = event.clientY - press.current.startY
    if (own() === null && Math.abs(way) < MIN_DRAG_PX) return
    const y = draggedY(mark.price ?? mark.entryPrice, way, scale)
    moveTo(y === null ? null : draggedPrice(y, scale, market))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isProposed()) return
    const from = own()?.price ?? mark.price
    const first = firstTrigger(mark, markPrice(), market)
    const next = steppedPrice(from ?? first, event, market)
    if (next !== null) moveTo(from === null ? first : next)
    else if (event.key === 'Enter' && own() !== null) finish()
    else if (event.key === 'Escape' && own() !== null) giveUp()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const listeners = { onPointerDown, onPointerMove, onPointerUp: finish, onPointerCancel: giveUp, onBlur: giveUp }
  return { problem: problem.value, onKeyDown, ...listeners }
}

function handleName({ mark: { trigger, side, price, ordinal }, symbol }: TriggerHandleProps): string {
  const name = trigger === 'tp' ? 'take profit' : 'stop loss'
  const position = `${side} ${symbol}${ordinal === null ? '' : ` ${ordinal}`}`
  return price === null ? `Add ${name} of ${position}` : `Move ${name} of ${position}`
}

function bubbleText(price: string, mark: TriggerMark): string {
  return `${formatPrice(price)} (${formatPercent(gainOf(price, mark), { sign: true })})`
}

function valueText(price: string, mark: TriggerMark, isMoved: boolean): string {
  const text = `${formatPrice(price)}, ${formatPercent(gainOf(price, mark), { sign: true })} from the entry`
  return isMoved ? `${text}. Enter confirms, Escape gives up.` : text
}
