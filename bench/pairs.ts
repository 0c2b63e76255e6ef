import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { median } from './measure/median.ts'

// Compares a benchmark of this checkout with the same benchmark of another one:
// `npm run bench -- pairs <benchmark> <folder of the other checkout> [pairs]`.
//
// Both run one after the other, so that noise of the machine hits both, and take turns in going first. Every number
// that the benchmark prints is a figure. Printed are the medians of both sides, their ratio, and the spread of the
// other checkout against itself: half of its runs lie within it.

const DEFAULT_PAIRS = 10
const NUMBER = /(?<!\w)-?\d+(?:[.,]\d+)*/g
/** Judgement of a limit, which may differ from run to run. */
const JUDGEMENT = /\b(?:true|false)\b/g

/** Values of each figure, by the text of its line without numbers and its place in that line. */
type Figures = Map<string, number[]>

/** Prints the table. Always returns true: the reader judges the ratios. */
export async function run(): Promise<boolean> {
  const [, , , name = '', other = '', count = String(DEFAULT_PAIRS)] = process.argv
  if (name === '' || other === '') throw new Error('Say which benchmark, and the folder of the other checkout.')
  const theirs: Figures = new Map()
  const ours: Figures = new Map()
  const sides = [
    { folder: resolve(other), figures: theirs },
    { folder: resolve(import.meta.dirname, '..'), figures: ours },
  ]
  for (let pair = 0; pair < Number(count); pair += 1) {
    for (const { folder, figures } of pair % 2 === 0 ? sides : sides.toReversed()) {
      addFigures(figures, await printedBy(name, folder))
    }
    console.error(`pair ${pair + 1} of ${count}`)
  }
  for (const [figure, values] of theirs) printFigure(figure, values, ours.get(figure) ?? [])
  return true
}

/** Runs a benchmark to its end, also when it misses a limit, and returns what it printed. */
function printedBy(name: string, folder: string): Promise<string> {
  const child = spawn(process.execPath, ['bench/main.ts', name], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return new Promise((ended, failed) => child.once('error', failed).once('close', () => ended(printed)))
}

function addFigures(figures: Figures, printed: string): void {
  for (const line of printed.split('\n')) {
    const label = line.replaceAll(NUMBER, '#').replaceAll(JUDGEMENT, '?').replaceAll(/\s+/g, ' ').trim()
    for (const [place, [text]] of [...line.matchAll(NUMBER)].entries()) {
      const figure = `${label} [${place + 1}]`
      figures.set(figure, [...(figures.get(figure) ?? []), Number(text.replaceAll(',', ''))])
    }
  }
}

function printFigure(figure: string, theirs: readonly number[], ours: readonly number[]): void {
  if (ours.length === 0) return console.log(`${figure}: only the other checkout prints it`)
  const [before, after] = [median(theirs), median(ours)]
  const sorted = theirs.toSorted((a, b) => a - b)
  const [low, high] = [0.25, 0.75].map((share) => sorted[Math.floor(share * (sorted.length - 1))]! / before)
  const spread = `${low!.toFixed(3)} to ${high!.toFixed(3)}`
  console.log(`${figure}: ${before} -> ${after}, ratio ${(after / before).toFixed(3)}, spread ${spread}`)
}
