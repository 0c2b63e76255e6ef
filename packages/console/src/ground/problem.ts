import { BezelError, BroadcastError, RefusalError } from '@bezel/sdk'
import { remedyOfCode, titleOfCode } from './problemWords.ts'

/** A failed action in words. */
export interface Problem {
  /** A few words, for instance `Not sent`. */
  readonly title: string
  /** Account of the failure, in whole sentences. */
  readonly message: string
  /** Next thing to do; null when the message says it already. */
  readonly remedy: string | null
  /** Stable code of the error; null for an error without one. */
  readonly code: string | null
  /** True when the user said no in the wallet: nothing is wrong then. */
  readonly isRefusedByUser: boolean
}

/** Returns the words for an error of any kind: of the SDK, of a wallet, of the network, or unknown. */
export function problemOf(error: unknown): Problem {
  const causes = causesOf(error)
  return walletProblem(error, causes) ?? clientProblem(error) ?? networkProblem(causes) ?? otherProblem(error)
}

/** Codes of EIP-1193 and EIP-1474, as wallets answer them. */
const DECLINED = 4001
const UNAUTHORISED = 4100
const DISCONNECTED = [4900, 4901]
const UNKNOWN_CHAIN = 4902
const BUSY = -32002

const NO_GAS =
  /(?:insufficient|enough|lack of) funds|exceeds the balance of the account|gas required exceeds allowance/i
const DECLINED_WORDS = /user (?:rejected|denied|cancel)|rejected by (?:the )?user|ACTION_REJECTED/i

/** Returns the words for what a wallet answered; null for anything else. */
function walletProblem(error: unknown, causes: readonly Cause[]): Problem | null {
  const has = (code: number) => causes.some((cause) => cause.code === code)
  const said = causes.map(({ message, details, code }) => `${text(message)} ${text(details)} ${text(code)}`).join(' ')
  if (has(DECLINED) || DECLINED_WORDS.test(said)) {
    return { ...problem('USER_REFUSED', 'You refused it in the wallet. Nothing was sent.'), isRefusedByUser: true }
  }
  if (has(BUSY)) return problem('WALLET_BUSY', 'The wallet has a question open already.')
  if (has(UNAUTHORISED)) return problem('WALLET_LOCKED', 'The wallet does not let this page use the account.')
  if (DISCONNECTED.some(has)) return problem('WALLET_OFFLINE', 'The wallet has lost its connection to the chain.')
  if (has(UNKNOWN_CHAIN)) return problem('WALLET_CHAIN', 'The wallet does not know this network.')
  const isNoGas = error instanceof BroadcastError ? error.reason === 'no_gas' : NO_GAS.test(said)
  if (isNoGas) return problem('NO_GAS', 'The account that sends has too little of the native coin to pay for the gas.')
  return null
}

/** Returns the words for an error of the SDK; null for anything else. */
function clientProblem(error: unknown): Problem | null {
  if (!(error instanceof BezelError)) return null
  if (!(error instanceof RefusalError)) return problem(error.code, plainSentences(error.message))
  const said: string | undefined = error.details.remedy
  const message = plainSentences(said === undefined ? error.message : error.message.replace(said, ''))
  const { requestId } = error
  const id = error.code === 'INTERNAL' && requestId !== undefined ? ` Request id: ${requestId}.` : ''
  const own = said === undefined || INTERFACE_WORDS.test(said) ? null : said
  const remedy = remedyOfCode(error.code, error.details) ?? own
  return { title: titleOfCode(error.code), message: message + id, remedy, code: error.code, isRefusedByUser: false }
}

/** Words of browsers for a request without an answer. */
const NETWORK_WORDS = /failed to fetch|networkerror|load failed|network request failed|fetch failed/i

function networkProblem(causes: readonly Cause[]): Problem | null {
  const isNetwork = causes.some(({ message }) => NETWORK_WORDS.test(text(message)))
  return isNetwork ? problem('NETWORK_ERROR', 'The service or the network did not answer.') : null
}

/** Returns the words for any other error. One of the console itself has a code. */
function otherProblem(error: unknown): Problem {
  const [{ message, code, remedy } = {}] = causesOf(error)
  const words = text(message) === '' ? String(error) : text(message).split('\n')[0]!
  if (typeof code === 'string' || typeof remedy === 'string') {
    const known = typeof code === 'string' ? code : null
    const next = typeof remedy === 'string' ? remedy : remedyOfCode(known ?? '', {})
    return { title: titleOfCode(known ?? ''), message: words, remedy: next, code: known, isRefusedByUser: false }
  }
  const sentence = /[.!?]$/.test(words) ? words : `${words}.`
  const next = 'Try again; if it happens again, reload the page.'
  return { title: titleOfCode(''), message: sentence, remedy: next, code: null, isRefusedByUser: false }
}

function problem(code: string, message: string): Problem {
  return { title: titleOfCode(code), message, remedy: remedyOfCode(code, {}), code, isRefusedByUser: false }
}

/** Words for programmers: methods of the SDK, fields of answers, options. Nobody types them in a page. */
const INTERFACE_WORDS =
  /`|\b(?:agents|orders|positions|account)\.\w+|\bdetails\.|timeoutMs|base URL|Retry-After|\{ diamond \}/

/** Returns the sentences of a message without those which tell a programmer what to call. */
function plainSentences(message: string): string {
  const sentences = message.trim().split(/(?<=[.!?])\s+(?=[A-Z])/)
  const kept = sentences.filter((sentence) => !INTERFACE_WORDS.test(sentence))
  return (kept.length === 0 ? sentences : kept).join(' ')
}

/** One error of a chain of causes. Nodes, wallets and libraries agree on none of the fields. */
interface Cause {
  readonly code?: unknown
  readonly message?: unknown
  readonly details?: unknown
  readonly remedy?: unknown
  readonly cause?: unknown
}

/** Bounds the walk along the causes, which may form a circle. */
const MAX_CAUSES = 12

function causesOf(error: unknown): readonly Cause[] {
  const causes: Cause[] = []
  let next = error
  while (typeof next === 'object' && next !== null && causes.length < MAX_CAUSES) {
    const found: Cause = next
    causes.push(found)
    next = found.cause
  }
  return causes
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
