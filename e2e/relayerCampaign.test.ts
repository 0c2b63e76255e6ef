import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runRelayerCampaign } from './relayerCampaign/runRelayerCampaign.ts'

const { env } = process
/**
 * The number of kills: by default a few within a short time, since machines may be busy. With the setting, as many as
 * it says, without a time limit.
 */
const KILLS = Number(env['CAMPAIGN_KILLS'] ?? 3)
const MAX_SECONDS = Number(env['CAMPAIGN_SECONDS'] ?? (env['CAMPAIGN_KILLS'] === undefined ? 12 : Infinity))
/** The seed. It fixes every choice, but not the timing of processes and network. */
const SEED = Number(env['CAMPAIGN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const TIMEOUT_MS = 240_000 + KILLS * 20_000
const MAX_PROBLEMS_SHOWN = 40

describe('orders through the facade while the relayer is killed again and again', () => {
  it('are neither lost nor sent twice, and end as the chain has them', { timeout: TIMEOUT_MS }, async () => {
    console.log(`CAMPAIGN_SEED=${SEED} CAMPAIGN_KILLS=${KILLS}`)
    const { problems, counts } = await runRelayerCampaign({ seed: SEED, kills: KILLS, maxSeconds: MAX_SECONDS })
    for (const [what, count] of [...counts].toSorted()) console.log(`${String(count).padStart(7)} ${what}`)
    assert.equal(
      problems.length,
      0,
      `seed ${SEED}: ${problems.length} problems\n${problems.slice(0, MAX_PROBLEMS_SHOWN).join('\n')}`,
    )
    // A short campaign on a busy machine may see only a few.
    const countOf = (...names: string[]): number => names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)
    const least = KILLS >= 20 ? countOf('kills while serving', 'kills while starting') : 0
    assert.ok(countOf('orders promised and mined') > least, 'no orders flowed')
    assert.ok(countOf('replays refused', 'replays refused for their age') >= least, 'too few envelopes were replayed')
  })
})
