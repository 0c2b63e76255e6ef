import { readFileSync } from 'node:fs'
import type { Snippet } from './snippets.ts'

const ROOT = new URL('../../', import.meta.url)

/** Programs that another test runs unchanged, by page and language. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md js': 'e2e/docs.test.ts',
  'docs/api.md js': 'e2e/docs.test.ts',
  'docs/stream.md js': 'e2e/docs.test.ts',
  'docs/facade.md js': 'e2e/facade/guide.test.ts',
  'docs/python.md python': 'e2e/python.test.ts',
}

/** Commands that start or test everything, with the test that covers each. */
const COMMANDS_ELSEWHERE: Readonly<Record<string, string>> = {
  'npm start': 'scripts/start.test.ts',
  'npm test': 'scripts/test.test.ts',
}

/** A program of a page, saved under the name that the page gives it. */
export interface SavedProgram {
  readonly file: string
  /** True when the program is run after the commands of the page; otherwise they run it themselves. */
  readonly isRun: boolean
}

/** Programs that are saved as files, by page and language. */
export const SAVED_PROGRAMS: Readonly<Record<string, SavedProgram>> = {
  'docs/signing.md ts': { file: 'signing.ts', isRun: true },
  'docs/signing.md js': { file: 'sign.mjs', isRun: false },
}

/** True when a block holds only commands that another test runs. */
export function isRunElsewhere({ code }: Snippet): boolean {
  return code.split('\n').every((line) => Object.hasOwn(COMMANDS_ELSEWHERE, line))
}

/**
 * Returns the problem of a block of code; `undefined` when something checks it. The word after the fence says how: `sh`
 * is run, `js`, `ts` and `python` are programs that are run (the last two are also type-checked), `json` is parsed, and
 * `text` is output or the shape of something.
 */
export function snippetProblem(snippet: Snippet): string | undefined {
  const { language, code } = snippet
  if (language === 'text') return undefined
  if (language === 'json') return jsonProblem(code)
  if (language === 'sh') return commandsProblem(snippet)
  if (language === 'js' || language === 'ts' || language === 'python') return programProblem(snippet)
  return `nothing checks it: use a fence with sh, js, ts, python, json or text instead of ${language ?? 'an indent'}`
}

function commandsProblem(snippet: Snippet): string | undefined {
  const commands = snippet.code.split('\n').filter((line) => Object.hasOwn(COMMANDS_ELSEWHERE, line))
  if (!isRunElsewhere(snippet)) {
    return commands.length === 0 ? undefined : `give ${commands[0]} a block of its own: the others are run beside it`
  }
  const lost = commands.find((line) => !testText(COMMANDS_ELSEWHERE[line]!).includes(line))
  return lost === undefined ? undefined : `${COMMANDS_ELSEWHERE[lost]} does not name ${lost}`
}

function programProblem({ page, language }: Snippet): string | undefined {
  const key = `${page} ${language}`
  if (Object.hasOwn(SAVED_PROGRAMS, key)) return undefined
  const test = RUN_ELSEWHERE[key]
  if (test === undefined) return 'nobody runs it: name it in e2e/docs/snippetRules.ts'
  return testText(test).includes(page) ? undefined : `${test} does not name ${page}`
}

function testText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

/** Returns the problem of a JSON block, which holds one value, or one value on each line. */
function jsonProblem(code: string): string | undefined {
  if (isJson(code) || code.split('\n').every(isJson)) return undefined
  return 'it is no JSON: use text for what is only like it'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
