import { execFile } from 'node:child_process'
import process from 'node:process'

/** A known vulnerability of an installed package. */
export interface Advisory {
  /** Name under which it is published, such as GHSA-xxxx-xxxx-xxxx. */
  readonly id: string
  readonly package: string
  readonly severity: string
  readonly title: string
}

/** A vulnerability that is known and lived with. */
export interface AuditException {
  readonly id: string
  readonly package: string
  /** Why it does no harm here. */
  readonly reason: string
  /** Day up to which the reason holds without another look, as 2027-01-31. */
  readonly reviewBy: string
}

/** The part of the report of `npm audit --json` that is used here. */
interface AuditReport {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly via: readonly (string | { readonly name: string; readonly url: string })[] }>
  >
  readonly message?: string
  readonly error?: { readonly summary?: string }
}

interface Finding {
  readonly name: string
  readonly url: string
  readonly severity: string
  readonly title: string
}

/** Longest time that the registry may take. */
const ASK_MS = 120_000
const MAX_REPORT_BYTES = 100_000_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * Asks the registry for the advisories of everything in the lockfile of `root`. Returns the reason as text when it
 * can't be asked. `env` is the environment of npm.
 */
export async function readAdvisories(root: string, env = process.env): Promise<readonly Advisory[] | string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const args = ['audit', '--json', '--package-lock-only']
  // The exit code says the same as the report: 1 for findings, and for a registry that does not answer.
  const limits = { cwd: root, env, timeout: ASK_MS, maxBuffer: MAX_REPORT_BYTES }
  execFile('npm', args, limits, (error, stdout) =>
    resolve(stdout === '' ? JSON.stringify({ message: error?.message }) : stdout),
  )
  return advisoriesOf(await promise)
}

function advisoriesOf(text: string): readonly Advisory[] | string {
  const { vulnerabilities, message, error } = JSON.parse(text) as AuditReport
  if (vulnerabilities === undefined) return message ?? error?.summary ?? 'its answer is not understood'
  const findings = Object.values(vulnerabilities).flatMap(({ via }) =>
    via.filter((one): one is Finding => typeof one !== 'string'),
  )
  const found = findings.map(({ name, url, severity, title }) => ({
    id: url.slice(url.lastIndexOf('/') + 1),
    package: name,
    severity,
    title,
  }))
  return [...new Map(found.map((one) => [keyOf(one), one])).values()]
}

const keyOf = (one: { readonly id: string; readonly package: string }): string => `${one.id} of ${one.package}`

/**
 * Returns a sentence for each advisory without an exception, and for each exception that is badly written, past its
 * day, or of no use. `advisories` is `undefined` when nobody could be asked; `today` is a day as 2026-11-18.
 */
export function auditProblems(
  advisories: readonly Advisory[] | undefined,
  exceptions: readonly AuditException[],
  today: string,
): string[] {
  const excepted = new Set(exceptions.map(keyOf))
  const open = (advisories ?? []).filter((one) => !excepted.has(keyOf(one)))
  const known = advisories === undefined ? undefined : new Set(advisories.map(keyOf))
  return [
    ...open.map((one) => `${keyOf(one)} (${one.severity}): ${one.title}. Update the package, or write an exception.`),
    ...exceptions.flatMap((one) =>
      exceptionProblems(one, today).map((text) => `The exception of ${keyOf(one)} ${text}`),
    ),
    ...exceptions
      .filter((one) => known !== undefined && !known.has(keyOf(one)))
      .map((one) => `The exception of ${keyOf(one)} is of no use any more: delete it.`),
  ]
}

function exceptionProblems({ reason, reviewBy }: AuditException, today: string): string[] {
  if (reason.trim() === '') return ['has no reason: write why it does no harm.']
  if (!DAY.test(reviewBy)) return ['has no day of review: write it as 2027-01-31.']
  return reviewBy < today ? [`had to be looked at by ${reviewBy}: look again, then set another day.`] : []
}
