import { INFO_PAGE, type RowMeter } from '../../access/weights.ts'
import { createLru, type Lru } from '../../ground/lru.ts'
import { readLastSeq } from '../../store/accountEventStore.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { isOtherDex, type InfoBody, type UserRequest } from './infoRequest.ts'

/** Definition of one `/info` type: the fields of its request, the shape of its answer, and the rule between them. */
interface InfoDefinition<Request, Answer> {
  /** Checks the fields of a request. Throws `MalformedInfoError`. */
  readonly parse: (body: InfoBody, reads: FacadeReads) => Request
  /** Answers a request. A list counts its rows on the meter before it makes them. */
  readonly answer: (
    request: Request,
    reads: FacadeReads,
    meter: RowMeter,
  ) => MaybeWritten<Answer> | Promise<MaybeWritten<Answer>>
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
export type InfoType = (body: InfoBody, reads: FacadeReads, meter: RowMeter) => JsonText | Promise<JsonText>

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
  return (body, reads, meter) => {
    if (isOtherDex(body) && inOtherDex !== undefined) return JSON.stringify(inOtherDex(reads))
    const answered = answer(parse(body, reads), reads, meter)
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
  const written = new WeakMap<FacadeReads, WrittenText<Answer> & { readonly version: string }>()
  return (reads) => {
    const version = versionOf(reads)
    const known = written.get(reads)
    if (known?.version === version) return known
    const text = write(reads)
    const made = { version, text, bytes: Buffer.from(text) }
    written.set(reads, made)
    return made
  }
}

/** A list that is kept as JSON bytes. */
interface KeptList {
  readonly version: string
  readonly rows: number
  readonly bytes: Buffer
}

/** Total size of the lists in memory. */
const MAX_KEPT_BYTES = 16_000_000

const keptByChain = new WeakMap<FacadeReads, Lru<string, KeptList>>()

/**
 * Answers a list of a user's account, and keeps the bytes of one that has more than a page of rows: asked again at the
 * same block and the same event of the account, the same bytes go out, and weigh as much.
 */
export function keptList<Request extends UserRequest, Row>(
  type: string,
  read: (request: Request, reads: FacadeReads, meter: RowMeter) => Promise<readonly Row[]>,
): (request: Request, reads: FacadeReads, meter: RowMeter) => Promise<Written<readonly Row[]>> {
  return async (request, reads, meter) => {
    const lists = keptByChain.get(reads) ?? createLru<string, KeptList>(MAX_KEPT_BYTES, ({ bytes }) => bytes.length)
    keptByChain.set(reads, lists)
    const key = `${type} ${JSON.stringify(request)}`
    const version = await accountVersion(reads, request)
    const known = lists.get(key)
    if (known !== undefined && known.version === version) {
      await meter.add(known.rows)
      return known
    }
    const rows = await read(request, reads, meter)
    const made = { version: version ?? '', rows: rows.length, bytes: Buffer.from(JSON.stringify(rows)) }
    // The same version before and after says that nothing changed while the rows were read.
    if (rows.length > INFO_PAGE && version !== undefined && (await accountVersion(reads, request)) === version) {
      lists.set(key, made)
    }
    return made
  }
}

/** Returns the state that an answer about an account was made of; `undefined` before the first block is followed. */
async function accountVersion(reads: FacadeReads, { user }: UserRequest): Promise<string | undefined> {
  // Throws `NOT_READY` until the follower has caught up with the chain.
  reads.positionsOf(user)
  const block = reads.head()?.number
  if (block === undefined) return undefined
  const seq = await readLastSeq(reads.sql, { chain: reads.chain, trader: user })
  return `${block} ${seq} ${reads.marketsVersion()}`
}
