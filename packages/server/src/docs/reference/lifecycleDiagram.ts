import { escapeHtml } from '../markdown/renderMarkdown.ts'
import { CAUSE_WORDS, lifecycleMoves, type Move } from './lifecyclePage.ts'
import type { OrderStanding } from '../../trading/orders/orderTransitions.ts'
import { readFileSync } from 'node:fs'

export interface Point {
  readonly x: number
  readonly y: number
}

/** The course of an arrow that is not drawn in the default way. */
export interface ArrowRoute {
  /** Distance of the arrow's middle from the straight line; positive bends it to its left. */
  readonly bend?: number
  /** Corner points of the arrow, instead of a bend. */
  readonly via?: readonly Point[]
  /** Position of the label along the arrow, 0 to 1. */
  readonly labelAt?: number
}

/** An SVG path, and the position of its label. */
interface ArrowPath {
  readonly d: string
  readonly label: Point
}

type PlacedStatus = keyof typeof STATUS_PLACES

const DIAGRAM_SIZE = { width: 960, height: 600 } as const

const BOX_SIZE = { width: 130, height: 48 } as const

/** Centres of the boxes. A new status does not compile before it has a place. */
const STATUS_PLACES: Readonly<Record<Exclude<OrderStanding, 'absent'>, Point>> = {
  prepared: { x: 130, y: 280 },
  pending: { x: 420, y: 180 },
  open: { x: 420, y: 400 },
  rejected: { x: 780, y: 90 },
  timed_out: { x: 780, y: 200 },
  filled: { x: 780, y: 310 },
  canceled: { x: 780, y: 430 },
  expired: { x: 130, y: 500 },
}

/** Arrows with a course of their own, by `from to`. All others are drawn with a slight bend. */
export const ARROW_ROUTES: Readonly<Record<string, ArrowRoute>> = {
  'prepared rejected': {
    via: [
      { x: 130, y: 40 },
      { x: 780, y: 40 },
    ],
    labelAt: 0.5,
  },
  'timed_out canceled': {
    via: [
      { x: 900, y: 200 },
      { x: 900, y: 430 },
    ],
    labelAt: 0.5,
  },
  'expired rejected': {
    via: [
      { x: 130, y: 570 },
      { x: 936, y: 570 },
      { x: 936, y: 90 },
    ],
  },
}

/** The usual moves of an order, by `from to`; the others are drawn faintly. */
export const USUAL_WAYS: ReadonlySet<string> = new Set([
  'prepared pending',
  'prepared open',
  'prepared expired',
  'prepared rejected',
  'pending open',
  'pending filled',
  'pending rejected',
  'pending timed_out',
  'open filled',
  'open canceled',
  'timed_out canceled',
])

/** Approximate width of a character of a label, in SVG units. */
const CHARACTER_WIDTH = 7.6

const USUAL_BEND = 16

/** Distance between a box and the tip of an arrow. */
const GAP = 3

const CORNER = 16

const DESCRIPTION =
  'Every status of an order, with arrows for the moves between them; the table below lists the same moves.'

const STYLE = new URL('./lifecycleStyle.css', import.meta.url)

/** Returns docs/reference/order-lifecycle.svg: the diagram as a file of its own, with its colours in it. */
export function lifecyclePicture(): string {
  const style = readFileSync(STYLE, 'utf8').trim()
  const svg = lifecycleDiagram(' xmlns="http://www.w3.org/2000/svg"')
  return `${svg.replace('<defs>', `<style>\n${style}\n</style>\n<defs>`)}\n`
}

/**
 * Returns the life of an order as an SVG without colours, which come from the stylesheet. Every arrow is a row of the
 * table of transitions.
 */
export function lifecycleDiagram(attributes = ''): string {
  const moves = lifecycleMoves()
  // Faint arrows come first, so that the usual ones lie above them.
  const arrows = moves.toSorted((a, b) => Number(isUsual(a)) - Number(isUsual(b)))
  const { width, height } = DIAGRAM_SIZE
  return [
    `<svg class="lifecycle" role="img" aria-label="${DESCRIPTION}" viewBox="0 0 ${width} ${height}"${attributes}>`,
    '<defs>',
    ...['usual', 'rare'].map(marker),
    '</defs>',
    ...arrows.map(arrow),
    ...Object.entries(STATUS_PLACES).map(([status, place]) => box(status as PlacedStatus, place)),
    ...arrows.map(words),
    '</svg>',
  ].join('\n')
}

function marker(kind: string): string {
  return `<marker id="tip-${kind}" class="tip ${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>`
}

function isUsual({ from, to }: Move): boolean {
  return from === 'absent' ? to === 'prepared' : USUAL_WAYS.has(`${from} ${to}`)
}

function arrow(move: Move): string {
  const kind = isUsual(move) ? 'usual' : 'rare'
  const { from, to, causes } = move
  const title = `${from} to ${to}: ${causes.map((cause) => CAUSE_WORDS[cause].label).join(', ')}`
  const line = `<path class="arrow ${kind}" data-move="${from} ${to}" d="${pathOf(move)}" marker-end="url(#tip-${kind})"><title>${escapeHtml(title)}</title></path>`
  return from === 'absent' ? `${entryDot(to)}${line}` : line
}

function pathOf({ from, to }: Move): string {
  if (from === 'absent') return entryPath(to)
  if (from === to) return loopPath(to)
  return arrowPath(STATUS_PLACES[from], STATUS_PLACES[to], ARROW_ROUTES[`${from} ${to}`]).d
}

/** Returns the place of the dot that marks the beginning of an order, to the upper left of its first status. */
function entryStart(status: PlacedStatus): Point {
  const { x, y } = STATUS_PLACES[status]
  return { x: x - BOX_SIZE.width / 2 - 26, y: y - BOX_SIZE.height / 2 - 14 }
}

function entryDot(status: PlacedStatus): string {
  const { x, y } = entryStart(status)
  return `<circle class="entry" cx="${x}" cy="${y}" r="5"/>`
}

function entryPath(status: PlacedStatus): string {
  const { x, y } = entryStart(status)
  return `M${x},${y} L${x + 25},${y + 16}`
}

function loopPath(status: PlacedStatus): string {
  const { x, y } = STATUS_PLACES[status]
  const top = y - BOX_SIZE.height / 2 - 3
  return `M${x + 22},${top} C${x + 16},${top - 30} ${x + 58},${top - 30} ${x + 50},${top}`
}

function box(status: PlacedStatus, { x, y }: Point): string {
  const { width, height } = BOX_SIZE
  return [
    `<g class="status ${status}">`,
    `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="9"/>`,
    `<text x="${x}" y="${y + 6}">${status}</text>`,
    '</g>',
  ].join('')
}

/** Returns the label of an arrow. Only usual moves have one; the others have a title, and are in the table. */
function words(move: Move): string {
  if (!isUsual(move) || move.from === 'absent') return ''
  const { label } = arrowPath(STATUS_PLACES[move.from], STATUS_PLACES[move.to], ARROW_ROUTES[`${move.from} ${move.to}`])
  const text = move.causes.map((cause) => CAUSE_WORDS[cause].label).join(', ')
  const [x, y, width] = [Math.round(label.x), Math.round(label.y), text.length * CHARACTER_WIDTH + 8]
  return [
    `<rect class="behind" x="${Math.round(x - width / 2)}" y="${y - 10}" width="${Math.round(width)}" height="20"/>`,
    `<text class="cause" x="${x}" y="${y + 5}">${escapeHtml(text)}</text>`,
  ].join('')
}

/** Returns the path from the edge of one box to the edge of another. */
function arrowPath(from: Point, to: Point, route: ArrowRoute = {}): ArrowPath {
  return route.via === undefined ? bentPath(from, to, route) : corneredPath(from, to, route.via)
}

function bentPath(from: Point, to: Point, { bend = USUAL_BEND, labelAt = 0.5 }: ArrowRoute): ArrowPath {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
  // The control point of a quadratic curve lies twice as far out as the curve itself goes.
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

/** Returns the point where the line from the centre of a box to a point leaves the box. */
function edgeOf(middle: Point, towardsPoint: Point): Point {
  const dx = towardsPoint.x - middle.x
  const dy = towardsPoint.y - middle.y
  const scale = Math.min(
    (BOX_SIZE.width / 2 + GAP) / Math.max(Math.abs(dx), 1e-9),
    (BOX_SIZE.height / 2 + GAP) / Math.max(Math.abs(dy), 1e-9),
  )
  return { x: middle.x + dx * scale, y: middle.y + dy * scale }
}

function at({ x, y }: Point): string {
  return `${Math.round(x)},${Math.round(y)}`
}
