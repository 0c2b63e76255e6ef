import { tooManyRequests, type RateRefusal, type WholeRefusal } from './providerLimits.ts'
import { answerWith, meansHead, refuseWith, type StandInAnswer, type StandInCall } from './providerRpc.ts'
import { stateBlockOf } from './shownChain.ts'

/** The ways in which a provider fails. `every` lets only each nth request fail; default 1, all of them. */
export type StandInFault = PlainFault | AnswerFault | ViewFault

/** Faults that keep the answer back, or put something else in its place. */
type PlainFault =
  | { readonly kind: 'none' }
  /** Cuts every connection. */
  | { readonly kind: 'away' }
  | { readonly kind: 'serverError'; readonly status: 500 | 502 | 503; readonly every?: number }
  /** Never answers. */
  | { readonly kind: 'hanging'; readonly every?: number }
  /** A page with status 200. */
  | { readonly kind: 'notJson'; readonly every?: number }
  /** Sends `GIANT_BYTES` of blanks before anything else. */
  | { readonly kind: 'giant'; readonly every?: number }
  | { readonly kind: 'rateLimited'; readonly form: RateRefusal; readonly every?: number }

/** Faults of good answers that are spoilt. */
type AnswerFault =
  /** Ends the connection in the middle of the answer. */
  | { readonly kind: 'cutConnection'; readonly every?: number }
  /** Answers with the first part of the JSON as if it were all. */
  | { readonly kind: 'cutJson'; readonly every?: number }
  /** Leaves out every second answer of a batch. */
  | { readonly kind: 'leftOut'; readonly every?: number }
  | { readonly kind: 'wrongIds'; readonly every?: number }
  | { readonly kind: 'wrongChain' }
  /** Leaves out all logs, or every second one. The blooms of the blocks stay right. */
  | { readonly kind: 'missingLogs'; readonly part: 'all' | 'half' }
  /** Refuses to read the state of any block that is named, and reads that of the newest. */
  | { readonly kind: 'stateGone'; readonly text: 'trie' | 'header' }
  /** Refuses each third `eth_call` among good answers. */
  | { readonly kind: 'unwilling' }

/** Faults of a provider that shows another chain than there is, beginning when the fault is set. */
type ViewFault =
  /** Stands still so many blocks behind the head of that moment; `refuses` ranges of logs that go beyond it. */
  | { readonly kind: 'staleHead'; readonly behind: number; readonly refuses: boolean }
  /** Shows empty blocks of another branch in place of the last `depth` blocks and all that come after them. */
  | { readonly kind: 'otherBranch'; readonly depth: number }

/** The ways in which a provider's WebSocket fails. */
export type SocketFault =
  | { readonly kind: 'none' }
  /** Answers a subscription with an error. */
  | { readonly kind: 'refuses' }
  /** Accepts the subscription and pushes nothing. */
  | { readonly kind: 'silent' }
  /** Ends every connection, and accepts none. */
  | { readonly kind: 'cut' }
  /** Pushes a head only when so many others came after it. */
  | { readonly kind: 'late'; readonly blocks: number }
  /** Pushes heads that are none, and text that is not JSON. */
  | { readonly kind: 'garbage' }

/** An answer to a whole request: text, or none. */
export type StandInReply =
  (WholeRefusal & { readonly end: 'whole' | 'cut' }) | { readonly end: 'never' | 'noAnswer' | 'giant' }

/** Size of a giant answer, above the most that the service reads of one. */
export const GIANT_BYTES = 80 * 1024 * 1024

/** Number of one refused `eth_call` among the others. */
const UNWILLING_EVERY = 3

/** Difference between a right id and a wrong one. */
const WRONG_ID = 1_000

/** The chain that a provider on the wrong chain tells of. */
const OTHER_CHAIN_ID = '0x1'

const PAGES: Readonly<Record<number, string>> = {
  500: '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}',
  502: '<html><head><title>502 Bad Gateway</title></head></html>',
  503: 'upstream connect error or disconnect/reset before headers',
}

const GONE_TEXTS = {
  trie: `missing trie node ${'c5'.repeat(32)} (path ) state is not available`,
  header: 'header not found',
} as const

/** Returns true when this fault strikes the nth request since it was set; the first one is 1. */
export function isStruck(fault: StandInFault, nth: number): boolean {
  return !('every' in fault) || fault.every === undefined || nth % fault.every === 0
}

/** Returns the reply in place of an answer; `undefined` for a fault that has one. */
export function replyInstead(fault: StandInFault): StandInReply | undefined {
  switch (fault.kind) {
    case 'away':
      return { end: 'noAnswer' }
    case 'hanging':
      return { end: 'never' }
    case 'giant':
      return { end: 'giant' }
    case 'serverError':
      return { end: 'whole', status: fault.status, text: PAGES[fault.status]! }
    case 'notJson':
      return { end: 'whole', status: 200, text: '<!doctype html><title>Sign in</title>' }
    case 'rateLimited':
      return fault.form === 'http429' ? { end: 'whole', ...tooManyRequests(1) } : undefined
    default:
      return undefined
  }
}

/** Returns the refusals of single calls, which then do not reach the node. */
export function refuseItems(
  fault: StandInFault,
  calls: readonly StandInCall[],
): ReadonlyMap<StandInCall, StandInAnswer> {
  const refuse = (of: readonly StandInCall[], code: number, message: string) =>
    new Map(of.map((call) => [call, refuseWith(call, code, message)]))
  if (fault.kind === 'rateLimited') return refuse(calls, fault.form === 'item429' ? 429 : -32005, 'limit exceeded')
  if (fault.kind === 'unwilling') {
    const views = calls.filter(({ method }) => method === 'eth_call')
    return refuse(
      views.filter((_, at) => at % UNWILLING_EVERY === 0),
      -32000,
      'execution aborted (timeout = 5s)',
    )
  }
  if (fault.kind === 'stateGone') {
    const old = calls.filter((call) => {
      const state = stateBlockOf(call)
      return state !== undefined && !meansHead(state.block)
    })
    return refuse(old, -32000, GONE_TEXTS[fault.text])
  }
  return new Map()
}

/** Spoils the good answers to a request; `calls` are those they answer. */
export function spoilAnswers(
  fault: StandInFault,
  calls: readonly StandInCall[],
  answers: readonly StandInAnswer[],
): readonly StandInAnswer[] {
  switch (fault.kind) {
    case 'leftOut':
      return answers.filter((_, at) => at % 2 === 1)
    case 'wrongIds':
      return answers.map((answer) => ({ ...answer, id: Number(answer.id) + WRONG_ID }))
    case 'wrongChain':
      return answers.map((answer, at) => {
        const call = calls[at]!
        return call.method === 'eth_chainId' ? answerWith(call, OTHER_CHAIN_ID) : answer
      })
    case 'missingLogs':
      return answers.map((answer, at) =>
        calls[at]!.method === 'eth_getLogs' ? withoutLogs(answer, fault.part) : answer,
      )
    default:
      return answers
  }
}

function withoutLogs(answer: StandInAnswer, part: 'all' | 'half'): StandInAnswer {
  if (!Array.isArray(answer.result)) return answer
  return { ...answer, result: part === 'all' ? [] : answer.result.filter((_, at) => at % 2 === 1) }
}

/** Returns the reply with this text, cut where the fault cuts. */
export function replyWith(fault: StandInFault, text: string): StandInReply {
  const whole = { end: 'whole', status: 200, text } as const
  if (fault.kind === 'cutConnection') return { ...whole, end: 'cut' }
  if (fault.kind === 'cutJson') return { ...whole, text: text.slice(0, Math.ceil(text.length / 2)) }
  return whole
}
