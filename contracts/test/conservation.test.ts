import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runCampaign } from './campaign/runCampaign.ts'
import { WANTED_COVERAGE } from './campaign/wantedCoverage.ts'

// A seeded random walk over the real Diamond: five traders, their delegates, a keeper, the oracles, and attackers.
// After each step money, records, open interest and payouts are checked (campaign/checks).
//
// CAMPAIGN_STEPS=10000 makes it longer, CAMPAIGN_SEED=7 takes another walk. A failure names its seed and step, and the
// same seed replays the same steps. From 1,000 steps on, the default walk must have covered everything that is wanted;
// the short walk of a test run most of it.

const DEFAULT_STEPS = 300
const DEFAULT_SEED = 3
const FULL_STEPS = 1_000
/** The share of the wanted coverage that the short walk may leave out. */
const SHORT_WALK_MISSES = 1 / 3

const steps = wholeNumber('CAMPAIGN_STEPS', DEFAULT_STEPS)
const seed = wholeNumber('CAMPAIGN_SEED', DEFAULT_SEED)

it(`money, records and open interest hold through ${steps} random steps`, async (t) => {
  const coverage = await runCampaign({ seed, steps })
  for (const line of coverage.lines()) t.diagnostic(line)
  const missing = coverage.missing(WANTED_COVERAGE)
  if (seed === DEFAULT_SEED && steps >= FULL_STEPS) assert.deepEqual(missing, [], 'the campaign no longer gets there')
  t.diagnostic(`never: ${missing.join(', ')}`)
  if (seed === DEFAULT_SEED && steps >= DEFAULT_STEPS)
    assert.ok(missing.length < WANTED_COVERAGE.length * SHORT_WALK_MISSES, `the campaign never gets to ${missing}`)
})

function wholeNumber(name: string, fallback: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return fallback
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} is a whole number such as ${fallback}, not ${text}`)
  return Number(text)
}
