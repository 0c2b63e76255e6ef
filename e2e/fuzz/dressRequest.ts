import { bytesOf, changeText, changeValue } from './bodies.ts'
import type { Actor } from './cast.ts'
import type { createCredentials, Credentials, Header } from './credentials.ts'
import type { Random } from './random.ts'
import type { Operation, Surface } from './surface.ts'
import { changedPath, changedQuery } from './targets.ts'

/** A request that is ready to send. */
export interface FuzzRequest {
  readonly index: number
  /** The operation it was made from, and the change made to it. */
  readonly how: string
  readonly method: string
  /** The target in the request line. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
  /** True when its credentials are invalid. */
  readonly isRefused: boolean
  readonly actor: Actor
  /** The trader whose account may be in the answer. */
  readonly trader: string | undefined
  /** The value that the answer must repeat; `undefined` when the request was changed after it was made. */
  readonly value: unknown
}

/** The changes made to requests; the weights are relative shares. */
const CHANGES = [
  ['none', 38],
  ['value', 16],
  ['text', 10],
  ['path', 9],
  ['query', 7],
  ['credentials', 12],
  ['method', 3],
  ['content type', 3],
  ['headers', 4],
] as const
export type Change = (typeof CHANGES)[number][0]

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'SEARCH',
  'M-SEARCH',
]
const CONTENT_TYPES = [
  undefined,
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json; charset=utf-16',
  'application/json;charset=utf-8',
  'APPLICATION/JSON',
  'application/jsonp',
  'application/vnd.api+json',
  'a/b/c;;;=',
  '*/*',
  'application/json, text/plain',
]
/** Extra headers that are harmless on any request. */
const EXTRA_HEADERS: readonly Header[] = [
  ['X-Request-Id', 'fuzz.id-1'],
  ['X-Request-Id', 'no good id!'],
  ['X-Request-Id', 'x'.repeat(65)],
  ['Accept', 'text/html'],
  ['Accept', 'application/xml;q=0.9, */*;q=0'],
  ['Accept-Encoding', 'gzip, br'],
  ['Accept-Version', '9.9.9'],
  ['Origin', 'https://somewhere.example'],
  ['X-Forwarded-For', '1.2.3.4, not-an-ip'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Content-Encoding', 'gzip'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'yesterday'],
  ['Cookie', 'a=b; __proto__=c'],
  ['Connection', 'close'],
  ['Upgrade', 'websocket'],
  ['TE', 'trailers'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'chunked'],
  ['Authorization', 'Bearer x'],
  ['Forwarded', 'for=unknown'],
  ['X-Long', 'x'.repeat(6_000)],
  ['Referer', '\u00e9'],
]

const NOBODY: Credentials = { headers: [], how: '', isRefused: false, trader: undefined }

/** A request before a change is applied. */
export interface Plain {
  readonly index: number
  readonly random: Random
  readonly operation: Operation
  readonly actor: Actor
  readonly change: Change
  /** The body, if any. */
  readonly value: unknown
  readonly target: string
}

export function pickChange(random: Random): Change {
  let at = random.below(CHANGES.reduce((sum, [, share]) => sum + share, 0))
  return CHANGES.find(([, share]) => (at -= share) < 0)![0]
}

/** Applies the change and then signs, because a request with a bad signature is refused before anything else. */
export function dressRequest(
  of: Plain,
  surface: Surface,
  credentials: ReturnType<typeof createCredentials>,
): FuzzRequest {
  const { index, random, operation, actor, change } = of
  const { value, bytes, how } = changedBody(of)
  const target = changedTarget(of)
  const method = change === 'method' ? random.pick(METHODS) : operation.method
  const meant = surface.operationAt(method, target) ?? operation
  const asked = { operation: meant, method, target, body: bytes ?? new Uint8Array() }
  const good = change === 'credentials' ? 'bad' : 'good'
  const given = operation.isPrivate ? credentials[good](actor, asked, random) : NOBODY
  return {
    index,
    how: [operation.id, change, how, given.how].filter((note) => note !== '').join(', '),
    method,
    target,
    headers: [...given.headers, ...otherHeaders(of, method, bytes !== undefined)],
    body: bytes,
    isRefused: given.isRefused,
    actor,
    trader: given.trader,
    value: change === 'none' ? value : undefined,
  }
}

function otherHeaders({ change, random }: Plain, method: string, hasBody: boolean): Header[] {
  const type = change === 'content type' ? random.pick(CONTENT_TYPES) : 'application/json'
  const headers: Header[] = hasBody && type !== undefined ? [['Content-Type', type]] : []
  if (change === 'headers') headers.push(random.pick(EXTRA_HEADERS))
  if (method === 'OPTIONS' && random.chance(0.5)) headers.push(['Access-Control-Request-Method', 'POST'])
  return headers
}

function changedTarget({ change, target, random }: Plain): string {
  if (change === 'path') return changedPath(target, random)
  return change === 'query' ? changedQuery(target, random) : target
}

interface ChangedBody {
  readonly value: unknown
  readonly bytes: Uint8Array | undefined
  readonly how: string
}

function changedBody({ change, value: given, random }: Plain): ChangedBody {
  const isChanged = change === 'value' || change === 'text' || change === 'method'
  const value = given ?? (isChanged && random.chance(0.5) ? {} : undefined)
  if (value === undefined) return { value, bytes: undefined, how: '' }
  if (change === 'text') return { value, ...changeText(value, random) }
  if (change !== 'value') return { value, bytes: bytesOf(value), how: '' }
  const changed = changeValue(value, random)
  return { ...changed, bytes: bytesOf(changed.value) }
}
