import { spawn } from 'node:child_process'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { CodeBlock } from './codeBlocks.ts'
import { readTrial } from './operationsTrial.ts'

// `npm run try:operations` runs the commands of docs/operations.md that bring up two nodes, PostgreSQL, Redis and
// Prometheus and put a back-up back, as somebody who has only that page. It needs root on Debian, and says how long
// each part took. The exit code is 1 when a command fails or all of it takes longer than a newcomer is promised.

const LIMIT_MS = 20 * 60_000
/** Begins the line that a part ends with; nothing else prints it. */
const END_OF_PART = '\u0001end of part'

process.exitCode = await main(readTrial())

async function main(parts: readonly CodeBlock[]): Promise<number> {
  const [last] = parts.slice(-1)
  if (last === undefined) throw new Error('docs/operations.md has no commands to try')
  const shell = spawn('bash', ['-e', '-o', 'pipefail'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
  const startedMs = Date.now()
  let done = 0
  for (const { introduction, code } of parts) {
    const partMs = Date.now()
    console.log(`\n${done + 1}/${parts.length} ${introduction}`)
    shell.stdin.write(`${code}\necho; echo '${END_OF_PART}'\n`)
    if (!(await untilEnd(lines))) break
    done += 1
    console.log(`   ${seconds(Date.now() - partMs)}`)
  }
  shell.stdin.end()
  const tookMs = Date.now() - startedMs
  if (done === parts.length && tookMs <= LIMIT_MS) {
    console.log(`\nAll of it took ${seconds(tookMs)}; the promise is ${seconds(LIMIT_MS)}.`)
    return 0
  }
  const remedy = `What was started is still there; end it with\n${last.code}`
  console.error(
    done < parts.length ? `\nPart ${done + 1} failed. ${remedy}` : `\nAll of it took ${seconds(tookMs)}, too long.`,
  )
  return 1
}

/** Prints what the shell says until a part ends. Returns false when the shell ends first. */
async function untilEnd(lines: AsyncIterator<string>): Promise<boolean> {
  for (;;) {
    const { value, done } = await lines.next()
    if (done === true) return false
    if (value === END_OF_PART) return true
    if (value !== '') console.log(`   ${value}`)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
