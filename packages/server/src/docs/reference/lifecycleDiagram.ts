import { escapeHtml } from '../markdown/escapeHtml.ts'
import { arrowPath } from './arrowPath.ts'
import { CAUSE_WORDS } from './causeWords.ts'
import { BOX_SIZE, DIAGRAM_SIZE, ROUTES, STATUS_PLACES, USUAL_WAYS, type Point } from './lifecycleLayout.ts'
import { lifecycleMoves, type Move } from './lifecycleMoves.ts'

type PlacedStatus = keyof typeof STATUS_PLACES

/** About that of the words on arrows. */
const CHARACTER_WIDTH = 7.6

const DESCRIPTION =
  'Every status of an order, with arrows for the moves between them; the table below lists the same moves.'

/** The life of an order as an SVG without colours: those are the stylesheet's. Every arrow is a row of the table of transitions. */
export function lifecycleDiagram(attributes = ''): string {
  const moves = lifecycleMoves()
  // Faint ones first, so that the usual ways lie above them.
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
  return arrowPath(STATUS_PLACES[from], STATUS_PLACES[to], ROUTES[`${from} ${to}`]).d
}

/** Where an order begins is a dot with a short arrow, at the upper left of what it begins as. */
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

/** Only the usual ways have words; the others have titles, and the table. */
function words(move: Move): string {
  if (!isUsual(move) || move.from === 'absent') return ''
  const { label } = arrowPath(STATUS_PLACES[move.from], STATUS_PLACES[move.to], ROUTES[`${move.from} ${move.to}`])
  const text = move.causes.map((cause) => CAUSE_WORDS[cause].label).join(', ')
  const [x, y, width] = [Math.round(label.x), Math.round(label.y), text.length * CHARACTER_WIDTH + 8]
  return [
    `<rect class="behind" x="${Math.round(x - width / 2)}" y="${y - 10}" width="${Math.round(width)}" height="20"/>`,
    `<text class="cause" x="${x}" y="${y + 5}">${escapeHtml(text)}</text>`,
  ].join('')
}
