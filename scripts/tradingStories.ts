import { spawn } from 'node:child_process'
import process from 'node:process'

/** The stories of trading, native and by the facade, which also run in surroundings that are less kind. */
export const TRADING_STORIES: readonly string[] = [
  'e2e/accountEvents.test.ts',
  'e2e/accounting.test.ts',
  'e2e/agents.test.ts',
  'e2e/bookAndTrades.test.ts',
  'e2e/books.test.ts',
  'e2e/exactAllowance.test.ts',
  'e2e/firstTrade.test.ts',
  'e2e/flatten.test.ts',
  'e2e/orders.test.ts',
  'e2e/positionUpdates.test.ts',
  'e2e/restart.test.ts',
  'e2e/resume.test.ts',
  'e2e/sizes.test.ts',
  'e2e/stops.test.ts',
  'e2e/facadeProtection.test.ts',
  'e2e/facade/ccxt.test.ts',
  'e2e/facade/clientMethods.test.ts',
  'e2e/facade/nktkas.test.ts',
  'e2e/facade/readOnly.test.ts',
  'e2e/facade/refusals.test.ts',
  'e2e/facade/wholePosition.test.ts',
]

/**
 * Runs the stories whose path contains one of the filters, or all of them without one, with further settings. Returns
 * the exit code.
 */
export async function runStories(
  stories: readonly string[],
  filters: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const chosen = stories.filter((story) => filters.length === 0 || filters.some((filter) => story.includes(filter)))
  if (chosen.length > 0) return runTests(chosen, settings)
  console.error(`No story has ${filters.join(' or ')} in its path. There are: ${stories.join(', ')}`)
  return 1
}

/** Runs the tests whose path contains one of the filters, with further settings. Returns the exit code. */
export function runTests(filters: readonly string[], settings: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((ended) => {
    const child = spawn(process.execPath, [new URL('test.ts', import.meta.url).pathname, ...filters], {
      stdio: 'inherit',
      env: { ...process.env, ...settings },
    })
    // What the tests use is stopped after them, also when somebody ends the run.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('exit', (code) => ended(code ?? 1))
  })
}
