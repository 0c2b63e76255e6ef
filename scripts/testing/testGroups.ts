import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Test files in the order they start. `close` removes the files made for the groups. */
interface TestPlan {
  readonly files: readonly string[]
  close(): void
}

/**
 * The number of unit-test files that share one process. Larger groups save process starts, smaller ones use both cores
 * to the end.
 */
const GROUP_SIZE = 25
/** Paths of the slowest files, slowest first: one that starts last would keep a single core busy at the end. */
const LONGEST_FIRST = [
  'e2e/fuzz.test.ts',
  'contracts/test/conservation.test.ts',
  'e2e/candles.test.ts',
  'e2e/live/faultSchedules.test.ts',
  'packages/server/src/follower/reorg.chain.test.ts',
  'e2e/examples.test.ts',
  'e2e/streamCampaign.test.ts',
  'e2e/notifications.test.ts',
  'e2e/outages.test.ts',
  'e2e/relayerCampaign.test.ts',
  'e2e/killCampaign.test.ts',
  'e2e/console/wallets.test.ts',
  'e2e/console/screens.test.ts',
  'e2e/console/outage.test.ts',
  'e2e/sdk/sdkTrading.test.ts',
  'e2e/facade/ccxt.test.ts',
  'scripts/startEverything.test.ts',
  'e2e/cli/cli.test.ts',
  'e2e/cli/cliRefusals.test.ts',
  'e2e/cli/terminal.test.ts',
]
/** Paths of stories, which start processes and wait for them, and of tests of whole programs. */
const STORIES = /^(e2e|scripts)\/|\.chain\.test\.ts$|\/main\.test\.ts$/
/** Words in tests that measure or change the whole process, and so need their own. */
const OWN_PROCESS = /memoryUsage|heapStatistics|\bgc\b|process\.(exit|chdir|env\.\w+ =)|globalThis\.\w+ =/
const TOGETHER = pathToFileURL(join(import.meta.dirname, 'runTogether.ts')).href

/**
 * Plans the processes of a test run: the longest files first, then the other stories, each in a process of its own,
 * then the unit tests in groups of one process each.
 */
export function planTests(files: readonly string[]): TestPlan {
  const isAlone = (file: string): boolean =>
    LONGEST_FIRST.includes(file) || STORIES.test(file) || OWN_PROCESS.test(readFileSync(file, 'utf8'))
  const alone = files.filter(isAlone).toSorted((a, b) => rank(a) - rank(b))
  const groups = chunks(files.filter((file) => !isAlone(file)))
  const folder = mkdtempSync(join(tmpdir(), 'bezel-tests-'))
  return {
    files: [...alone, ...groups.map((group, index) => writeGroup(folder, index, group))],
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function rank(file: string): number {
  const place = LONGEST_FIRST.indexOf(file)
  if (place >= 0) return place
  return LONGEST_FIRST.length + (STORIES.test(file) ? 0 : 1)
}

/**
 * Splits the files into groups of about the same size. Neighbours stay together, because they import the same modules.
 */
function chunks(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / GROUP_SIZE)
  return Array.from({ length: count }, (_, index) =>
    files.slice(Math.floor((index * files.length) / count), Math.floor(((index + 1) * files.length) / count)),
  )
}

/** Writes the file that runs a group. Each group has one, because node's runner starts files without arguments. */
function writeGroup(folder: string, index: number, files: readonly string[]): string {
  const path = join(folder, `group-${index + 1}.test.mjs`)
  const urls = files.map((file) => [file, pathToFileURL(resolve(file)).href])
  writeFileSync(path, `import { runTogether } from '${TOGETHER}'\nawait runTogether(${JSON.stringify(urls)})\n`)
  return path
}
