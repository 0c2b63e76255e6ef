import {
  AddressSchema,
  Annotated,
  ApiError,
  parseAddress,
  parsePathSymbol,
  type ChainSlug,
  type ErrorCode,
} from '@bezel/protocol'
import { Type, type TObject, type TProperties } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { callerOf } from '../../../access/caller.ts'
import { validationIssues } from '../../../access/validationIssues.ts'
import type { ChainPreviews, PreviewQuestion } from '../../../orders/previews.ts'
import type { AgentRecord } from '../../../trading/agentRecord.ts'
import { queryRefusal, unknownParameters, type QueryParameter } from '../../parameters.ts'
import type { WeightRule } from '../../route.ts'
import { ownAccount, type AccountContext } from '../account/ownAccount.ts'

/** The context of the routes that preview writes. */
export interface PreviewContext extends AccountContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly previewsOf: (slug: string) => ChainPreviews
}

/** Parameters of every preview, beside those of the request that it previews. */
const QUESTION = {
  simulate: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True to simulate the transaction on the latest block too, in one round trip to the node. It reads balance, allowance, delegation and recent volume anew.',
    }),
  ),
  agent: Type.Optional(
    Annotated(AddressSchema, {
      description:
        'Agent of the trader whose delegation, scope and spend are judged. Default: the agent that signs, which must be the delegate already; with a read-only key none.',
    }),
  ),
}

/** The weight of a simulated preview: as many fit into a minute as writes, which ask the node too. */
const SIMULATED_WEIGHT = 5

export const PREVIEW_WEIGHT: WeightRule = {
  of: ({ simulate }) => (simulate === 'true' ? SIMULATED_WEIGHT : 1),
  words: `${SIMULATED_WEIGHT} with \`simulate=true\``,
}

/** Codes of every preview. */
export const PREVIEW_ERRORS: readonly ErrorCode[] = [
  'TRADER_MISMATCH',
  'AGENT_NOT_FOUND',
  'POSITION_NOT_FOUND',
  'MARKET_NOT_FOUND',
  'MARKET_CLOSED',
  'COLLATERAL_NOT_SUPPORTED',
  'PRECISION_ERROR',
  'UNSUPPORTED',
]

/** The query of a preview: the fields of a request, each with the meaning that it has there. */
export interface PreviewQuery {
  readonly schema: TObject
  readonly parameters: Readonly<Record<string, QueryParameter>>
}

/** Makes the query of a preview from the fields of the request that it previews. */
export function previewQuery(fields: TProperties): PreviewQuery {
  const schema: TObject = Type.Object({ ...fields, ...QUESTION })
  const required = new Set<string>(schema.required)
  const parameters = Object.entries(schema.properties).map(([name, property]) => [
    name,
    { schema: property, description: property.description ?? '', isRequired: required.has(name) },
  ])
  return { schema, parameters: Object.fromEntries(parameters) as Record<string, QueryParameter> }
}

interface PreviewRequest {
  readonly Params: { readonly chain: string; readonly address: string }
  readonly Querystring: Readonly<Record<string, unknown>>
}

/** The values of a query, as text or as truth. */
type QueryValues = Readonly<Record<string, string | boolean | undefined>>

/**
 * Reads the question of a preview: the account, the agent and the fields of the request. Throws `VALIDATION_ERROR`,
 * `TRADER_MISMATCH` and, for an agent that is not the trader's, `AGENT_NOT_FOUND`.
 */
export async function readQuestion(
  context: PreviewContext,
  request: FastifyRequest<PreviewRequest>,
  { schema, parameters }: PreviewQuery,
): Promise<{ readonly previews: ChainPreviews; readonly question: PreviewQuestion; readonly fields: QueryValues }> {
  const { chain, trader } = ownAccount(context, request)
  const values = Object.fromEntries(
    Object.entries(request.query).map(([name, value]) => [name, readValue(name, value)]),
  )
  const issues = [...unknownParameters(values, parameters), ...validationIssues(schema, values, 'query')]
  if (issues.length > 0) throw queryRefusal(issues)
  const { simulate = false, agent: named, ...fields } = values as QueryValues
  const agent = await agentOf(context, request, { chain, named })
  return { previews: context.previewsOf(chain), question: { trader, agent, isSimulated: simulate === true }, fields }
}

/** Returns a parameter as the schema expects it: truth as such, and a market in either spelling of paths. */
function readValue(name: string, value: unknown): unknown {
  if (name === 'market' && typeof value === 'string') return parsePathSymbol(value) ?? value
  return value === 'true' ? true : value === 'false' ? false : value
}

async function agentOf(
  { agentsOf }: PreviewContext,
  request: FastifyRequest,
  { chain, named }: { readonly chain: ChainSlug; readonly named: string | boolean | undefined },
): Promise<AgentRecord | null> {
  const caller = callerOf(request)
  if (typeof named !== 'string') return caller.via === 'agent' ? caller.agent : null
  const address = parseAddress(named)
  const found = address === undefined ? undefined : await agentsOf(chain).registry.findAgent(chain, address)
  if (found?.trader === caller.trader) return found
  throw new ApiError('AGENT_NOT_FOUND', 'This trader has no such agent on this chain.')
}

/**
 * Runs a preview whose rules name the fields of a body, and names the parameters of the query instead. `renamed` has
 * the fields that have another name here.
 */
export async function withQueryPaths<Answer>(
  preview: Promise<Answer>,
  renamed: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  try {
    return await preview
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error
    const issues = (error.details?.issues ?? []) as readonly { readonly path: string; readonly message: string }[]
    const named = issues.map(({ path, message }) => ({
      path: renamed[path] ?? path.replace(/^body\b/, 'query'),
      message,
    }))
    throw queryRefusal(named)
  }
}
