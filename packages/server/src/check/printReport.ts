import { counted, type Finding, type Group, type Mark, type Report, type Section } from './finding.ts'

/** The terminal that a report is printed on. */
export interface ReportPage {
  /** Width in characters; `undefined` for a file or a pipe, where no line is broken. */
  readonly width: number | undefined
  readonly hasColours: boolean
}

const SIGNS: Readonly<Record<Mark, string>> = { ok: '✓', note: '·', warning: '!', failure: '✗' }

/** Colours of the signs, as numbers of ANSI: green, grey, yellow, red. */
const COLOURS: Readonly<Record<Mark, number>> = { ok: 32, note: 2, warning: 33, failure: 31 }

const BOLD = 1

/** The narrowest room for sentences beside the names of checks. With less, they stand below the names. */
const MIN_SENTENCE_CHARS = 36

const INDENT = '  '

/** Room before the sign of a check. */
const MARGIN = INDENT.repeat(2)

/** Formats a report: a sign, a name and a sentence for each check, by group and section, and the sum at the end. */
export function formatReport(report: Report, page: ReportPage): string[] {
  const nameChars = Math.max(...report.groups.flatMap(findingsIn).map(({ check }) => check.length), 0)
  const groups = report.groups.flatMap((group) => [...groupLines(group, nameChars, page), ''])
  return [...groups, paint(sumOf(report), report.ok ? COLOURS.ok : COLOURS.failure, page)]
}

function findingsIn({ sections }: Group): readonly Finding[] {
  return sections.flatMap(({ findings }) => findings)
}

function groupLines({ title, sections }: Group, nameChars: number, page: ReportPage): string[] {
  return [paint(title, BOLD, page), ...sections.flatMap((section) => sectionLines(section, nameChars, page))]
}

function sectionLines({ subject, findings }: Section, nameChars: number, page: ReportPage): string[] {
  const head = subject === undefined ? [] : [`${INDENT}${subject}`]
  return [...head, ...findings.flatMap((finding) => findingLines(finding, nameChars, page))]
}

function findingLines({ check, mark, text }: Finding, nameChars: number, page: ReportPage): string[] {
  const { width = Number.POSITIVE_INFINITY } = page
  const sign = paint(SIGNS[mark], COLOURS[mark], page)
  const beside = MARGIN.length + 2 + nameChars + INDENT.length
  if (width - beside >= MIN_SENTENCE_CHARS) {
    const [first = '', ...rest] = wrapWords(text, width - beside)
    return [
      `${MARGIN}${sign} ${check.padEnd(nameChars)}${INDENT}${first}`,
      ...rest.map((line) => ' '.repeat(beside) + line),
    ]
  }
  const below = `${MARGIN}${INDENT}`
  return [`${MARGIN}${sign} ${check}`, ...wrapWords(text, width - below.length).map((line) => below + line)]
}

/** Breaks a text at its spaces into lines of at most `room` characters. A longer word has a line of its own. */
function wrapWords(text: string, room: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function paint(text: string, code: number, { hasColours }: ReportPage): string {
  return hasColours ? `\u001b[${code}m${text}\u001b[0m` : text
}

function sumOf({ ok, failures, warnings }: Report): string {
  const told = warnings === 0 ? '' : `, and there ${warnings === 1 ? 'is' : 'are'} ${counted(warnings, 'warning')}`
  if (!ok) return `${counted(failures, 'thing')} must be mended before a start${told}.`
  return warnings === 0 ? 'All is well.' : `Nothing must be mended${told}.`
}
