import {
  blockCall,
  logsCall,
  logsOfBlockCall,
  newestHeaderCall,
  parseBlock,
  parseHeader,
  parseLogs,
  resultOf,
  type ChainBlock,
  type RpcBlock,
  type RpcHeader,
  type RpcLog,
} from '../chain/blocks.ts'
import type { BloomTest } from '../chain/bloom.ts'
import type { Finality } from '../chain/finality.ts'
import type { RpcClient, RpcOutcome } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { assembleBlock } from './assembleBlock.ts'
import { hasParts, isTooLong, readLogParts, type LogRange, type LogSpan } from './logParts.ts'
import { requireBlock } from './readBlocks.ts'
import {
  askSecond,
  askSecondParts,
  NO_SECOND,
  withLeftOut,
  type SecondAnswer,
  type WitnessedClient,
} from './secondWitness.ts'
import { askReported, type AwaitedHash, type ReportedReading } from './readReported.ts'

/** The node of a chain that is followed. */
export interface FollowedNode {
  readonly client: WitnessedClient
  readonly chain: Pick<ServedChain, 'diamond'>
  /** Asks for the final block in the same round trip. */
  readonly finality: Pick<Finality, 'calls' | 'answered'>
  /** Returns false when a block certainly has no logs of the Diamond. */
  readonly mayHaveLogs: BloomTest
  readonly logRange: LogRange
  /** The same of the second provider. */
  readonly secondRange: LogRange
}

/** The answer to one look at a node. */
export interface News {
  readonly newest: RpcHeader
  /** The node's block of the number that was asked for; `undefined` when it has none. */
  readonly own: FollowedBlock | undefined
  /** Logs up to the newest block; `undefined` when they were not asked for, or the node refused even their parts. */
  readonly logs: readonly RpcLog[] | undefined
  /** True when a second provider told its logs too, or there is none. */
  readonly isHeard: boolean
  readonly reported: ReportedReading
}

interface NewsWanted {
  /** Number of the last applied block; left out when there is none. */
  readonly ownNumber: number | undefined
  /** First block whose logs are wanted. `undefined`: none are. */
  readonly logsFrom: number | undefined
  readonly awaited: readonly AwaitedHash[]
}

/**
 * Reads the header of the node's newest block, that of the last applied one, and the logs of all blocks between, in one
 * round trip, so that it costs the same however many blocks there are. A provider that takes only few blocks at once is
 * asked for the logs in a second one, in parts. Throws `NodeUnavailableError`.
 */
export async function readNews(node: FollowedNode, { ownNumber, logsFrom, awaited }: NewsWanted): Promise<News> {
  const { client, chain, finality, logRange, secondRange } = node
  const questions = askReported(awaited)
  const isAtOnce = logsFrom !== undefined && !logRange.isNarrow()
  const logQuestion = isAtOnce ? logsCall(chain.diamond, logsFrom, 'latest') : undefined
  const [outcomes, second] = await Promise.all([
    client.batch([
      newestHeaderCall,
      ...(ownNumber === undefined ? [] : [blockCall(ownNumber, false)]),
      ...(logQuestion === undefined ? [] : [logQuestion]),
      ...questions.calls,
      ...finality.calls(),
    ]),
    logQuestion === undefined || secondRange.isNarrow() ? undefined : askSecond(client, chain, logQuestion),
  ])
  const newest = parseHeader(resultOf(outcomes.shift()))
  const own = ownNumber === undefined ? undefined : parseBlock(resultOf(outcomes.shift()))?.block
  const found = logQuestion === undefined ? undefined : outcomes.shift()
  const reported = questions.answered(outcomes.splice(0, questions.calls.length))
  finality.answered(outcomes)
  const known = { newest, own, reported }
  const to = newest.block.number
  if (logsFrom === undefined || to < logsFrom) return { ...known, logs: undefined, isHeard: false }
  const span = { from: logsFrom, to }
  return { ...known, ...(await readNewLogs(node, span, { found, second })) }
}

/** Takes the answers to the question for the logs of a look, or asks for its parts where there is none. */
async function readNewLogs(
  { client, chain, logRange, secondRange }: FollowedNode,
  span: LogSpan,
  { found, second }: { readonly found: RpcOutcome | undefined; readonly second: SecondAnswer | undefined },
): Promise<Pick<News, 'logs' | 'isHeard'>> {
  const refused = { logs: undefined, isHeard: false }
  // The newest block is a claim of the node: however far it is, it must not cost questions without end.
  if (found?.ok !== true && isTooLong(span)) return refused
  if (found?.ok === false) {
    if (!hasParts(span)) return refused
    logRange.refused(span.to - span.from + 1)
  }
  const [own, told] = await Promise.all([
    found?.ok === true
      ? parseLogs(found.result, chain.diamond)
      : readLogParts(client, chain.diamond, { span, range: logRange }),
    second ?? askSecondParts(client, chain, span, secondRange),
  ])
  if (own === undefined) return refused
  if (own.some(({ blockNumber }) => blockNumber < span.from)) {
    throw new NodeUnavailableError('the node gave logs that were not asked for')
  }
  const upToNewest = own.filter(({ blockNumber }) => blockNumber <= span.to)
  return withLeftOut(client, chain, { own: upToNewest, second: told, span, range: secondRange })
}

/**
 * Reads whole blocks, whose logs are known by their numbers. Where there are none although the bloom filter of the
 * block says that there may be some, they are asked for by the block's hash: the node that was asked by number may not
 * have had them yet. Throws `NodeUnavailableError`.
 */
export async function readWholeBlocks(
  { client, chain, mayHaveLogs }: FollowedNode,
  numbers: readonly number[],
  logs: ReadonlyMap<number, readonly RpcLog[]>,
): Promise<ChainBlock[]> {
  const outcomes = await client.batch(numbers.map((number) => blockCall(number, true)))
  const blocks: ChainBlock[] = []
  for (const [i, number] of numbers.entries()) {
    const read = requireBlock(parseBlock(resultOf(outcomes[i])), number)
    const known = logs.get(number) ?? []
    const isDoubted = known.length === 0 && mayHaveLogs(read.logsBloom)
    blocks.push(await assembleBlock(read, isDoubted ? await readLogsOf(client, chain, read) : known, chain.diamond))
  }
  return blocks
}

async function readLogsOf(
  client: RpcClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  { block }: RpcBlock,
): Promise<readonly RpcLog[]> {
  const [outcome] = await client.batch([logsOfBlockCall(diamond, block.hash)])
  return parseLogs(resultOf(outcome), diamond)
}

/**
 * Reads the whole block of a pushed head, with the logs that it may have, in one round trip. Returns `undefined` when
 * the node that answers does not have that block: it is behind the one that pushes, or on another fork. Throws
 * `NodeUnavailableError`.
 */
export async function readPushedBlock(
  { client, chain, finality, mayHaveLogs }: FollowedNode,
  { block, logsBloom }: RpcHeader,
  awaited: readonly AwaitedHash[],
): Promise<{ readonly block: ChainBlock; readonly reported: ReportedReading } | undefined> {
  const questions = askReported(awaited)
  const logQuestion = mayHaveLogs(logsBloom) ? logsOfBlockCall(chain.diamond, block.hash) : undefined
  const [[whole, ...others], second] = await Promise.all([
    client.batch([
      blockCall(block.number, true),
      ...(logQuestion === undefined ? [] : [logQuestion]),
      ...questions.calls,
      ...finality.calls(),
    ]),
    logQuestion === undefined ? NO_SECOND : askSecond(client, chain, logQuestion),
  ])
  const found = logQuestion === undefined ? undefined : others.shift()
  const reported = questions.answered(others.splice(0, questions.calls.length))
  finality.answered(others)
  const read = parseBlock(resultOf(whole))
  if (read?.block.hash !== block.hash) return undefined
  if (logQuestion === undefined) return { block: await assembleBlock(read, [], chain.diamond), reported }
  if (found?.ok !== true) return undefined
  const span = { from: block.number, to: block.number }
  const { logs } = await withLeftOut(client, chain, { own: parseLogs(found.result, chain.diamond), second, span })
  return { block: await assembleBlock(read, logs, chain.diamond), reported }
}
