import { CHAINS, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { parseBlock, resultOf } from './blocks.ts'
import type { RpcCall, RpcOutcome } from './rpcClient.ts'

/** The rule by which blocks of a chain become final: the node's `finalized` tag, or a number of blocks on top. */
export type FinalityRule = 'tag' | { readonly blocks: number }

/** Judges which blocks are final. One per chain: the follower asks the node for it, everybody else reads it. */
export interface Finality {
  /**
   * Returns the newest block that is final, as seen from `head`: the last followed block, or the node's newest one.
   * Negative when there is none. May go back when the node does; what was done for a final block stays done.
   */
  lastFinal(head: number): number
  /** Returns the calls to add to the next batch; mostly none. `answered` takes their outcomes. */
  calls(): readonly RpcCall[]
  answered(outcomes: readonly RpcOutcome[]): void
}

/** The rule of a chain whose chains file names none and whose Diamond is not the live one. */
const LOCAL_RULE: FinalityRule = { blocks: 64 }

/**
 * The rules of the live chains. The tag is final on Ethereum (Arbitrum, Base) or by a milestone of the validators
 * (Polygon). No source establishes the tag of MegaETH's nodes: an hour is twice the time in which chains of its kind
 * are final on Ethereum.
 */
const LIVE_RULES: Readonly<Record<ChainSlug, FinalityRule>> = {
  arbitrum: 'tag',
  base: 'tag',
  polygon: 'tag',
  megaeth: { blocks: blocksIn(3_600, 'megaeth') },
  'arbitrum-sepolia': 'tag',
}

/**
 * Reads the rule of a chain's entry in the chains file: `finality` is `"tag"`, `{"seconds": n}` or `{"blocks": n}`, and
 * `finalityDepth: n` another way to say the last. Returns `undefined` for anything else.
 */
export function parseFinality(
  { finality, finalityDepth }: { readonly finality?: unknown; readonly finalityDepth?: unknown },
  { slug, isLive }: { readonly slug: ChainSlug; readonly isLive: boolean },
): FinalityRule | undefined {
  if (finality === undefined && finalityDepth === undefined) return isLive ? LIVE_RULES[slug] : LOCAL_RULE
  if (finality !== undefined && finalityDepth !== undefined) return undefined
  if (finality === 'tag') return finality
  const { blocks, seconds, ...others } = (finality ?? { blocks: finalityDepth }) as Readonly<Record<string, unknown>>
  const count = blocks ?? seconds
  if (Object.keys(others).length > 0 || (blocks !== undefined && seconds !== undefined)) return undefined
  if (!Number.isSafeInteger(count) || Number(count) < 1) return undefined
  return { blocks: blocks === undefined ? blocksIn(Number(count), slug) : Number(count) }
}

/** Returns the number of blocks that take at least this time at the chain's nominal pace. */
function blocksIn(seconds: number, slug: ChainSlug): number {
  return Math.ceil((seconds * 1_000) / CHAINS[slug].blockMs)
}

/** Returns the finality of a chain by depth: a block is final with `blocks` others on top of it. */
export function depthFinality(blocks: number): Finality {
  return { lastFinal: (head) => head - blocks, calls: () => [], answered: () => undefined }
}

const finalizedCall: RpcCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }

/** Interval between two questions for the tag. It moves every few seconds on Polygon, and in minutes elsewhere. */
const ASK_MS = 15_000

/**
 * The newest blocks that are never final, whatever the node says: some nodes call their newest block finalized. Live
 * tags are further behind.
 */
const MIN_BLOCKS = 8

/**
 * Time after which a block is final without the tag, so that a node whose tag stands still does not fill the store with
 * blocks that are kept to be undone. Far longer than any chain takes while Ethereum is final.
 */
const MAX_SECONDS = 6 * 3_600

/** Time without an answer after which the operator is told. */
const SILENCE_MS = 60_000

interface FinalityOptions {
  readonly chain: { readonly slug: ChainSlug; readonly finality: FinalityRule; readonly confirmFinality?: boolean }
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Resolves to true when a second provider has the same final block, or none is needed. Left out: none is. */
  readonly confirm?: (block: Pick<FollowedBlock, 'number' | 'hash'>) => Promise<boolean>
}

/**
 * Creates the finality of a chain. With the tag the node's last answer counts, within bounds that hold whatever it
 * answers: between `MIN_BLOCKS` and `MAX_SECONDS` behind the head. A lie is over with the next true answer.
 */
export function createFinality({ chain, now, log, confirm }: FinalityOptions): Finality {
  const { slug, finality: rule } = chain
  if (rule !== 'tag') return depthFinality(rule.blocks)
  const maxBlocks = blocksIn(MAX_SECONDS, slug)
  let tagged = -1
  let askedAtMs = Number.NEGATIVE_INFINITY
  let answeredAtMs = now()
  let isTold = false

  /** Believes a final block, once a second provider has it too. */
  async function take(block: FollowedBlock): Promise<void> {
    if (chain.confirmFinality !== false && confirm !== undefined && !(await confirm(block))) return
    tagged = block.number
  }

  return {
    lastFinal: (head) => Math.max(Math.min(tagged, head - MIN_BLOCKS), head - maxBlocks),
    calls: () => (now() - askedAtMs < ASK_MS ? [] : [finalizedCall]),
    answered(outcomes) {
      if (outcomes.length === 0) return
      askedAtMs = now()
      const block = blockIn(outcomes[0])
      if (block !== undefined) {
        void take(block)
        answeredAtMs = askedAtMs
        isTold = false
      } else if (!isTold && askedAtMs - answeredAtMs > SILENCE_MS) {
        isTold = true
        log.warn(
          { chain: slug },
          'the node names no finalized block: set finality of the chain to {"seconds": n} if it never does',
        )
      }
    },
  }
}

/** Returns the answered block; `undefined` when the node has none, refuses, or garbles it. */
function blockIn(outcome: RpcOutcome | undefined): FollowedBlock | undefined {
  try {
    return parseBlock(resultOf(outcome))?.block
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}
