import type { ErrorCode } from '@bezel/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PrivateContext } from '../../access/authenticateCall.ts'
import { weightRule, type AnyRoute, type OperationIds, type Route, type RouteAccess } from '../route.ts'
import { refuseInvalidWrite, requirePrivateRead, requirePrivateWrite, type WriteContext } from './authenticate.ts'
import { requireWallet, requireWalletOrAgent } from './requireWallet.ts'
import { requireOwnerOnAnyChain, type OwnerContext } from './ownerOnAnyChain.ts'

/** The context that the hooks need, by kind of access. */
interface AccessContexts {
  public: object
  read: PrivateContext
  write: WriteContext
  owner: OwnerContext
  wallet: PrivateContext
  walletOrAgent: PrivateContext
  master: object
  envelope: object
}

type Hook = (request: FastifyRequest) => Promise<void>

interface AccessHooks {
  /** Authenticates and authorises the caller before the body is validated. */
  readonly preValidation: readonly Hook[]
  /** Refuses a body that breaks its schema. Without this hook the framework refuses it right after validation. */
  readonly preHandler?: Hook
}

/** The hooks, by kind of access. */
const HOOKS: {
  readonly [Access in RouteAccess]: (context: AccessContexts[Access], operation: OperationIds[Access]) => AccessHooks
} = {
  public: () => ({ preValidation: [] }),
  read: (context, operation) => ({ preValidation: [requirePrivateRead(context, operation)] }),
  write: (context, operation) => ({
    preValidation: [requirePrivateWrite(context, operation)],
    preHandler: refuseInvalidWrite(context),
  }),
  owner: (context, operation) => ({ preValidation: [requireOwnerOnAnyChain(context, operation)] }),
  wallet: (context, operation) => ({ preValidation: [requireWallet(context, operation)] }),
  walletOrAgent: (context, operation) => ({ preValidation: [requireWalletOrAgent(context, operation)] }),
  master: () => ({ preValidation: [] }),
  envelope: () => ({ preValidation: [] }),
}

const SIGNATURE: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'INVALID_SIGNATURE',
  'TIMESTAMP_OUT_OF_WINDOW',
  'NONCE_REUSED',
  'AGENT_UNKNOWN',
  'AGENT_NOT_DELEGATED',
  'AGENT_EXPIRED',
  'AGENT_REVOKED',
  'TRADER_MISMATCH',
  // The delegate is read from the chain, and the nonce is kept in the store.
  'UPSTREAM_UNAVAILABLE',
  'NOT_READY',
]

/** A wallet that signs for itself is no agent: it needs neither registration nor delegation. */
const WALLET = SIGNATURE.filter((code) => !code.startsWith('AGENT_') && code !== 'UPSTREAM_UNAVAILABLE')

/** The error codes that each kind of access adds to an operation. */
export const ACCESS_ERRORS: Readonly<Record<RouteAccess, readonly ErrorCode[]>> = {
  public: [],
  read: [...SIGNATURE, 'API_KEY_UNKNOWN'],
  write: [...SIGNATURE, 'SCOPE_READ_ONLY', 'UNSUPPORTED'],
  // The routes with this access declare all their answers themselves.
  owner: [],
  wallet: WALLET,
  walletOrAgent: SIGNATURE.filter((code) => code !== 'AGENT_UNKNOWN'),
  // The signature of a contract wallet is checked by a call to the chain.
  master: ['INVALID_SIGNATURE', 'TIMESTAMP_OUT_OF_WINDOW', 'NONCE_REUSED', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  envelope: [],
}

/** Kinds of access whose answers say nothing about a commit: what everybody sees, and the facade. */
const OPEN: ReadonlySet<RouteAccess> = new Set(['public', 'envelope'])

/** Registers a route with the hooks of its kind of access. */
export function registerRoute<Context, Access extends RouteAccess>(
  app: FastifyInstance,
  route: Route<Context, Access>,
  context: Context & AccessContexts[Access],
): void {
  const { method, path, operationId, access, body, responses, errorHandler, handler } = route
  const { preValidation, preHandler } = HOOKS[access](context, operationId)
  const schema = { operationId, ...(body === undefined ? {} : { body }), response: responses }
  app.route({
    method,
    url: path,
    schema,
    config: {
      weightOf: weightRule(route)?.of,
      isAnonymous: isAnonymous(route),
      isPrivate: !OPEN.has(access),
      isSigned: access !== 'public',
    },
    ...(access === 'public' ? {} : { onRequest: forbidStoring }),
    preValidation: route.isBodyOptional === true ? [...preValidation, acceptNoBody] : [...preValidation],
    ...(preHandler === undefined ? {} : { attachValidation: true, preHandler }),
    ...(route.checksOwnBody === true ? { validatorCompiler: () => () => true } : {}),
    ...(errorHandler === undefined ? {} : { errorHandler }),
    handler: (request, reply) => handler(context, request, reply),
  })
}

/**
 * True for a route that nobody's exit depends on: open to everybody, or one that stores something new. What ends an
 * agent or a key is none, and an envelope is judged by its action.
 */
function isAnonymous({ access, tag, isRegistration }: Pick<AnyRoute, 'access' | 'tag' | 'isRegistration'>): boolean {
  return isRegistration === true || (access === 'public' && tag !== 'System')
}

/** Keeps caches from storing what only the caller may see. Set first, so that refusals carry it too. */
function forbidStoring(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header('Cache-Control', 'no-store')
  done()
}

/** Reads a missing body as `{}`, because every field of it is optional. A body of `null` stays and fails validation. */
async function acceptNoBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
