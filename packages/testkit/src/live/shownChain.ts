import { keccak256, stringToHex } from 'viem'
import {
  answerWith,
  jsonFieldsOf,
  meansHead,
  quantityOf,
  refuseWith,
  toQuantityHex,
  type JsonFields,
  type StandInAnswer,
  type StandInCall,
} from './providerRpc.ts'
import type { StandInUpstream } from './providerUpstream.ts'

/** The chain as a provider shows it that is behind, or on a branch of its own. */
export interface ShownChain {
  /** Answers calls from what is shown; `pass` answers those that concern the true chain. */
  answer(calls: readonly StandInCall[], pass: Pass): Promise<StandInAnswer[]>
  /** Returns the head to push instead of a true one; `undefined` when there is none to push. */
  head(header: JsonFields): JsonFields | undefined
}

/** The options of a shown chain. */
interface ShownChainOptions {
  readonly upstream: StandInUpstream
  /** Number of the newest true block that is shown. */
  readonly lastTrue: number
  /**
   * The blocks above it: none, with ranges of logs beyond it cut or refused, or empty ones of another branch, as many
   * as the true chain has.
   */
  readonly above: 'nothing' | 'refusal' | 'otherBranch'
}

type Pass = (calls: readonly StandInCall[]) => Promise<StandInAnswer[]>

/** A call on its way: answered already, or passed on with a look at the answer. */
type Step =
  | { readonly answer: StandInAnswer }
  | {
      readonly call: StandInCall
      readonly look?: (answer: StandInAnswer) => StandInAnswer | Promise<StandInAnswer>
    }

const NODE_ERROR = -32000
const EMPTY_BLOOM = `0x${'00'.repeat(256)}`
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Methods that read the state of a block, with the place of the block among their parameters. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_feeHistory: 1,
}

/** Returns the block whose state a call reads; `undefined` for a call that reads no state. */
export function stateBlockOf({ method, params }: StandInCall): { readonly block: unknown } | undefined {
  const place = STATE_METHODS[method]
  return place === undefined ? undefined : { block: params[place] }
}

/** Creates the chain that is shown. Its other branch begins at the hash of `lastTrue`, so it fits to what is known. */
export async function createShownChain(options: ShownChainOptions): Promise<ShownChain> {
  const { upstream, lastTrue, above } = options
  const fork = jsonFieldsOf(await upstream.ask('eth_getBlockByNumber', [toQuantityHex(lastTrue), false]))
  const branch = createOtherBranch(String(fork.hash), lastTrue)
  const view: View = { ...options, branch }

  return {
    async answer(calls, pass) {
      const steps = await Promise.all(calls.map((call) => stepOf(view, call)))
      const passed = await pass(steps.flatMap((one) => ('call' in one ? [one.call] : [])))
      const answers = passed.values()
      return Promise.all(
        steps.map((one) => {
          if ('answer' in one) return one.answer
          const answer = answers.next().value!
          return one.look?.(answer) ?? answer
        }),
      )
    },
    head(header) {
      const number = quantityOf(header.number) ?? 0
      if (number <= lastTrue) return header
      return above === 'otherBranch' ? branch.blockAt(number, header) : undefined
    },
  }
}

interface View extends ShownChainOptions {
  readonly branch: OtherBranch
}

async function stepOf(view: View, call: StandInCall): Promise<Step> {
  const place = STATE_METHODS[call.method]
  if (place !== undefined) return stepOfState(view, call, place)
  switch (call.method) {
    case 'eth_blockNumber':
      return { answer: answerWith(call, toQuantityHex(await shownHead(view))) }
    case 'eth_getBlockByNumber':
      return stepOfNumber(view, call)
    case 'eth_getBlockByHash':
      return stepOfHash(view, call)
    case 'eth_getLogs':
      return stepOfLogs(view, call)
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt':
      return stepOfTransaction(view, call)
    default:
      return { call }
  }
}

async function shownHead({ above, upstream, lastTrue }: View): Promise<number> {
  return above === 'otherBranch' ? upstream.head() : lastTrue
}

async function stepOfNumber(view: View, call: StandInCall): Promise<Step> {
  const { lastTrue, upstream } = view
  const [block, isFull] = call.params
  const head = await shownHead(view)
  const number = meansHead(block) ? head : quantityOf(block)
  if (number === undefined) {
    // A tag such as `finalized` may lead above what is true here.
    const readLast = async () =>
      answerWith(call, await upstream.ask('eth_getBlockByNumber', [toQuantityHex(lastTrue), isFull]))
    return { call, look: (answer) => (isAbove(view, jsonFieldsOf(answer.result).number) ? readLast() : answer) }
  }
  if (number > head) return { answer: answerWith(call, null) }
  if (number > lastTrue) return { answer: answerWith(call, await readMadeUp(view, number)) }
  return { call: { ...call, params: [toQuantityHex(number), isFull] } }
}

async function stepOfHash(view: View, call: StandInCall): Promise<Step> {
  const own = ownNumberOf(view, call.params[0])
  if (own !== undefined) return { answer: answerWith(call, await readMadeUp(view, own)) }
  const look = (answer: StandInAnswer): StandInAnswer =>
    isAbove(view, jsonFieldsOf(answer.result).number) ? answerWith(call, null) : answer
  return { call, look }
}

async function stepOfLogs(view: View, call: StandInCall): Promise<Step> {
  const { lastTrue, above } = view
  const filter = jsonFieldsOf(call.params[0])
  if (filter.blockHash !== undefined) return stepOfLogsAt(view, call, filter.blockHash)
  const head = await shownHead(view)
  const from = meansHead(filter.fromBlock) ? head : (quantityOf(filter.fromBlock) ?? 0)
  const to = meansHead(filter.toBlock) ? head : (quantityOf(filter.toBlock) ?? 0)
  if (above === 'refusal' && to > head) {
    return { answer: refuseWith(call, NODE_ERROR, 'block range extends beyond current head block') }
  }
  if (from > lastTrue) return { answer: answerWith(call, []) }
  const cut = { ...filter, fromBlock: toQuantityHex(from), toBlock: toQuantityHex(Math.min(to, lastTrue)) }
  return { call: { ...call, params: [cut] } }
}

async function stepOfLogsAt(view: View, call: StandInCall, hash: unknown): Promise<Step> {
  if (ownNumberOf(view, hash) !== undefined) return { answer: answerWith(call, []) }
  const number = await readNumber(view, hash)
  const isKnown = number !== undefined && number <= view.lastTrue
  return isKnown ? { call } : { answer: refuseWith(call, NODE_ERROR, 'unknown block') }
}

/** Reads state at the last true block at most, since the made-up blocks above it change nothing. */
async function stepOfState(view: View, call: StandInCall, place: number): Promise<Step> {
  const block = call.params[place]
  if (block === 'pending' && call.method === 'eth_getTransactionCount') return { call }
  const { blockHash } = jsonFieldsOf(block)
  const number = blockHash === undefined ? quantityOf(block) : await readNumberShown(view, blockHash)
  const known = meansHead(block) ? view.lastTrue : number
  if (known === undefined || known > (await shownHead(view))) {
    return { answer: refuseWith(call, NODE_ERROR, 'header not found') }
  }
  const params = Array.from({ length: Math.max(call.params.length, place + 1) }, (_, at) =>
    at === place ? toQuantityHex(Math.min(known, view.lastTrue)) : call.params[at],
  )
  return { call: { ...call, params } }
}

function stepOfTransaction(view: View, call: StandInCall): Step {
  const unmined = { blockHash: null, blockNumber: null, transactionIndex: null }
  return {
    call,
    look(answer) {
      const found = jsonFieldsOf(answer.result)
      if (!isAbove(view, found.blockNumber)) return answer
      return answerWith(call, call.method === 'eth_getTransactionByHash' ? { ...found, ...unmined } : null)
    },
  }
}

function isAbove({ lastTrue }: View, number: unknown): boolean {
  return (quantityOf(number) ?? 0) > lastTrue
}

/** Returns the number of a block of the other branch; `undefined` when the hash is none of a block that is shown. */
function ownNumberOf({ above, branch }: View, hash: unknown): number | undefined {
  return above === 'otherBranch' ? branch.numberOf(hash) : undefined
}

async function readMadeUp({ branch, upstream }: View, number: number): Promise<JsonFields> {
  return branch.blockAt(
    number,
    jsonFieldsOf(await upstream.ask('eth_getBlockByNumber', [toQuantityHex(number), false])),
  )
}

async function readNumber({ upstream }: View, hash: unknown): Promise<number | undefined> {
  return quantityOf(jsonFieldsOf(await upstream.ask('eth_getBlockByHash', [hash, false])).number)
}

/** Reads the number of a block that is shown; `undefined` for a block of the true chain that is hidden. */
async function readNumberShown(view: View, hash: unknown): Promise<number | undefined> {
  const own = ownNumberOf(view, hash)
  if (own !== undefined) return own
  const number = await readNumber(view, hash)
  return number === undefined || number > view.lastTrue ? undefined : number
}

/** Empty blocks on top of a true one. */
interface OtherBranch {
  /** Returns the block of this number, with the times and limits of a true one. */
  blockAt(number: number, like: JsonFields): JsonFields
  /** Returns the number of the block with this hash; `undefined` for a block that is not of this branch. */
  numberOf(hash: unknown): number | undefined
}

function createOtherBranch(forkHash: string, fork: number): OtherBranch {
  const known = new Map<unknown, number>()
  const hashAt = (number: number): string => {
    const hash = number === fork ? forkHash : keccak256(stringToHex(`${forkHash} ${number}`))
    if (number > fork) known.set(hash, number)
    return hash
  }
  return {
    numberOf: (hash) => known.get(hash),
    blockAt: (number, like) => ({
      ...like,
      number: toQuantityHex(number),
      hash: hashAt(number),
      parentHash: hashAt(number - 1),
      logsBloom: EMPTY_BLOOM,
      receiptsRoot: EMPTY_ROOT,
      transactionsRoot: EMPTY_ROOT,
      gasUsed: '0x0',
      transactions: [],
    }),
  }
}
