import process from 'node:process'
import { runStories, TRADING_STORIES } from './tradingStories.ts'

// `npm run test:live` runs the stories of trading, native and by the facade, with every service behind two stand-ins
// for providers that have limits, and with blocks as slow as live ones (packages/testkit/src/live/testProviders.ts).
// With arguments only the stories whose path contains one of them.

process.exitCode = await runStories(TRADING_STORIES, process.argv.slice(2), { TEST_PROVIDERS: 'live' })
