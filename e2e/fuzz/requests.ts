import type { SigningDomain } from '@bezel/protocol'
import { bytesOf, changeText, changeValue } from './bodies.ts'
import type { Actor, Cast } from './cast.ts'
import { createCredentials, type Credentials, type Header } from './credentials.ts'
import type { Knowledge } from './knowledge.ts'
import { signMaster } from './masterStructs.ts'
import { oddSegment } from './oddities.ts'
import { createRandom, type Random } from './random.ts'
import type { Operation, Surface } from './surface.ts'
import { createValues, type Place } from './values.ts'

/** A request as it is sent. */
export interface FuzzRequest {
  readonly index: number
  /** The operation it was made from, and what was done to it. */
  readonly how: string
  readonly method: string
  /** What stands in the request line. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
  /** Its credentials are worth nothing. */
  readonly isRefused: boolean
  readonly actor: Actor
  /** Whose account may be in the answer. */
  readonly trader: string | undefined
  /** What the answer must repeat; none when the request was changed after it was made. */
  readonly value: unknown
}

export interface RequestMaker {
  make(index: number): FuzzRequest
  /** The report of a transaction that was really sent; it is made into one of the next requests. */
  report(actor: Actor, orderId: string, txHash: string): void
}

/** Those that change something are worth more tries than those that read. */
const WEIGHTS: Readonly<Record<string, number>> = {
  createOrder: 5,
  updateOrder: 3,
  cancelOrder: 3,
  submitOrder: 3,
  closePosition: 3,
  updatePosition: 3,
  getOrder: 2,
  createAgent: 2,
}

/** What is done to a request; the weights are shares. */
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
type Change = (typeof CHANGES)[number][0]

const MASTER_OPERATIONS: ReadonlySet<string> = new Set(['createAgent', 'revokeAgent', 'issueApiKey'])
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
/** Harmless, wherever they stand. */
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
  ['Authorization', 'Bearer x'],
  ['Forwarded', 'for=unknown'],
  ['X-Long', 'x'.repeat(6_000)],
  ['Referer', '\u00e9'],
]

interface MakerOptions {
  readonly seed: number
  readonly surface: Surface
  readonly domain: SigningDomain
  readonly cast: Cast
  readonly knowledge: Knowledge
}

export function createRequestMaker(options: MakerOptions): RequestMaker {
  const { seed, surface, cast, knowledge, domain } = options
  const { valueOf } = createValues(surface, knowledge)
  const credentials = createCredentials({ names: surface.headers, domain, knowledge })
  const weighted = surface.operations.flatMap((operation) =>
    Array.from({ length: WEIGHTS[operation.id] ?? 1 }, () => operation),
  )
  const reports: { readonly actor: Actor; readonly orderId: string; readonly txHash: string }[] = []

  function bodyOf(operation: Operation, place: Omit<Place, 'name' | 'siblings'>, address: string): unknown {
    const { random } = place
    if (operation.body === undefined || (!operation.isBodyRequired && random.chance(0.5))) return undefined
    if (operation.id === 'createOrder' && knowledge.namedOrders.length > 0 && random.chance(0.08)) {
      return random.pick(knowledge.namedOrders)
    }
    const made = valueOf(operation.body, { ...place, name: 'body', siblings: {} }) as Record<string, unknown>
    if (!MASTER_OPERATIONS.has(operation.id)) return made
    const wallets = [
      ...cast.visitors.traders,
      ...cast.actors.filter(({ key, trader }) => key.address === trader).map(({ key }) => key),
    ]
    const trader = random.pick(operation.id === 'issueApiKey' ? wallets : cast.visitors.traders)
    const agent =
      cast.visitors.agents.find((visitor) => visitor.address === address) ?? random.pick(cast.visitors.agents)
    const named = {
      ...made,
      trader: trader.address,
      ...(operation.id === 'createAgent' ? { agent: agent.address } : {}),
    }
    const body = random.chance(0.1) ? (changeValue(named, random).value as typeof named) : named
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? signMaster(operation.id, body, { trader, agent, domain }, random)
      : body
  }

  function make(index: number): FuzzRequest {
    const random = createRandom(seed, index)
    const report = random.chance(0.5) ? reports.shift() : undefined
    const submit = surface.operations.find(({ id }) => id === 'submitOrder')!
    const operation = report === undefined ? random.pick(weighted) : submit
    const actor = report?.actor ?? pickActor(cast, random)
    const place = { random, trader: actor.trader, addresses: cast.addresses, operationId: operation.id }
    const segments = new Map(
      operation.path.map(({ name, schema }) => [name, String(valueOf(schema, { ...place, name, siblings: {} }))]),
    )
    if (operation.id === 'revokeAgent') segments.set('address', random.pick(cast.visitors.agents).address)
    if (report !== undefined) segments.set('id', report.orderId)
    const value =
      report === undefined ? bodyOf(operation, place, segments.get('address') ?? '') : { txHash: report.txHash }
    const change = report === undefined ? pickChange(random) : 'none'
    const query = queryOf(operation, place)
    return dress({ index, random, operation, actor, change, value, target: targetOf(operation, segments) + query })
  }

  function queryOf(operation: Operation, place: Omit<Place, 'name' | 'siblings'>): string {
    const { random } = place
    const given = operation.query
      .filter(() => random.chance(0.4))
      .map(({ name, schema }) => [name, String(valueOf(schema, { ...place, name, siblings: {} }))])
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  }

  /** Applies the change, and signs what comes out, because a request that is not signed well ends there. */
  function dress(of: {
    readonly index: number
    readonly random: Random
    readonly operation: Operation
    readonly actor: Actor
    readonly change: Change
    readonly value: unknown
    readonly target: string
  }): FuzzRequest {
    const { index, random, operation, actor, change } = of
    const notes: string[] = []
    const isBodyChanged = change === 'value' || change === 'text' || change === 'method'
    let value = of.value ?? (isBodyChanged && random.chance(0.5) ? {} : undefined)
    let bytes = value === undefined ? undefined : bytesOf(value)
    if (value !== undefined && change === 'value') {
      const changed = changeValue(value, random)
      notes.push(changed.how)
      value = changed.value
      bytes = value === undefined ? undefined : bytesOf(value)
    }
    if (value !== undefined && change === 'text') {
      const changed = changeText(value, random)
      notes.push(changed.how)
      bytes = changed.bytes
    }
    const target =
      change === 'path'
        ? changedPath(of.target, random)
        : change === 'query'
          ? changedQuery(of.target, random)
          : of.target
    const method = change === 'method' ? random.pick(METHODS) : operation.method
    const asked = {
      operation: surface.operationAt(method, target) ?? operation,
      method,
      target,
      body: bytes ?? new Uint8Array(),
    }
    const given: Credentials = !operation.isPrivate
      ? { headers: [], how: '', isRefused: false, trader: undefined }
      : change === 'credentials'
        ? credentials.bad(actor, asked, random)
        : credentials.good(actor, asked, random)
    const type = change === 'content type' ? random.pick(CONTENT_TYPES) : 'application/json'
    const headers = [
      ...given.headers,
      ...(bytes === undefined || type === undefined ? [] : [['Content-Type', type] as const]),
    ]
    if (change === 'headers') headers.push(random.pick(EXTRA_HEADERS))
    if (method === 'OPTIONS' && random.chance(0.5)) headers.push(['Access-Control-Request-Method', 'POST'])
    return {
      index,
      how: [operation.id, change, ...notes, given.how].filter((note) => note !== '').join(', '),
      method,
      target,
      headers,
      body: bytes,
      isRefused: given.isRefused,
      actor,
      trader: given.trader,
      value: change === 'none' ? value : undefined,
    }
  }

  return { make, report: (actor, orderId, txHash) => void reports.push({ actor, orderId, txHash }) }
}

function pickActor({ actors }: Cast, random: Random): Actor {
  const trading = actors.filter(({ account }) => account !== undefined)
  return random.pick(random.chance(0.85) ? trading : actors)
}

function pickChange(random: Random): Change {
  let at = random.below(CHANGES.reduce((sum, [, share]) => sum + share, 0))
  return CHANGES.find(([, share]) => (at -= share) < 0)![0]
}

function targetOf({ template }: Operation, segments: ReadonlyMap<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments.get(name) ?? ''))
}

function changedPath(target: string, random: Random): string {
  const [path, ...query] = target.split('?')
  const segments = path!.split('/')
  const at = 1 + random.below(segments.length - 1)
  const changed = (): string[] => {
    switch (random.below(6)) {
      case 0:
        return segments.toSpliced(at, 1)
      case 1:
        return segments.toSpliced(at, 0, oddSegment(random))
      case 2:
        return [...segments, random.pick(['', oddSegment(random)])]
      case 3:
        return segments.with(
          at,
          random.chance(0.5)
            ? segments[at]!.toUpperCase()
            : `%${Buffer.from(segments[at]!).toString('hex').slice(0, 2)}${segments[at]!.slice(1)}`,
        )
      default:
        return segments.with(at, oddSegment(random))
    }
  }
  const made = changed().join('/')
  return [made.startsWith('/') ? made : `/${made}`, ...query].join('?')
}

function changedQuery(target: string, random: Random): string {
  const odd = (): string => oddSegment(random).slice(0, 1_000)
  const names = ['limit', 'cursor', 'a', '__proto__', 'limit[]', 'limit[a]', 'constructor', odd()]
  const given = Array.from({ length: 1 + random.below(3) }, () =>
    random.chance(0.8) ? `${random.pick(names)}=${random.pick(['1', '500', '501', '0', odd()])}` : odd(),
  )
  const between = random.pick(['?', '?', '?', '??', '?&', ';', '#'])
  return `${target}${target.includes('?') ? '&' : between}${given.join('&')}`
}
