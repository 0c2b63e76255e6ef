import { useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useRef, type MutableRef } from 'preact/hooks'
import type { TicketState } from './guideTexts.ts'
import { placeCard, placeFinger, type Box, type FingerPlace } from './placement.ts'

/** Where card and finger are now. */
export interface GuideLayout {
  readonly card: Pick<Box, 'left' | 'top'> | null
  readonly finger: FingerPlace | null
}

/** Pause between two looks at the page: short enough to follow a list that moves, long enough to cost nothing. */
const LOOK_MS = 250

const HEADER_PX = 48

/** Height of the navigation at the bottom of narrow screens. */
const NAVIGATION_PX = 64

const NARROW = '(max-width: 767px)'

/** Follows the target of a step over the page. The card is measured through its ref. */
export function useGuideLayout(
  targets: readonly string[],
  card: MutableRef<HTMLElement | null>,
): ReadonlySignal<GuideLayout> {
  const layout = useSignal<GuideLayout>({ card: null, finger: null })
  const key = targets.join()
  const shownTo = useRef('')
  useEffect(() => {
    const look = (): void => {
      if (card.current === null) return
      const target = findTarget(targets)
      const isCovered = document.querySelector('dialog[open]') !== null
      if (target !== null && !isCovered && shownTo.current !== key) {
        shownTo.current = key
        bringIntoView(target)
      }
      const next = layoutOf(card.current, isCovered ? null : target)
      if (!isSame(layout.peek(), next)) layout.value = next
    }
    look()
    const timer = setInterval(look, LOOK_MS)
    addEventListener('scroll', look, { capture: true, passive: true })
    addEventListener('resize', look)
    return () => {
      clearInterval(timer)
      removeEventListener('scroll', look, { capture: true })
      removeEventListener('resize', look)
    }
  }, [key])
  return layout
}

/** Returns the first visible element of a list of selectors; null when there is none. */
export function findTarget(targets: readonly string[]): HTMLElement | null {
  for (const selector of targets) {
    for (const element of document.querySelectorAll<HTMLElement>(selector)) {
      if (isVisible(element)) return element
    }
  }
  return null
}

/** Returns how far the ticket is. Its state is its own, so its field for the size is looked at. */
export function lookAtTicket(): TicketState {
  const element = findTarget(['[data-guide="size"]'])
  if (element === null) return 'closed'
  const input = element instanceof HTMLInputElement ? element : element.querySelector('input')
  return input !== null && /[1-9]/.test(input.value) ? 'sized' : 'empty'
}

function isVisible(element: HTMLElement): boolean {
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
}

function layoutOf(card: HTMLElement, target: HTMLElement | null): GuideLayout {
  const screen = { width: document.documentElement.clientWidth, height: innerHeight }
  const { width, height } = card.getBoundingClientRect()
  const box = target === null ? null : boxOf(target)
  const others = [...document.querySelectorAll<HTMLElement>('[data-guide], dialog[open]')]
    .filter((element) => element !== target && isVisible(element))
    .map(boxOf)
  const margins = { top: HEADER_PX, bottom: matchMedia(NARROW).matches ? NAVIGATION_PX : 0 }
  return {
    card: placeCard({ card: { width, height }, screen, margins, target: box, others }),
    finger: box === null || target === null || !isOnTop(target, box) ? null : placeFinger(box, screen, margins),
  }
}

/** False when something else lies over the middle of the target, such as a sheet. */
function isOnTop(target: HTMLElement, { left, top, width, height }: Box): boolean {
  const found = document.elementFromPoint(left + width / 2, top + height / 2)
  return found !== null && (target.contains(found) || found.contains(target))
}

function boxOf(element: HTMLElement): Box {
  const { left, top, width, height } = element.getBoundingClientRect()
  return { left, top, width, height }
}

function bringIntoView(target: HTMLElement): void {
  const { top, bottom } = target.getBoundingClientRect()
  if (top >= HEADER_PX && bottom <= innerHeight) return
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  target.scrollIntoView({ block: 'center', behavior: isCalm ? 'auto' : 'smooth' })
}

function isSame(a: GuideLayout, b: GuideLayout): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
