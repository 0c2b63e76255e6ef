import { CHAINS, type ChainSlug } from '@bezel/protocol'
import { logsCall } from '../chain/blocks.ts'
import { chainIdCall, type RpcCall } from '../chain/rpcClient.ts'
import type { ProviderSettings, ServedChain } from '../chain/servedChain.ts'
import { counted, failure, lengthOf, ok, warning, type Finding } from './finding.ts'
import { refusalIn, type Probe } from './probe.ts'

/** The sizes of batches that are tried. */
const BATCH_SIZES: readonly number[] = [1, 10, 50, 100]

/** Number of calls in a batch below which a provider is too slow for the reads of a start. */
const SMALL_BATCH = 10

/** The ranges of `eth_getLogs` that are tried, in blocks. */
const LOG_RANGES: readonly number[] = [10, 100, 1_000, 2_000, 10_000]

/** Range of `eth_getLogs`, in blocks, below which catching up takes long. */
const SMALL_RANGE = 100

/** A limit of a provider, as trying found it. */
interface FoundLimit {
  /** The largest accepted size; 0 when none was. */
  readonly accepted: number
  /** The smallest refused size and the words of the refusal; `undefined` when none was refused. */
  readonly refused: { readonly size: number; readonly words: string } | undefined
}

/** Tries sizes from the smallest on until one is refused. */
async function findLimit(
  sizes: readonly number[],
  attempt: (size: number) => Promise<string | undefined>,
): Promise<FoundLimit> {
  let accepted = 0
  for (const size of sizes) {
    const words = await attempt(size)
    if (words !== undefined) return { accepted, refused: { size, words } }
    accepted = size
  }
  return { accepted, refused: undefined }
}

/** Returns the sizes up to a limit of the chains file, and the limit itself. */
function sizesUpTo(sizes: readonly number[], limit: number | undefined): readonly number[] {
  return limit === undefined ? sizes : [...sizes.filter((size) => size < limit), limit]
}

/** Finds the largest batch that a provider answers. */
export async function checkBatchSize(
  probe: Probe,
  { batch: limit }: Omit<ProviderSettings, 'url'>,
): Promise<{ readonly batchSize: number; readonly finding: Finding }> {
  const found = await findLimit(sizesUpTo(BATCH_SIZES, limit), async (size) => {
    const answer = await probe.askPatiently(Array.from({ length: size }, () => chainIdCall))
    return refusalIn(answer, probe.url)
  })
  return { batchSize: Math.max(1, found.accepted), finding: judgeBatchSize(found) }
}

/** Judges the largest batch. */
export function judgeBatchSize({ accepted, refused }: FoundLimit): Finding {
  const name = 'batch size'
  const told = `Batches of ${counted(accepted, 'call')} are answered`
  if (refused === undefined) return ok(name, `${told}.`)
  const not = `of ${counted(refused.size, 'call')} not (${refused.words})`
  if (accepted === 0) {
    return failure(name, `No batch is answered (${refused.words}): take a provider or a plan with batches of JSON-RPC.`)
  }
  if (accepted >= SMALL_BATCH) return ok(name, `${told}, ${not}.`)
  return warning(
    name,
    `${told}, ${not}: reads of many accounts and a start take long, so take a provider or a plan with batches of at least ${SMALL_BATCH}.`,
  )
}

/** Finds the widest range of blocks of which a provider gives the logs at once. */
export async function checkLogRange(
  probe: Probe,
  { slug, diamond }: Pick<ServedChain, 'slug' | 'diamond'>,
  { logRange: limit }: Omit<ProviderSettings, 'url'>,
  head: number,
): Promise<Finding> {
  const found = await findLimit(sizesUpTo(LOG_RANGES, limit), async (size) => {
    const answer = await probe.askPatiently([logsCall(diamond, Math.max(0, head - size + 1), head)])
    return refusalIn(answer, probe.url)
  })
  return judgeLogRange(found, slug, head)
}

const MS_PER_HOUR = 3_600_000

/** Judges the widest range. `head` is the number of the newest block. */
export function judgeLogRange({ accepted, refused }: FoundLimit, slug: ChainSlug, head: number): Finding {
  const name = 'log range'
  if (accepted === 0) {
    return failure(
      name,
      `eth_getLogs of ${counted(refused?.size ?? 0, 'block')} is refused (${refused?.words}): take a provider or a plan that gives logs by range.`,
    )
  }
  const hourBlocks = Math.ceil(MS_PER_HOUR / CHAINS[slug].blockMs)
  const young = head + 1 < accepted ? ` (the chain has only ${counted(head + 1, 'block')})` : ''
  const not = refused === undefined ? '' : `, of ${refused.size.toLocaleString('en-US')} not (${refused.words})`
  const calls = counted(Math.ceil(hourBlocks / accepted), 'call')
  const told = `eth_getLogs of ${counted(accepted, 'block')} is answered${young}${not}: an hour of absence is caught up with ${calls}`
  if (accepted >= SMALL_RANGE) return ok(name, `${told}.`)
  return warning(
    name,
    `${told}, so take a plan with at least ${counted(SMALL_RANGE, 'block')} if it is ever away for long.`,
  )
}

/** The number of calls of a burst, and how many of them are under way at a time. */
const BURST_CALLS = 50
const CALLS_AT_ONCE = 10

/** Compute units of `eth_getBlockByNumber`, as in the table of docs/live.md. */
const BLOCK_UNITS = 20

const newestBlockCall: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }

/** Sends a short burst of cheap calls and tells how many of them were refused for their rate. */
export async function checkRate(probe: Probe, { unitsPerSecond }: Omit<ProviderSettings, 'url'>): Promise<Finding> {
  const planned = unitsPerSecond === undefined ? BURST_CALLS : Math.floor(unitsPerSecond / BLOCK_UNITS)
  const calls = Math.max(1, Math.min(BURST_CALLS, planned))
  const startedMs = performance.now()
  const refusals: string[] = []
  let failed = 0
  for (let from = 0; from < calls; from += CALLS_AT_ONCE) {
    const wave = Array.from({ length: Math.min(CALLS_AT_ONCE, calls - from) }, () => probe.ask([newestBlockCall]))
    for (const answer of await Promise.all(wave)) {
      if (answer.kind === 'refused' && answer.isRate) refusals.push(answer.words)
      else if (answer.kind !== 'answered') failed += 1
    }
  }
  return judgeRate({ calls, refusals, failed, elapsedMs: performance.now() - startedMs })
}

interface Burst {
  readonly calls: number
  /** The words of the provider about calls that came too fast. */
  readonly refusals: readonly string[]
  /** Number of calls that were not answered for another reason. */
  readonly failed: number
  readonly elapsedMs: number
}

/** Judges a burst by what was seen, and no more: a provider may count over a minute or a month. */
export function judgeRate({ calls, refusals, failed, elapsedMs }: Burst): Finding {
  const name = 'rate'
  const told = `${counted(calls, 'call')} of eth_getBlockByNumber in ${lengthOf(elapsedMs)}`
  const [words] = refusals
  if (words !== undefined) {
    return warning(
      name,
      `Of ${told} ${refusals.length} were refused as too many (${words}): the service slows down then, so take a plan with a higher rate if that lasts.`,
    )
  }
  if (failed > 0)
    return warning(name, `Of ${told} ${failed} had no answer: look at the provider's own page for the reason.`)
  return ok(name, `${told}: none was refused.`)
}
