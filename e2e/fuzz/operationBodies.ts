import type { SigningDomain } from '@bezel/protocol'
import { changeValue } from './bodies.ts'
import type { Cast } from './cast.ts'
import { exchangeBody } from './exchangeBody.ts'
import type { Knowledge } from './knowledge.ts'
import { signMaster } from './masterStructs.ts'
import type { Operation, Schema } from './surface.ts'
import type { Place } from './values.ts'

/** The context of a place without its position. */
export type Surroundings = Omit<Place, 'name' | 'siblings'>

interface BodyOptions {
  readonly valueOf: (schema: Schema, place: Place) => unknown
  readonly cast: Cast
  readonly knowledge: Knowledge
  readonly domain: SigningDomain
}

const MASTER_OPERATIONS: ReadonlySet<string> = new Set(['createAgent', 'revokeAgent', 'issueApiKey'])

/**
 * Returns a body that fits the operation's schema, signed if it is a struct of a trader's wallet. `address` is the one
 * in the path.
 */
export function operationBody(
  operation: Operation,
  place: Surroundings,
  address: string | undefined,
  { valueOf, cast, knowledge, domain }: BodyOptions,
): unknown {
  const { random } = place
  const { id, body: schema, isBodyRequired } = operation
  if (schema === undefined || (!isBodyRequired && random.chance(0.5))) return undefined
  const { namedOrders } = knowledge
  if (id === 'createOrder' && namedOrders.length > 0 && random.chance(0.08)) return random.pick(namedOrders)
  const made = valueOf(schema, { ...place, name: 'body', siblings: {} }) as Readonly<Record<string, unknown>>
  if (id === 'hlExchange') return exchangeBody(made, random)
  if (!MASTER_OPERATIONS.has(id)) return made
  const { traders, agents } = cast.visitors
  const own = cast.actors.filter(({ key, trader }) => key.address === trader).map(({ key }) => key)
  const trader = random.pick(id === 'issueApiKey' ? [...traders, ...own] : traders)
  const agent = agents.find((visitor) => visitor.address === address) ?? random.pick(agents)
  const named = { ...made, trader: trader.address, ...(id === 'createAgent' ? { agent: agent.address } : {}) }
  const body = random.chance(0.1) ? changeValue(named, random).value : named
  const isStruct = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isStruct ? signMaster(id, body as Readonly<Record<string, unknown>>, { trader, agent, domain }, random) : body
}
