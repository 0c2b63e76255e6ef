import { hostileActs, tradingStops } from './actions/hostile.ts'
import { oracleAnswersLate, oraclesAnswer } from './actions/answers.ts'
import { traderActs, traderDelegates } from './actions/intents.ts'
import * as surroundings from './actions/surroundings.ts'
import { drift, type Action, type Campaign, type Step } from './campaign.ts'
import { createCoverage } from './coverage.ts'
import { createGround } from './ground.ts'
import { MARKETS } from './market.ts'
import { createRandom } from './random.ts'
import { keyOf, takeSnapshot } from './snapshot.ts'
import { MARKET_TIMEOUT_BLOCKS, TRIGGER_TIMEOUT_BLOCKS } from './timeouts.ts'

const ACTIONS: readonly Action[] = [
  traderActs,
  traderDelegates,
  oraclesAnswer,
  oracleAnswersLate,
  surroundings.keeperTriggers,
  surroundings.timePasses,
  surroundings.priceJumps,
  surroundings.traderIsFunded,
  surroundings.limitTightens,
  hostileActs,
  tradingStops,
]

/** Deploys a Diamond of its own and sets it up for a campaign. */
export async function prepareCampaign(seed: number): Promise<Campaign> {
  const ground = await createGround()
  await ground.govern('updateMarketOrdersTimeoutBlocks', [MARKET_TIMEOUT_BLOCKS])
  await ground.govern('updateTriggerTimeoutBlocks', [TRIGGER_TIMEOUT_BLOCKS])
  await surroundings.fundTriggers(ground)
  await surroundings.chargePerBlock(ground)
  return {
    ground,
    random: createRandom(seed),
    coverage: createCoverage(),
    snapshot: await takeSnapshot(ground),
    prices: new Map(MARKETS.map(({ pairIndex, startPrice }) => [pairIndex, startPrice])),
    delegates: new Map(),
    attempts: new Map(),
    requests: new Map(),
  }
}

/** Takes one random step. `onAction` gets the name of each action that is tried. */
export async function takeRandomStep(c: Campaign, onAction: (name: string) => void = () => undefined): Promise<Step> {
  drift(c)
  for (;;) {
    const { name, run } = c.random.weighted(ACTIONS)
    onAction(name)
    const step = await run(c)
    if (step !== undefined) return step
  }
}

/** Notes the price requests that a step made, so that the oracles can answer them. */
export function noteRequests(c: Campaign, { receipts }: Step): void {
  for (const event of receipts.flatMap(({ events }) => events)) {
    if (event.eventName !== 'PendingOrderStored') continue
    const { pendingOrder: order } = event.args
    c.requests.set(keyOf(order), { order, createdTs: c.ground.timestampS(), answeredBy: new Set() })
  }
}
