import type { Address, Hex } from '@bezel/protocol'
import type { ChainBlock } from '../chain/blocks.ts'
import { isChangeTopic } from '../chain/diamondWatch.ts'
import { isSettingTopic } from '../chain/marketEvents.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { ChainCommits } from '../journal/commits.ts'
import type { MarketBlock } from '../market/foldedMarkets.ts'
import type { ChainMarketsWatch } from '../market/watchChainMarkets.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { fromExactJson, toExactJson } from '../store/sql.ts'

/** A block as the node that follows a chain tells it to all others, beside the orders and positions that it changed. */
export interface ToldBlock extends MarketBlock, Pick<ChainBlock, 'logsBloom'> {
  readonly senders: readonly Address[]
}

/** A step of the follower, in the commit that makes it. */
export type ToldStep =
  | { readonly kind: 'applied'; readonly blocks: readonly ToldBlock[] }
  /**
   * Blocks were undone; `head` is the last one that is left, if any. `doubted` are those of whom something was found as
   * of one of them, so that no node shows less than there is before it reads who is unproven.
   */
  | { readonly kind: 'undone'; readonly head: FollowedBlock | null; readonly doubted?: readonly Address[] }

/** Returns applied blocks as text for their commit. */
export function tellApplied(blocks: readonly ChainBlock[]): string {
  const step: ToldStep = { kind: 'applied', blocks: blocks.map(toldOf) }
  return toExactJson(step)
}

function toldOf({ block, logsBloom, senders, transactions }: ChainBlock): ToldBlock {
  const told = transactions
    .map(({ marketEvents, topics, undecoded }) => ({ marketEvents, topics: topics.filter(isToldTopic), undecoded }))
    .filter(({ marketEvents, topics, undecoded }) => marketEvents.length + topics.length + undecoded.length > 0)
  return { block, ...(logsBloom !== undefined && { logsBloom }), senders: [...senders], transactions: told }
}

/** True for logs that change markets or the Diamond itself. */
function isToldTopic(topic: Hex): boolean {
  return isSettingTopic(topic) || isChangeTopic(topic)
}

/** Returns the undoing of all blocks after `head` as text for its commit. */
export function tellUndone(head: FollowedBlock | undefined, doubted: readonly Address[]): string {
  const step: ToldStep = { kind: 'undone', head: head ?? null, ...(doubted.length > 0 && { doubted }) }
  return toExactJson(step)
}

export function parseStep(text: string): ToldStep {
  return fromExactJson<ToldStep>(text)
}

/** Returns the last block after a step; `undefined` when none is left. */
export function headAfter(step: ToldStep): FollowedBlock | undefined {
  return step.kind === 'applied' ? step.blocks.at(-1)?.block : (step.head ?? undefined)
}

/** Longest wait for an own step that is committed. */
const OWN_STEP_MS = 2_000

/** Passes steps on to the markets of a chain. */
export interface MarketSteps {
  /** Takes a step into account, at once unless the markets are just being read for an earlier one. */
  take(step: ToldStep): void
  /** Takes into account that steps are missing, as `take` does. */
  takeGap(): void
  /**
   * Resolves when all steps so far are taken into account, also an own one that is held back while commits of other
   * nodes before it are missing. Throws when that takes long: the next block needs the markets of the last one.
   */
  settled(): Promise<void>
}

/**
 * Creates the way of steps to the markets: one after the other, because markets that are read for one of them would
 * replace what a later one told. Those that wait meanwhile are taken together. `commits` bring the own steps, too.
 */
export function createMarketSteps(
  watch: Pick<ChainMarketsWatch, 'note' | 'noteUndone' | 'noteGap'>,
  commits?: Pick<ChainCommits, 'reached' | 'written'>,
): MarketSteps {
  let waiting: (ToldStep | 'gap')[] = []
  let isTaking = false
  let done: Promise<void> = Promise.resolve()

  async function takeAll(): Promise<void> {
    isTaking = true
    while (waiting.length > 0) {
      const steps = waiting
      waiting = []
      for (const step of joined(steps)) {
        if (step === 'gap') watch.noteGap()
        else if (step.kind === 'applied') await watch.note(step.blocks)
        else await watch.noteUndone(step.head ?? undefined)
      }
    }
    isTaking = false
  }

  function add(step: ToldStep | 'gap'): void {
    waiting.push(step)
    if (!isTaking) done = takeAll()
  }

  return {
    take: add,
    takeGap: () => add('gap'),
    async settled() {
      if (commits !== undefined && !(await commits.reached(commits.written(), OWN_STEP_MS))) {
        throw new StoreUnavailableError('what other nodes committed before the own step could not be read in time')
      }
      await done
    },
  }
}

/** Longest wait of a new leader for one answer about what others committed. It asks again. */
const OTHERS_MS = 1_000

/**
 * Returns the markets for a node that begins to follow a chain: `undefined` until they have every step that was
 * committed before, by whoever followed until then. A call that finds them behind asks for what is missing.
 */
export function marketsOfLeader<Markets>(
  markets: () => Markets | undefined,
  commits: Pick<ChainCommits, 'settled'>,
  steps: Pick<MarketSteps, 'settled'>,
): () => Markets | undefined {
  let isAsking = false
  let isSettled = false

  async function settle(): Promise<void> {
    isAsking = true
    const hasAll = await commits.settled(OTHERS_MS)
    // A failure is that of a store that is away: what others committed is not known then.
    isSettled =
      hasAll &&
      (await steps.settled().then(
        () => true,
        () => false,
      ))
    isAsking = false
  }

  return () => {
    if (isSettled) return markets()
    if (!isAsking) void settle()
    return undefined
  }
}

/** Joins steps of one kind that follow each other, so that markets are read once for all of them. */
function joined(steps: readonly (ToldStep | 'gap')[]): (ToldStep | 'gap')[] {
  const some: (ToldStep | 'gap')[] = []
  for (const step of steps) {
    const last = some.at(-1)
    if (last === undefined || last === 'gap' || step === 'gap' || last.kind !== step.kind) some.push(step)
    else if (last.kind === 'applied' && step.kind === 'applied') {
      some[some.length - 1] = { kind: 'applied', blocks: [...last.blocks, ...step.blocks] }
    } else some[some.length - 1] = step
  }
  return some
}
