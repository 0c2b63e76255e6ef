import { BOX_SIZE, type Point, type Route } from './lifecycleLayout.ts'

/** A line in SVG, and where its words stand. */
export interface ArrowPath {
  readonly d: string
  readonly label: Point
}

const USUAL_BEND = 16
/** Between a box and the tip of an arrow. */
const GAP = 3
const CORNER = 16

/** From the edge of one box to the edge of another. */
export function arrowPath(from: Point, to: Point, route: Route = {}): ArrowPath {
  return route.via === undefined ? bentPath(from, to, route) : corneredPath(from, to, route.via)
}

function bentPath(from: Point, to: Point, { bend = USUAL_BEND, labelAt = 0.5 }: Route): ArrowPath {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
  // Twice as far as the line itself goes out.
  const control = {
    x: middle.x + ((to.y - from.y) / length) * bend * 2,
    y: middle.y - ((to.x - from.x) / length) * bend * 2,
  }
  const start = edgeOf(from, control)
  const end = edgeOf(to, control)
  return { d: `M${at(start)} Q${at(control)} ${at(end)}`, label: onCurve(start, control, end, labelAt) }
}

function onCurve(start: Point, control: Point, end: Point, t: number): Point {
  const mix = (a: number, b: number, c: number): number => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c
  return { x: mix(start.x, control.x, end.x), y: mix(start.y, control.y, end.y) }
}

function corneredPath(from: Point, to: Point, via: readonly Point[]): ArrowPath {
  const points = [edgeOf(from, via[0]!), ...via, edgeOf(to, via.at(-1)!)]
  const parts = points.slice(1, -1).map((corner, index) => {
    const before = towards(corner, points[index]!, CORNER)
    const after = towards(corner, points[index + 2]!, CORNER)
    return `L${at(before)} Q${at(corner)} ${at(after)}`
  })
  const [a, b] = [via[0]!, via[1] ?? via[0]!]
  return {
    d: `M${at(points[0]!)} ${parts.join(' ')} L${at(points.at(-1)!)}`,
    label: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
  }
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance }
}

/** Where the line from the middle of a box to a point leaves the box. */
function edgeOf(box: Point, towardsPoint: Point): Point {
  const dx = towardsPoint.x - box.x
  const dy = towardsPoint.y - box.y
  const scale = Math.min(
    (BOX_SIZE.width / 2 + GAP) / Math.max(Math.abs(dx), 1e-9),
    (BOX_SIZE.height / 2 + GAP) / Math.max(Math.abs(dy), 1e-9),
  )
  return { x: box.x + dx * scale, y: box.y + dy * scale }
}

function at({ x, y }: Point): string {
  return `${Math.round(x)},${Math.round(y)}`
}
