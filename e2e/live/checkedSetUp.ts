import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { Finding, Mark, Report } from '../../packages/server/src/check/finding.ts'
import { runOperator } from '../../packages/server/src/operator.ts'
import type { Lie } from '../outages/faultyProxy.ts'

/** A set-up to check: a chains file beside a data folder of its own. */
export interface CheckedSetUp {
  /** Fields of the chain that differ from those of the local chain. */
  readonly chain?: Readonly<Record<string, unknown>>
  readonly feedUrl?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The outcome of `bezel-server check --json`. */
export interface CheckOutcome {
  readonly code: number
  readonly text: string
  readonly report: Report
  /** Returns the first finding of a check. */
  finding(check: string, mark?: Mark): Finding | undefined
  /** Returns the names of the checks with this mark, each once. */
  checksWith(mark: Mark): readonly string[]
}

let setUps = 0

/** Runs `bezel-server check --json` over a set-up that differs from the local chain's in what is given. */
export async function checkSetUp(
  devnet: RunningDevnet,
  slug: string,
  changed: CheckedSetUp = {},
): Promise<CheckOutcome> {
  setUps += 1
  const file = join(devnet.folder, `../chains-${setUps}.json`)
  const entry = { ...devnet.file.chains[slug], ...changed.chain }
  writeFileSync(file, JSON.stringify({ feedUrl: changed.feedUrl ?? devnet.file.feedUrl, chains: { [slug]: entry } }))
  let text = ''
  const code = await runOperator({
    argv: ['check', '--json'],
    env: { BEZEL_CHAINS_FILE: file, BEZEL_DATA: join(devnet.folder, '../own'), ...changed.env },
    stdout: { write: (written) => (text += written) },
    stderr: { write: (written) => (text += written) },
    now: Date.now,
  })
  const report = JSON.parse(text) as Report
  const findings = report.groups.flatMap(({ sections }) => sections.flatMap((section) => section.findings))
  return {
    code,
    text,
    report,
    finding: (check, mark) => findings.find((found) => found.check === check && (mark ?? found.mark) === found.mark),
    checksWith: (mark) => [...new Set(findings.filter((found) => found.mark === mark).map(({ check }) => check))],
  }
}

interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Returns the lie of a node that gives what `change` returns in place of each true answer. */
export function changeAnswers(
  change: (call: RpcCall, honest: Record<string, unknown>) => Record<string, unknown>,
): Lie {
  return async (asked, honest) => {
    const calls = JSON.parse(asked) as readonly RpcCall[]
    const answers = JSON.parse(await honest()) as readonly Record<string, unknown>[]
    return {
      text: JSON.stringify(
        answers.map((answer) =>
          change(
            calls.find(({ id }) => id === answer.id)!,
            answer,
          ),
        ),
      ),
    }
  }
}
