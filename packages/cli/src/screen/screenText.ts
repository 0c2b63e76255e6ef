import { plainText, shortDecimal, shortPrice, unpainted, visibleWidth } from '../output/text.ts'

/** Digits that a price on the screen has. Whole digits are never rounded away. */
const DIGITS = 6

/**
 * Shortens a line to the width of the screen between two words, so that no number loses digits. Only a word that is
 * wider than the screen is cut. What was shortened ends with `…` and has no colours.
 */
export function clipLine(line: string, width: number): string {
  if (visibleWidth(line) <= width) return line
  const plain = unpainted(line)
  const end = plain.lastIndexOf(' ', width - 2)
  return end > 0 ? `${plain.slice(0, end).trimEnd()} …` : `${plain.slice(0, width - 1)}…`
}

/** Returns text of others as the screen shows it: each character takes one column. */
export function screenText(text: string): string {
  return plainText(text).replace(/[^ -~]/g, '?')
}

/** Rounds a price for the screen to six digits, half away from zero; of one below 1 five digits that say most. */
export function tightPrice(text: string): string {
  const whole = text.replace('-', '').split('.')[0]!
  return whole === '0' ? shortPrice(text) : shortDecimal(text, Math.max(0, DIGITS - whole.length))
}
