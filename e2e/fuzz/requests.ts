import type { SigningDomain } from '@bezel/protocol'
import type { Actor, Cast } from './cast.ts'
import { createCredentials } from './credentials.ts'
import { dressRequest, pickChange, type FuzzRequest } from './dressRequest.ts'
import type { Knowledge } from './knowledge.ts'
import { operationBody, type Surroundings } from './operationBodies.ts'
import { createRandom, type Random } from './random.ts'
import type { Operation, Parameter, Surface } from './surface.ts'
import { targetOf } from './targets.ts'
import { createValues } from './values.ts'

/** Makes requests from the document and from earlier answers. */
export interface RequestMaker {
  make(index: number): FuzzRequest
  /** Queues the report of a transaction that was really sent; it becomes one of the next requests. */
  report(actor: Actor, orderId: string, txHash: string): void
}

/** Weights of operations. Writes, and reads that hardly ever succeed, get more requests than other reads. */
const WEIGHTS: Readonly<Record<string, number>> = {
  createOrder: 5,
  updateOrder: 3,
  cancelOrder: 3,
  submitOrder: 3,
  closePosition: 3,
  updatePosition: 3,
  getOrder: 2,
  createAgent: 2,
  previewOrder: 2,
  previewPosition: 3,
}

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
  const submit = surface.operations.find(({ id }) => id === 'submitOrder')!
  const reports: { readonly actor: Actor; readonly orderId: string; readonly txHash: string }[] = []

  function given(parameters: readonly Parameter[], place: Surroundings): Map<string, string> {
    const values = new Map<string, string>()
    for (const { name, schema } of parameters) {
      const siblings = Object.fromEntries(values)
      values.set(name, String(valueOf(schema, { ...place, name, siblings })))
    }
    return values
  }

  function queryOf({ query }: Operation, place: Surroundings): string {
    const values = given(
      query.filter(({ isRequired }) => place.random.chance(isRequired ? 0.97 : 0.4)),
      place,
    )
    return values.size === 0 ? '' : `?${new URLSearchParams([...values])}`
  }

  function makeReport(index: number, random: Random): FuzzRequest | undefined {
    const report = random.chance(0.5) ? reports.shift() : undefined
    if (report === undefined) return undefined
    const { actor, orderId, txHash } = report
    const segments = new Map([
      ['chain', 'arbitrum-sepolia'],
      ['id', orderId],
    ])
    const target = targetOf(submit, segments)
    const plain = { index, random, operation: submit, actor, change: 'none', value: { txHash }, target } as const
    return dressRequest(plain, surface, credentials)
  }

  function makeAny(index: number, random: Random): FuzzRequest {
    const operation = random.pick(weighted)
    const actor = pickActor(cast, random)
    const place = { random, trader: actor.trader, addresses: cast.addresses, operationId: operation.id }
    const segments = given(operation.path, place)
    if (operation.id === 'revokeAgent') segments.set('address', random.pick(cast.visitors.agents).address)
    const keys = knowledge.apiKeys.filter(({ trader }) => trader === actor.trader)
    if (operation.id === 'revokeApiKey' && keys.length > 0) segments.set('label', random.pick(keys).label)
    const value = operationBody(operation, place, segments.get('address'), { valueOf, cast, knowledge, domain })
    const target = targetOf(operation, segments) + queryOf(operation, place)
    const plain = { index, random, operation, actor, change: pickChange(random), value, target }
    return dressRequest(plain, surface, credentials)
  }

  return {
    make(index) {
      const random = createRandom(seed, index)
      return makeReport(index, random) ?? makeAny(index, random)
    },
    report: (actor, orderId, txHash) => void reports.push({ actor, orderId, txHash }),
  }
}

function pickActor({ actors }: Cast, random: Random): Actor {
  const trading = actors.filter(({ account }) => account !== undefined)
  return random.pick(random.chance(0.85) ? trading : actors)
}
