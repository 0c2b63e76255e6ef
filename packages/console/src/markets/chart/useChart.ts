import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { CandleInterval } from '@bezel/protocol/wire'
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PriceChart } from './createPriceChart.ts'

/** A chart of a component: loaded when it comes into view, and removed with the component. */
export interface ShownChart {
  /** `null` until the chart is loaded. */
  readonly chart: ReadonlySignal<PriceChart | null>
  /** The error that kept the code of the chart from loading; `null` while all is well. */
  readonly problem: ReadonlySignal<unknown>
  /** Grows when the chart was drawn and places of prices may have changed. */
  readonly drawings: ReadonlySignal<number>
  /** Loads the chart, again after a failure. */
  load(): void
}

/** Loads the code of the chart and draws into a container once that is in view. */
export function useChart(
  container: RefObject<HTMLDivElement>,
  interval: CandleInterval,
  onNearBeginning: () => void,
): ShownChart {
  const chart = useSignal<PriceChart | null>(null)
  const problem = useSignal<unknown>(null)
  const drawings = useSignal(0)
  const isMounted = useSignal(true)
  const load = async (): Promise<void> => {
    problem.value = null
    try {
      const { createPriceChart } = await import('./createPriceChart.ts')
      const element = container.current
      if (!isMounted.peek() || element === null || chart.peek() !== null) return
      const onDrawn = () => (drawings.value += 1)
      chart.value = createPriceChart({ container: element, interval, onNearBeginning, onDrawn })
    } catch (error) {
      problem.value = error
    }
  }
  useEffect(() => {
    isMounted.value = true
    const stop = whenSeen(container.current, () => void load())
    return () => {
      stop()
      isMounted.value = false
      removeChart(chart)
    }
  }, [])
  return { chart, problem, drawings, load: () => void load() }
}

function removeChart(chart: Signal<PriceChart | null>): void {
  const shown = chart.peek()
  chart.value = null
  shown?.remove()
}

/** Calls a function once, when an element comes near the view. Returns what ends the watch. */
function whenSeen(element: Element | null, seen: () => void): () => void {
  if (element === null) return () => undefined
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      seen()
    },
    { rootMargin: '200px' },
  )
  observer.observe(element)
  return () => observer.disconnect()
}
