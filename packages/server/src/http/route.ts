import type { ApiError, ErrorCode } from '@bezel/protocol'
import type { Static, TSchema, TUnknown } from '@sinclair/typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { listWeight, type WeightOf } from '../access/weights.ts'
import type { SignedOperation } from '../signatures/verifyRequest.ts'
import type { QueryParameter } from './parameters.ts'

/**
 * Kinds of access, each with the type of its operation ids. An agent can sign only the operations that have typed data
 * of their own, which are those of `SignedOperation`.
 */
export interface OperationIds {
  /** Open to everybody, without credentials. */
  public: string
  /** An agent by its signature, or a trader by a read-only API key, on the chain of the path. */
  read: SignedOperation
  /** An agent by its signature, on the chain of the path. */
  write: SignedOperation
  /** The same credentials as for `read`, from any chain, for the wallet that the path names. */
  owner: SignedOperation
  /** The trader's own wallet, by its signature in the headers, on the chain of the path. */
  wallet: SignedOperation
  /** The same, or an agent of the trader by its signature. */
  walletOrAgent: SignedOperation
  /** The trader's master wallet, by a signature inside the body. */
  master: string
  /** The signer of a facade envelope. The action inside checks the signature itself. */
  envelope: string
}

export type RouteAccess = keyof OperationIds

export type RouteTag =
  'System' | 'Markets' | 'Account' | 'Orders' | 'Positions' | 'Agents' | 'Notifications' | 'Hyperliquid compatibility'

/** The rule by which a request weighs more than 1. */
export interface WeightRule {
  readonly of: WeightOf
  /** The rule in words, to follow "weighs": `1 per 100 entries of \`limit\` begun`. */
  readonly words: string
}

interface RouteTexts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly tag: RouteTag
  /** One sentence that starts with a verb, without its full stop. */
  readonly summary: string
  /** Sentences beyond the summary, where a caller needs them. */
  readonly description?: string
  /** Error codes in addition to those that its kind of access and its path imply. */
  readonly errors: readonly ErrorCode[]
  /** Parameters of the query, for the reference only: the handler reads and checks them itself. */
  readonly query?: Readonly<Record<string, QueryParameter>>
  /** Rule of its weight, where it differs from that of `weightRule`. */
  readonly weight?: WeightRule
  /** Set when it stores something for whoever asks first: it is shed with the anonymous requests. */
  readonly isRegistration?: true
  /** Set when every field of the body is optional, so that a request may have no body. */
  readonly isBodyOptional?: true
  /** Set when the handler checks the body itself; the schema of the body is then for the reference only. */
  readonly checksOwnBody?: true
  /** Schemas of the answers, by HTTP status. */
  readonly responses: Readonly<Record<number, TSchema>>
  /** Meanings of the answers without a body, by HTTP status. */
  readonly bodiless?: Readonly<Record<number, string>>
  /** Answers errors in a shape that differs from the common one. */
  readonly errorHandler?: (error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply) => void
}

/**
 * An operation of the interface. Its hooks, its validation, the OpenAPI document and the reference pages are all
 * derived from this one value.
 */
export interface Route<Context, Access extends RouteAccess = RouteAccess> extends RouteTexts {
  /** Path in the router's notation: `/v1/:chain`. */
  readonly path: string
  readonly operationId: OperationIds[Access]
  readonly access: Access
  readonly body?: TSchema
  readonly handler: (context: Context, request: FastifyRequest, reply: FastifyReply) => unknown
}

/** A route of unknown context. Its texts and schemas can be read, its handler can't be called. */
export type AnyRoute = Route<never>

/** A route as its file declares it, with a request that is typed by its path and the schema of its body. */
interface RouteSource<
  Context,
  Access extends RouteAccess,
  Path extends string,
  Body extends TSchema,
> extends RouteTexts {
  readonly path: Path
  readonly operationId: OperationIds[Access]
  readonly access: Access
  readonly body?: Body
  readonly handler: (context: Context, request: FastifyRequest<RequestOf<Path, Body>>, reply: FastifyReply) => unknown
}

interface RequestOf<Path extends string, Body extends TSchema> {
  readonly Params: Readonly<Record<ParameterOf<Path>, string>>
  readonly Querystring: Readonly<Record<string, unknown>>
  readonly Body: Static<Body>
}

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

const LIST_WEIGHT: WeightRule = { of: listWeight, words: '1 for every 100 entries of its `limit`, or part of them' }

/** Returns the rule by which a request of a route weighs more than 1; `undefined` when none does. */
export function weightRule({ query, weight }: Pick<RouteTexts, 'query' | 'weight'>): WeightRule | undefined {
  return weight ?? (query?.limit === undefined ? undefined : LIST_WEIGHT)
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** The answer to a client that names the tag of the present answer in `If-None-Match`. */
export const UNCHANGED = { 304: 'The answer is still the one whose `ETag` is in `If-None-Match`.' } as const

/**
 * Makes a route. The cast is sound because the router fills the parameters of the path and validates the body against
 * its schema before it calls the handler.
 */
export function defineRoute<
  Context,
  Access extends RouteAccess,
  const Path extends string,
  Body extends TSchema = TUnknown,
>(route: RouteSource<Context, Access, Path, Body>): Route<Context, Access> {
  return { ...route, handler: route.handler as Route<Context, Access>['handler'] }
}

/** Begins the answer about something new, which can be read at the path from now on. */
export function created(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(201).header('Location', path)
}
