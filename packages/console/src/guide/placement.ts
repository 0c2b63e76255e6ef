/** A rectangle on the screen, in CSS pixels. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** The finger beside what it points at. */
export interface FingerPlace {
  readonly left: number
  readonly top: number
  /** Direction in which it points. */
  readonly points: 'up' | 'down' | 'left' | 'right'
}

/** Side of the square that the finger is drawn in. */
export const FINGER_PX = 40

/** Space between the finger and its target, and between the card and the edge of the screen. */
const GAP_PX = 8

/**
 * Returns the place of the finger: outside its target and inside the screen. Below is the first choice, because hands
 * come from there; above, right and left follow. The finger keeps off the navigation at the bottom, `bottom` pixels
 * high, where it would seem to point at something else. Null when the target is not on the screen, or fills it.
 */
export function placeFinger(
  target: Box,
  screen: Pick<Box, 'width' | 'height'>,
  { bottom = 0 }: { readonly bottom?: number } = {},
): FingerPlace | null {
  const centre = { left: target.left + target.width / 2, top: target.top + target.height / 2 }
  const isSeen = centre.left >= 0 && centre.left <= screen.width && centre.top >= 0 && centre.top <= screen.height
  if (!isSeen) return null
  const half = FINGER_PX / 2
  const places: readonly FingerPlace[] = [
    { points: 'up', left: centre.left - half, top: target.top + target.height + GAP_PX },
    { points: 'down', left: centre.left - half, top: target.top - FINGER_PX - GAP_PX },
    { points: 'left', left: target.left + target.width + GAP_PX, top: centre.top - half },
    { points: 'right', left: target.left - FINGER_PX - GAP_PX, top: centre.top - half },
  ]
  const free = { width: screen.width, height: screen.height - bottom }
  return places.find((place) => isWithin(place, free)) ?? places.find((place) => isWithin(place, screen)) ?? null
}

function isWithin({ left, top }: FingerPlace, { width, height }: Pick<Box, 'width' | 'height'>): boolean {
  return left >= 0 && top >= 0 && left + FINGER_PX <= width && top + FINGER_PX <= height
}

/** The question of where the card goes. */
export interface CardQuestion {
  readonly card: Pick<Box, 'width' | 'height'>
  readonly screen: Pick<Box, 'width' | 'height'>
  /** Heights that belong to the header and to the navigation at the bottom. */
  readonly margins: { readonly top: number; readonly bottom: number }
  /** Thing that the finger points at; null when there is none. */
  readonly target: Box | null
  /** Other things that one may need now, which the card covers only if it must. */
  readonly others: readonly Box[]
}

/** A cover of the target counts more than any cover of something else. */
const TARGET_WEIGHT = 1_000

/**
 * Returns the corner of the screen in which the card covers the least: never the target while any corner is free of it.
 * Corners that are equally good come in the order bottom left, bottom right, top left, top right.
 */
export function placeCard(question: CardQuestion): Pick<Box, 'left' | 'top'> {
  const { card, screen, margins, target, others } = question
  const right = Math.max(GAP_PX, screen.width - card.width - GAP_PX)
  const top = margins.top + GAP_PX
  const bottom = Math.max(top, screen.height - margins.bottom - card.height - GAP_PX)
  const corners = [
    { left: GAP_PX, top: bottom },
    { left: right, top: bottom },
    { left: GAP_PX, top },
    { left: right, top },
  ]
  const costs = corners.map((corner) => {
    const box = { ...corner, ...card }
    const covered = others.reduce((sum, other) => sum + overlap(box, other), 0)
    return covered + (target === null ? 0 : TARGET_WEIGHT * overlap(box, withFinger(target)))
  })
  return corners[costs.indexOf(Math.min(...costs))]!
}

/** Returns the target with the room that the finger takes around it. */
function withFinger({ left, top, width, height }: Box): Box {
  const room = FINGER_PX + GAP_PX
  return { left: left - GAP_PX, top: top - room, width: width + 2 * GAP_PX, height: height + 2 * room }
}

/** Returns the area that two rectangles share. */
function overlap(a: Box, b: Box): number {
  const width = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)
  const height = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top)
  return Math.max(0, width) * Math.max(0, height)
}
