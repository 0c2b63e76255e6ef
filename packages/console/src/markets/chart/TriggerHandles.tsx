import { useComputed, type ReadonlySignal, type Signal } from '@preact/signals'
import { marketOf, priceOf } from '../../data/markets.ts'
import type { PriceChart } from './createPriceChart.ts'
import type { TriggerMark } from './priceLines.ts'
import { handlePlace, spreadHandles, type HandlePlace, type TriggerDraft } from './triggerDrag.ts'
import { TriggerHandle } from './TriggerHandle.tsx'

export interface TriggerHandlesProps {
  readonly symbol: string
  readonly chart: PriceChart
  /** Grows whenever the chart was drawn. */
  readonly drawings: ReadonlySignal<number>
  readonly triggers: ReadonlySignal<readonly TriggerMark[]>
  readonly draft: Signal<TriggerDraft | null>
}

/** The handles of take profits and stop losses beside the price axis. */
export function TriggerHandles({ symbol, chart, drawings, triggers, draft }: TriggerHandlesProps) {
  const precision = useComputed(() => marketOf(symbol)?.pricePrecision ?? null)
  const placesText = useComputed(() => {
    void drawings.value
    return JSON.stringify({ right: chart.axisWidth(), places: placesOf(triggers.value, draft.value, chart) })
  })
  const pricePrecision = precision.value
  if (pricePrecision === null || triggers.value.length === 0) return null
  // Compared as text, so that handles are drawn again only when one of them has moved.
  const { right, places } = JSON.parse(placesText.value) as { right: number; places: readonly (HandlePlace | null)[] }
  return (
    <div class="chart-handles" role="group" aria-label="Take profit and stop loss" style={{ right: `${right}px` }}>
      {triggers.value.map((mark, index) => (
        <TriggerHandle
          key={mark.id}
          mark={mark}
          place={places[index] ?? null}
          scale={chart.scale}
          market={{ pricePrecision }}
          symbol={symbol}
          markPrice={() => priceOf(symbol).peek()?.mark ?? null}
          draft={draft}
        />
      ))}
    </div>
  )
}

/** Returns the places of all handles, moved apart; that of the one being moved stays where the pointer is. */
function placesOf(
  triggers: readonly TriggerMark[],
  draft: TriggerDraft | null,
  { scale }: PriceChart,
): readonly (HandlePlace | null)[] {
  const places = triggers.map(({ id, price, entryPrice }) =>
    handlePlace(draft?.id === id ? draft.price : (price ?? entryPrice), scale),
  )
  const resting = triggers.flatMap(({ id }, index) => (draft?.id === id ? [] : [{ index, place: places[index] }]))
  const shown = resting.flatMap(({ index, place }) => (place ? [{ index, place }] : []))
  const apart = spreadHandles(
    shown.map(({ place }) => place.y),
    scale.height,
  )
  const moved = new Map(
    shown.map(({ index, place }, order) => [index, { ...place, y: Math.round(apart[order] ?? place.y) }]),
  )
  return places.map((place, index) => moved.get(index) ?? place)
}
