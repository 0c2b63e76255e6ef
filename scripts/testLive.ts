import { spawn } from 'node:child_process'
import process from 'node:process'

// `npm run test:live` runs the stories of trading, native and by the facade, with every service behind two stand-ins
// for providers that have limits, and with blocks as slow as live ones (packages/testkit/src/live/testProviders.ts).
// With arguments only the stories whose path contains one of them.

const STORIES = [
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

const filters = process.argv.slice(2)
const chosen = STORIES.filter((story) => filters.length === 0 || filters.some((filter) => story.includes(filter)))
if (chosen.length === 0) {
  console.error(`No story has ${filters.join(' or ')} in its path. There are: ${STORIES.join(', ')}`)
  process.exit(1)
}
const child = spawn(process.execPath, [new URL('test.ts', import.meta.url).pathname, ...chosen], {
  stdio: 'inherit',
  env: { ...process.env, TEST_PROVIDERS: 'live' },
})
child.once('exit', (code) => process.exit(code ?? 1))
