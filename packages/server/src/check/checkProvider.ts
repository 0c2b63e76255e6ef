import { CHAINS, type ChainSlug } from '@bezel/protocol'
import { numberToHex } from 'viem'
import { parseBlock } from '../chain/blocks.ts'
import { diamondCall } from '../chain/diamondCalls.ts'
import { MULTICALL_ADDRESS } from '../chain/multicallClient.ts'
import { chainIdCall, type RpcCall } from '../chain/rpcClient.ts'
import type { ProviderSettings, ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { counted, failure, lengthOf, note, ok, warning, type Finding, type Progress } from './finding.ts'
import { createProbe, firstResult, refusalIn, type Probe } from './probe.ts'
import { checkBatchSize, checkLogRange, checkRate } from './providerLimits.ts'

/** A provider that was checked. */
export interface CheckedProvider {
  readonly probe: Probe
  readonly findings: readonly Finding[]
  /** The facts that further checks of the chain need; `undefined` when the provider can't serve the chain at all. */
  readonly usable: UsableProvider | undefined
}

/** The facts about a provider that answers, and is on the right chain. */
export interface UsableProvider {
  readonly head: FollowedBlock
  readonly batchSize: number
  readonly hasDiamond: boolean
  /** False where Multicall3 is missing, so that every view is a call of its own. */
  readonly hasMulticall: boolean
}

interface CheckProviderOptions {
  readonly chain: ServedChain
  readonly provider: ProviderSettings
  readonly now: () => number
  readonly progress: Progress
}

/** Checks one provider of a chain. Never throws. */
export async function checkProvider(options: CheckProviderOptions): Promise<CheckedProvider> {
  const { chain, provider, now, progress } = options
  const probe = createProbe({ url: provider.url, now })
  const findings: Finding[] = []
  const end = (last: Finding): CheckedProvider => ({ probe, findings: [...findings, last], usable: undefined })

  progress('answer')
  const first = await probe.askPatiently([chainIdCall])
  if (first.kind !== 'answered') return end(noAnswer(first.words, first.kind))
  findings.push(ok('answer', `The first answer took ${lengthOf(first.elapsedMs)}.`))
  const chainFinding = judgeChainId(firstResult(first), chain)
  if (chainFinding.mark === 'failure') return end(chainFinding)
  findings.push(chainFinding)

  const head = await readHead(probe)
  if (typeof head === 'string')
    return end(failure('newest block', `It gives no newest block (${head}): take another provider.`))
  findings.push(judgeHeadAge(now() - head.timestampMs, chain.slug))
  const code = await readCode(probe, chain.diamond)
  const hasDiamond = code !== undefined && code !== '0x'
  findings.push(judgeDiamondCode(code, chain))
  if (chain.finality === 'tag') findings.push(await checkFinalized(probe, head.number))
  const multicall = await checkMulticall(probe)
  findings.push(multicall.finding)
  if (hasDiamond) findings.push(await checkPastState(probe, chain, head.number))

  progress('batch size')
  const batch = await checkBatchSize(probe, provider)
  findings.push(batch.finding)
  progress('log range')
  findings.push(await checkLogRange(probe, chain, provider, head.number))
  progress('rate')
  findings.push(await checkRate(probe, provider))
  const usable = { head, batchSize: batch.batchSize, hasDiamond, hasMulticall: multicall.isThere }
  return { probe, findings, usable }
}

function noAnswer(words: string, kind: 'refused' | 'silent'): Finding {
  const remedy =
    kind === 'silent'
      ? 'see that the node runs, that its address in the chains file is right and that this machine reaches it'
      : 'see that the key in its address is valid and that its plan has this chain'
  return failure('answer', `It ${kind === 'silent' ? 'does not answer' : 'refuses'} (${words}): ${remedy}.`)
}

/** Judges the chain that a node says it is on. */
export function judgeChainId(said: unknown, { slug, chainId }: Pick<ServedChain, 'slug' | 'chainId'>): Finding {
  const id = typeof said === 'string' && /^0x[0-9a-f]{1,13}$/i.test(said) ? Number(said) : undefined
  if (id === chainId) return ok('chain id', `It is on ${slug}, chain ${chainId}.`)
  const other = id === undefined ? 'does not say on which chain it is' : `is on chain ${id}`
  return failure('chain id', `It ${other}, and ${slug} is ${chainId}: correct its address in the chains file.`)
}

/** Reads the newest block; the provider's words when it gives none. */
async function readHead(probe: Probe): Promise<FollowedBlock | string> {
  const answer = await probe.askPatiently([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const words = refusalIn(answer, probe.url)
  if (words !== undefined) return words
  try {
    return parseBlock(firstResult(answer))?.block ?? 'null'
  } catch (error) {
    if (error instanceof NodeUnavailableError) return error.message
    throw error
  }
}

/** Age, beyond two blocks and the whole seconds of their times, from which a newest block is worth a warning. */
const OLD_HEAD_MS = 2_000

/** Age from which a newest block is one of a node that does not follow its chain. */
const DEAD_HEAD_MS = 30_000

const BLOCK_TIME_STEP_MS = 1_000

/** Judges the age of the newest block by this machine's clock; negative for a block of the future. */
export function judgeHeadAge(ageMs: number, slug: ChainSlug): Finding {
  const name = 'newest block'
  if (ageMs < 0) {
    const told = `The newest block is ${lengthOf(-ageMs)} in the future by this machine's clock`
    if (-ageMs <= OLD_HEAD_MS) return ok(name, `${told}.`)
    const judged = -ageMs > DEAD_HEAD_MS ? failure : warning
    return judged(name, `${told}: set the clock, for instance by NTP.`)
  }
  const told = `The newest block is ${lengthOf(ageMs)} old by this machine's clock`
  if (ageMs > DEAD_HEAD_MS) {
    return failure(
      name,
      `${told}: the node does not follow its chain, or this machine's clock is wrong. Take another node, or set the clock.`,
    )
  }
  const usualMs = 2 * CHAINS[slug].blockMs + BLOCK_TIME_STEP_MS
  if (ageMs <= usualMs + OLD_HEAD_MS) return ok(name, `${told}.`)
  return warning(
    name,
    `${told}, where a block takes ${lengthOf(CHAINS[slug].blockMs)}: run the check again, and look at the clock and the node if it stays.`,
  )
}

async function readCode(probe: Probe, address: string): Promise<string | undefined> {
  const code = firstResult(await probe.askPatiently([{ method: 'eth_getCode', params: [address, 'latest'] }]))
  return typeof code === 'string' ? code : undefined
}

function judgeDiamondCode(code: string | undefined, { slug, diamond }: Pick<ServedChain, 'slug' | 'diamond'>): Finding {
  if (code === undefined) return failure('Diamond', `It does not say what is at ${diamond}: take another provider.`)
  if (code !== '0x') return ok('Diamond', `There is a contract at ${diamond}.`)
  return failure('Diamond', `There is no contract at ${diamond} on ${slug}: correct the diamond in the chains file.`)
}

async function checkFinalized(probe: Probe, head: number): Promise<Finding> {
  const answer = await probe.askPatiently([{ method: 'eth_getBlockByNumber', params: ['finalized', false] }])
  const { number } = (firstResult(answer) ?? {}) as { readonly number?: unknown }
  if (typeof number === 'string' && /^0x[0-9a-f]{1,13}$/i.test(number)) {
    const behind = Math.max(0, head - Number(number))
    return ok('finalized', `The finalized block is ${counted(behind, 'block')} behind the newest one.`)
  }
  const words = refusalIn(answer, probe.url) ?? 'it has none'
  return failure(
    'finalized',
    `It names no finalized block (${words}): take another provider, or set finality of the chain to {"seconds": n} in the chains file.`,
  )
}

async function checkMulticall(probe: Probe): Promise<{ readonly isThere: boolean; readonly finding: Finding }> {
  const code = await readCode(probe, MULTICALL_ADDRESS)
  const isThere = code !== undefined && code !== '0x'
  return {
    isThere,
    finding: isThere
      ? ok('Multicall3', 'It is there, so that up to 50 reads are one call.')
      : warning(
          'Multicall3',
          'It is not there, so every read of markets is a call of its own: expect up to 50 times as many, or take a chain that has it.',
        ),
  }
}

/** Age of a block whose state must still be there: a snapshot reads at one block for about that long. */
const PAST_MS = 60_000

async function checkPastState(probe: Probe, { slug, diamond }: ServedChain, head: number): Promise<Finding> {
  const blocks = Math.ceil(PAST_MS / CHAINS[slug].blockMs)
  const number = Math.max(0, head - blocks)
  const call: RpcCall = diamondCall(diamond, 'pairsCount', [], numberToHex(number)).call
  const words = refusalIn(await probe.askPatiently([call]), probe.url)
  if (words === undefined) {
    if (head < blocks)
      return note(
        'past state',
        `The state of block ${number}, its first, is there; the chain is younger than a minute.`,
      )
    return ok('past state', 'The state of a block of a minute ago is there.')
  }
  return failure(
    'past state',
    `The state of block ${number}, a minute ago, is gone (${words}): the first start reads at one block for that long, so take a node that keeps it. No archive is needed.`,
  )
}
