import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCampaign } from './campaign/runCampaign.ts'

/** A few in every run of the tests; as many as wanted by setting. */
const KILLS = Number(process.env['CAMPAIGN_KILLS'] ?? 4)
/** The seed fixes every choice; the moments that processes and network take are their own. */
const SEED = Number(process.env['CAMPAIGN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const TIMEOUT_MS = 240_000 + KILLS * 20_000
const MAX_PROBLEMS_SHOWN = 40

describe('orders while the service is killed again and again', () => {
  it(`are neither lost nor doubled, and end as the chain has them`, { timeout: TIMEOUT_MS }, async () => {
    console.log(`CAMPAIGN_SEED=${SEED} CAMPAIGN_KILLS=${KILLS}`)
    const { problems, counts } = await runCampaign({ seed: SEED, kills: KILLS })
    for (const [what, count] of [...counts].toSorted()) console.log(`${String(count).padStart(7)} ${what}`)
    assert.equal(
      problems.length,
      0,
      `seed ${SEED}: ${problems.length} problems\n${problems.slice(0, MAX_PROBLEMS_SHOWN).join('\n')}`,
    )
    assert.ok((counts.get('orders acknowledged') ?? 0) > KILLS, 'orders flowed')
    assert.ok((counts.get('replays refused') ?? 0) > 0, 'requests were replayed')
  })
})
