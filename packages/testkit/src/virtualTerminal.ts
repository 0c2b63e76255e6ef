/**
 * A terminal without a window: it understands what programs write to one, and tells what a person would see. Sequences
 * that it does not know throw, so that a program can't draw something that nobody tested. Every character takes one
 * column.
 */
export interface VirtualTerminal {
  write(text: string): void
  resize(columns: number, rows: number): void
  /** Returns the rows of the screen as it is now, without spaces at their ends. */
  screen(): string[]
  /** Returns everything that the main screen has shown since `forget`, also what has scrolled away. */
  transcript(): string[]
  /** Returns the rows of the main screen that were too narrow for their line, so that it went on in the next one. */
  wrapped(): string[]
  /** Forgets what the main screen has shown. */
  forget(): void
  /** Texts of the operating system commands (OSC) that were written, which no terminal shows. */
  readonly reports: readonly string[]
  readonly isAlternate: boolean
  readonly isCursorShown: boolean
  /** True when lines that are too wide go on in the next row. */
  readonly isWrapping: boolean
  /** True when anything was painted. */
  readonly hasColours: boolean
}

interface Row {
  readonly cells: string[]
  isContinued: boolean
}

/** The rows of a screen with its cursor, and those that have scrolled away. */
interface Grid {
  columns: number
  rows: Row[]
  gone: Row[]
  x: number
  y: number
}

/** One sequence or character. A sequence that has not arrived whole matches nothing. */
const TOKEN =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[(?<mark>\??)(?<numbers>[\d;]*)(?<final>[@-~])|\u001b\](?<report>[^\u0007\u001b]*)\u0007|(?<text>[^\u001b])/uy

/** The longest sequence that is waited for. */
const MAX_SEQUENCE = 1000

const TAB_COLUMNS = 8

/** Private modes: wrapping, cursor, alternate screen, synchronized output. */
const MODES = { wrapping: '7', cursor: '25', alternate: '1049', frame: '2026' } as const

/** Creates a terminal with an empty screen. */
export function createVirtualTerminal(size: { readonly columns: number; readonly rows: number }): VirtualTerminal {
  const main = createGrid(size.columns, size.rows)
  let grid = main
  let unread = ''
  let hasColours = false
  const reports: string[] = []
  const modes = new Set<string>([MODES.wrapping, MODES.cursor])

  function setMode(mode: string, isOn: boolean): void {
    if (!Object.values<string>(MODES).includes(mode)) throw new Error(`unknown mode ${mode}`)
    if (isOn) modes.add(mode)
    else modes.delete(mode)
    if (mode === MODES.alternate) grid = isOn ? createGrid(main.columns, main.rows.length) : main
  }

  function obey({ mark, numbers = '', final = '', report, text }: Readonly<Record<string, string | undefined>>): void {
    if (text !== undefined) return type(grid, text, modes.has(MODES.wrapping))
    if (report !== undefined) return void reports.push(report)
    if (mark === '?' && /[hl]/.test(final)) return setMode(numbers, final === 'h')
    if (final === 'm') return void (hasColours ||= Number(numbers) > 0)
    edit(grid, final, numbers.split(';').map(Number))
  }

  return {
    write(written) {
      unread += written
      TOKEN.lastIndex = 0
      let end = 0
      for (let found = TOKEN.exec(unread); found !== null; found = TOKEN.exec(unread)) {
        end = TOKEN.lastIndex
        obey(found.groups!)
      }
      unread = unread.slice(end)
      if (unread.length > MAX_SEQUENCE) throw new Error(`unknown sequence ${JSON.stringify(unread.slice(0, 40))}`)
    },
    resize: (columns, rows) => new Set([main, grid]).forEach((one) => resizeGrid(one, columns, rows)),
    screen: () => grid.rows.map(textOf),
    transcript: () => [...main.gone, ...main.rows].map(textOf),
    wrapped: () => [...main.gone, ...main.rows].filter(({ isContinued }) => isContinued).map(textOf),
    forget: () => void Object.assign(main, createGrid(main.columns, main.rows.length)),
    reports,
    get isAlternate() {
      return modes.has(MODES.alternate)
    },
    get isCursorShown() {
      return modes.has(MODES.cursor)
    },
    get isWrapping() {
      return modes.has(MODES.wrapping)
    },
    get hasColours() {
      return hasColours
    },
  }
}

function createGrid(columns: number, rows: number): Grid {
  return { columns, rows: Array.from({ length: rows }, emptyRow), gone: [], x: 0, y: 0 }
}

function emptyRow(): Row {
  return { cells: [], isContinued: false }
}

function textOf({ cells }: Row): string {
  return Array.from(cells, (cell: string | undefined) => cell ?? ' ')
    .join('')
    .trimEnd()
}

/** Types one character, or obeys it when it is a control character. */
function type(grid: Grid, character: string, isWrapping: boolean): void {
  const { x, columns } = grid
  const tab = (Math.floor(x / TAB_COLUMNS) + 1) * TAB_COLUMNS
  if (character === '\n') lineFeed(grid)
  else if (character === '\r') grid.x = 0
  else if (character === '\b') grid.x = Math.max(0, Math.min(x, columns - 1) - 1)
  else if (character === '\t') grid.x = Math.min(columns - 1, tab)
  else if (character < ' ') throw new Error(`unknown control character ${JSON.stringify(character)}`)
  else put(grid, character, isWrapping)
}

function put(grid: Grid, character: string, isWrapping: boolean): void {
  if (grid.x >= grid.columns && isWrapping) {
    grid.rows[grid.y]!.isContinued = true
    lineFeed(grid)
    grid.x = 0
  }
  grid.x = Math.min(grid.x, grid.columns - 1)
  grid.rows[grid.y]!.cells[grid.x] = character
  grid.x += 1
}

function lineFeed(grid: Grid): void {
  if (grid.y < grid.rows.length - 1) grid.y += 1
  else {
    grid.gone.push(grid.rows.shift()!)
    grid.rows.push(emptyRow())
  }
}

/** Obeys a sequence that moves the cursor or erases. */
function edit(grid: Grid, final: string, [first = 0, second = 0]: readonly number[]): void {
  const { x, y } = grid
  const step = Math.max(1, first)
  const edits: Readonly<Record<string, () => void>> = {
    A: () => move(grid, x, y - step),
    B: () => move(grid, x, y + step),
    C: () => move(grid, x + step, y),
    D: () => move(grid, x - step, y),
    H: () => move(grid, Math.max(1, second) - 1, step - 1),
    J: () => eraseScreen(grid, first),
    K: () => eraseLine(grid, first),
  }
  const act = edits[final]
  if (act === undefined) throw new Error(`unknown sequence that ends with ${final}`)
  act()
}

function move(grid: Grid, x: number, y: number): void {
  grid.x = Math.max(0, Math.min(x, grid.columns - 1))
  grid.y = Math.max(0, Math.min(y, grid.rows.length - 1))
}

/** Erases from the cursor on (0), up to it (1), or all (2) of its row. */
function eraseLine(grid: Grid, how: number): void {
  const row = grid.rows[grid.y]!
  const x = Math.min(grid.x, grid.columns - 1)
  const [from, to] = [how === 0 ? x : 0, how === 1 ? x + 1 : grid.columns]
  row.cells.fill(' ', from, to)
  row.isContinued = false
}

/** The same for the whole screen. */
function eraseScreen(grid: Grid, how: number): void {
  eraseLine(grid, how)
  for (const [y] of grid.rows.entries()) {
    const isErased = how === 2 || (how === 0 ? y > grid.y : y < grid.y)
    if (isErased) grid.rows[y] = emptyRow()
  }
}

function resizeGrid(grid: Grid, columns: number, rows: number): void {
  const excess = Math.max(0, grid.rows.length - rows)
  grid.gone.push(...grid.rows.splice(0, excess))
  while (grid.rows.length < rows) grid.rows.push(emptyRow())
  for (const { cells } of grid.rows) cells.length = Math.min(cells.length, columns)
  grid.columns = columns
  move(grid, grid.x, grid.y - excess)
}
