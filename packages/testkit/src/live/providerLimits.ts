import { billedUnits } from './providerCounts.ts'
import { jsonFieldsOf, meansHead, quantityOf, refuseWith, type StandInAnswer, type StandInCall } from './providerRpc.ts'

/** The limits of a provider's plan. A limit that is left out does not exist. */
export interface StandInLimits {
  /** The most calls in one batch, and the form in which a larger one is refused as a whole. */
  readonly batch?: { readonly max: number; readonly form?: BatchRefusal }
  /** The most blocks of one `eth_getLogs`, and the text in which a wider range is refused. */
  readonly logRange?: { readonly max: number; readonly text?: RangeText }
  /** The most logs in one answer. */
  readonly maxLogs?: number
  /** The most characters of one call's answer. */
  readonly maxAnswerChars?: number
  /** Compute units a second, with one second of them saved up at most, and the form of a refusal. */
  readonly units?: { readonly perSecond: number; readonly form?: RateRefusal }
}

/**
 * The form in which a batch that is too large is refused: an error object, a page with this status, or as geth does it,
 * a list of one error with the id of the first call.
 */
export type BatchRefusal = 'object' | 'item' | 'http413' | 'http400'

/** The form in which calls above the rate are refused: the whole request with 429, or each call with an error. */
export type RateRefusal = 'http429' | 'item-32005' | 'item429'

/** The name of the wording in which a range of logs is refused. */
export type RangeText = keyof typeof RANGE_TEXTS

/** An HTTP answer instead of one for each call. */
export interface WholeRefusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly text: string
}

/** The decision about a request: refused as a whole, or with the calls that are refused alone. */
export type LimitDecision =
  { readonly whole: WholeRefusal } | { readonly refused: ReadonlyMap<StandInCall, StandInAnswer> }

/** The wordings that providers use, each with its error code. */
const RANGE_TEXTS = {
  wide: { code: -32000, text: (max: number) => `block range is too wide: maximum allowed is ${max} blocks` },
  limited: { code: -32614, text: (max: number) => `eth_getLogs is limited to a ${max} range` },
  upTo: {
    code: -32600,
    text: (max: number) => `You can make eth_getLogs requests with up to a ${max} block range. Narrow your filter.`,
  },
  exceeds: { code: -32602, text: (max: number) => `exceed maximum block range: ${max}` },
} as const

const LIMIT_EXCEEDED = -32005
const RATE_TEXT = 'Your app has exceeded its compute units per second capacity. Please retry with exponential backoff.'
const BATCH_PAGES: Readonly<Record<BatchRefusal, (max: number, first: StandInCall) => WholeRefusal>> = {
  item: (_, first) => ({ status: 200, text: JSON.stringify([refuseWith(first, -32600, 'batch too large')]) }),
  object: (max) => ({
    status: 200,
    text: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch size is over the limit of ${max}"}}`,
  }),
  http413: () => ({ status: 413, text: '<html><head><title>413 Request Entity Too Large</title></head></html>' }),
  http400: (max) => ({ status: 400, text: `Batch of more than ${max} requests are not allowed on this plan` }),
}

/** A bucket of compute units that fills with time. */
interface UnitBucket {
  /** Takes units. Returns 0 when there were enough, else the seconds until there are. */
  take(units: number): number
}

/** The part of a provider that refuses what its plan does not allow. */
export interface LimitKeeper {
  /** Decides about the calls of one request, before any of them is answered. */
  decide(calls: readonly StandInCall[], head: () => Promise<number>): Promise<LimitDecision>
  /** Returns the answer, or a refusal when it is larger than allowed. */
  bounded(call: StandInCall, answer: StandInAnswer): StandInAnswer
}

/** Creates the keeper of these limits. `nowMs` is the clock by which units come back. */
export function createLimitKeeper(limits: StandInLimits, nowMs: () => number): LimitKeeper {
  const { batch, logRange, maxLogs, maxAnswerChars, units } = limits
  const bucket = units === undefined ? undefined : createUnitBucket(units.perSecond, nowMs)

  async function refuseRange(call: StandInCall, head: () => Promise<number>): Promise<StandInAnswer | undefined> {
    if (logRange === undefined || call.method !== 'eth_getLogs') return undefined
    const { fromBlock, toBlock, blockHash } = jsonFieldsOf(call.params[0])
    if (blockHash !== undefined) return undefined
    const numberAt = async (block: unknown): Promise<number> => (meansHead(block) ? head() : (quantityOf(block) ?? 0))
    const blocks = (await numberAt(toBlock)) - (await numberAt(fromBlock)) + 1
    const { code, text } = RANGE_TEXTS[logRange.text ?? 'wide']
    return blocks > logRange.max ? refuseWith(call, code, text(logRange.max)) : undefined
  }

  return {
    async decide(calls, head) {
      if (batch !== undefined && calls.length > batch.max)
        return { whole: BATCH_PAGES[batch.form ?? 'object'](batch.max, calls[0]!) }
      const refused = new Map<StandInCall, StandInAnswer>()
      const form = units?.form ?? 'http429'
      if (bucket !== undefined && form === 'http429') {
        const waitS = bucket.take(calls.reduce((sum, { method }) => sum + billedUnits(method), 0))
        if (waitS > 0) return { whole: tooManyRequests(waitS) }
      }
      for (const call of calls) {
        const isLate = bucket !== undefined && form !== 'http429' && bucket.take(billedUnits(call.method)) > 0
        const code = form === 'item429' ? 429 : LIMIT_EXCEEDED
        const answer = isLate ? refuseWith(call, code, RATE_TEXT) : await refuseRange(call, head)
        if (answer !== undefined) refused.set(call, answer)
      }
      return { refused }
    },
    bounded(call, answer) {
      const { result } = answer
      if (maxLogs !== undefined && call.method === 'eth_getLogs' && Array.isArray(result) && result.length > maxLogs) {
        return refuseWith(call, LIMIT_EXCEEDED, `query returned more than ${maxLogs} results`)
      }
      if (maxAnswerChars === undefined || JSON.stringify(answer).length <= maxAnswerChars) return answer
      return refuseWith(call, -32008, 'Response is too big')
    },
  }
}

/** Returns the refusal of a whole request above the rate. `waitS` is rounded up, as the header allows whole seconds. */
export function tooManyRequests(waitS: number): WholeRefusal {
  const error = { code: 429, message: RATE_TEXT }
  return {
    status: 429,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitS))) },
    text: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
  }
}

/** Creates a bucket that holds one second of units. A request larger than that may take the bucket when it is full. */
function createUnitBucket(perSecond: number, nowMs: () => number): UnitBucket {
  let saved = perSecond
  let atMs = nowMs()
  return {
    take(units) {
      const now = nowMs()
      saved = Math.min(perSecond, saved + ((now - atMs) / 1_000) * perSecond)
      atMs = now
      const missing = Math.min(units, perSecond) - saved
      if (missing > 0) return missing / perSecond
      saved -= units
      return 0
    },
  }
}
