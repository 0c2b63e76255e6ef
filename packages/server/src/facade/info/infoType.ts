import type { FacadeReads } from '../facadeReads.ts'
import { isOtherDex, type InfoBody } from './infoRequest.ts'

/** Definition of one `/info` type: the fields of its request, the shape of its answer, and the rule between them. */
interface InfoDefinition<Request, Answer> {
  /** Checks the fields of a request. Throws `MalformedInfoError`. */
  readonly parse: (body: InfoBody, reads: FacadeReads) => Request
  readonly answer: (request: Request, reads: FacadeReads) => MaybeWritten<Answer> | Promise<MaybeWritten<Answer>>
  /**
   * Answers a request whose `dex` names a builder-deployed dex, of which there are none. Called before the other fields
   * are checked. A type without it ignores `dex`.
   */
  readonly inOtherDex?: (reads: FacadeReads) => Answer
}

/**
 * Answers the body of a request with JSON, synchronously where nothing has to be awaited. Throws `MalformedInfoError`,
 * and whatever the reads throw.
 */
export type InfoType = (body: InfoBody, reads: FacadeReads) => JsonText | Promise<JsonText>

/** JSON as text, or as bytes where they already exist. */
export type JsonText = Buffer | string

/** An answer that is kept as ready-made JSON bytes. */
export interface Written<Answer> {
  readonly bytes: Buffer
  /** Never set: only carries the type of the answer that the bytes hold. */
  readonly answer?: Answer
}

type MaybeWritten<Answer> = Answer | Written<Answer>

export function defineInfo<Request, Answer>({ parse, answer, inOtherDex }: InfoDefinition<Request, Answer>): InfoType {
  return (body, reads) => {
    if (isOtherDex(body) && inOtherDex !== undefined) return JSON.stringify(inOtherDex(reads))
    const answered = answer(parse(body, reads), reads)
    return answered instanceof Promise ? answered.then(jsonOf) : jsonOf(answered)
  }
}

function jsonOf(answer: unknown): JsonText {
  return isWritten(answer) ? answer.bytes : JSON.stringify(answer)
}

function isWritten(answer: unknown): answer is Written<unknown> {
  return typeof answer === 'object' && answer !== null && 'bytes' in answer && answer.bytes instanceof Buffer
}

/** An answer kept both as bytes and as text that can be embedded in another answer. */
export interface WrittenText<Answer> extends Written<Answer> {
  readonly text: string
}

/**
 * Memoizes an answer per chain: writes it again only when the version of its sources has changed, however often it is
 * read.
 */
export function remembered<Answer>(
  versionOf: (reads: FacadeReads) => string,
  write: (reads: FacadeReads) => string,
): (reads: FacadeReads) => WrittenText<Answer> {
  const byChain = new WeakMap<FacadeReads, WrittenText<Answer> & { readonly version: string }>()
  return (reads) => {
    const version = versionOf(reads)
    const known = byChain.get(reads)
    if (known?.version === version) return known
    const text = write(reads)
    const made = { version, text, bytes: Buffer.from(text) }
    byChain.set(reads, made)
    return made
  }
}
