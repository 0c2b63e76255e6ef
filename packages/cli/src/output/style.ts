/** Colours of a terminal, or none. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
}

const plain = (text: string): string => text
const paint =
  (code: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`

const PLAIN: Style = { bold: plain, dim: plain, good: plain, bad: plain, warn: plain }
const COLOURED: Style = { bold: paint(1), dim: paint(2), good: paint(32), bad: paint(31), warn: paint(33) }

/** None where nobody looks, where the user wants none (NO_COLOR), or where the terminal has none. */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const wantsNone = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== ''
  return isTerminal && !wantsNone && env['TERM'] !== 'dumb' ? COLOURED : PLAIN
}
