import assert from 'node:assert/strict'
import type { Campaign, Step } from './campaign.ts'
import { checkAccruals, checkAccumulators } from './checks/accruals.ts'
import { checkExecution } from './checks/executions.ts'
import { checkFlows, checkHoldings } from './checks/money.ts'
import { checkOpenInterest } from './checks/openInterest.ts'
import { checkAllRecords, checkFlags, checkRecords, checkUntouched } from './checks/records.ts'
import type { Coverage } from './coverage.ts'
import { createLedger, record, recordRounding, type Ledger } from './ledger.ts'
import { keyOf, takeSnapshot, type Snapshot } from './snapshot.ts'
import { noteRequests, prepareCampaign, takeRandomStep } from './randomWalk.ts'

/** Steps between two full reads of every index ever assigned, which take a while. */
const STEPS_BETWEEN_FULL_READS = 250

export type CampaignOptions = { seed: number; steps: number }

/**
 * Runs `steps` steps on a fresh Diamond and checks everything after each one. A failure names the seed and the step.
 */
export async function runCampaign({ seed, steps }: CampaignOptions): Promise<Coverage> {
  const campaign = await prepareCampaign(seed)
  const ledger = createLedger()
  try {
    for (let step = 1; step <= steps; step += 1) {
      await takeStep(campaign, ledger, { seed, step })
      if (step % STEPS_BETWEEN_FULL_READS === 0 || step === steps) {
        await checkAllRecords(campaign.ground, ledger, campaign.snapshot)
      }
    }
  } finally {
    await campaign.ground.stop()
  }
  return campaign.coverage
}

async function takeStep(c: Campaign, ledger: Ledger, at: { seed: number; step: number }): Promise<void> {
  let action = ''
  try {
    const step = await takeRandomStep(c, (name) => (action = name))
    await check(c, ledger, step)
  } catch (error) {
    const where = `step ${at.step} (${action}) of the campaign with CAMPAIGN_SEED=${at.seed}`
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Checks everything that must hold after a step. */
async function check(c: Campaign, ledger: Ledger, step: Step): Promise<void> {
  const before = c.snapshot
  const after = await takeSnapshot(c.ground)
  c.snapshot = after
  checkEndings(before, after, step)
  const events = step.receipts.flatMap((receipt) => receipt.events)
  for (const event of events) {
    record(ledger, event)
    recordRounding(ledger, before, after, event)
    c.coverage.countEvent(event)
  }
  noteRequests(c, step)
  for (const trade of after.trades) ledger.trades.set(keyOf(trade), trade)

  checkHoldings(after, ledger, c.ground)
  checkFlows(before, after, step, ledger, c.ground)
  checkRecords(after, ledger)
  checkUntouched(before, after, events)
  checkOpenInterest(after, ledger)
  checkAccruals(before, after, events, c.ground.timestampS())
  await checkFlags(c.ground, ledger, events)
  for (const receipt of step.receipts) {
    await checkAccumulators(before, receipt, c.ground)
    await checkExecution(c, before, after, receipt, ledger)
  }
}

/**
 * Checks that no transaction ends in a panic, and that a step that reverted, or must change nothing, left everything as
 * it was.
 */
function checkEndings(before: Snapshot, after: Snapshot, { receipts, mustEndWith }: Step): void {
  const endings = receipts.map(({ revertedWith }) => revertedWith ?? 'ok')
  for (const ending of endings) {
    assert.doesNotMatch(ending, /^(Panic|unknown|nothing)/)
    if (mustEndWith !== undefined) assert(mustEndWith.includes(ending), `ended with ${ending}, not ${mustEndWith[0]}`)
  }
  if (mustEndWith !== undefined || (endings.length > 0 && !endings.includes('ok'))) {
    assert.deepEqual(after, before, `a step that ended with ${endings.join(', ')} changed something`)
  }
}
