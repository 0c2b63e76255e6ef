import { hostname } from 'node:os'
import process from 'node:process'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Levels at which every answer is logged. */
const ANSWER_LOG_LEVELS: ReadonlySet<string> = new Set(['trace', 'debug', 'info'])

/** The lines of the log: which node writes them, and where to. */
export interface LogPlace {
  /** Id of this process, which every line has. */
  readonly node?: string
  /** Default: standard error. */
  readonly stream?: { write(line: string): unknown }
}

/** Returns the settings of the log: one JSON object a line, each with the node, and of an error what may be told. */
export function logSettings(level: string, { node, stream = process.stderr }: LogPlace) {
  const base = { pid: process.pid, hostname: hostname(), node }
  return { level, stream, base, serializers: { err: (error: unknown) => loggedError(error) } }
}

/** True for a level at which every answer is logged. */
export function isAnswerLogged(level: string): boolean {
  return ANSWER_LOG_LEVELS.has(level)
}

/**
 * Logs one line per answer. Headers, bodies and the path are left out: the first two carry credentials, and a client
 * may have written one into the third by mistake.
 */
export function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { id: requestId, method, errorCode: code } = request
  const { statusCode: status, elapsedTime } = reply
  const ms = Math.round(elapsedTime * 1000) / 1000
  request.log.info({ requestId, method, operation: operationOf(request), status, code, ms }, 'answered')
}

/** Returns the operation id of a request's route; `none` where it has none, or no route matched. */
export function operationOf({ routeOptions }: FastifyRequest): string {
  const { operationId } = (routeOptions.schema ?? {}) as { operationId?: string }
  return operationId ?? 'none'
}

/** The parts of an error that are logged. */
interface LoggedError extends Record<string, unknown> {
  readonly type: string
  readonly message: string
  readonly stack: string
}

/** Errors that are logged of one that is caused by another, and so on. */
const MAX_CAUSES = 4

/**
 * Returns what is logged of an error. Its further fields are left out: drivers put rows, commands and addresses with
 * their passwords there.
 */
function loggedError(error: unknown, left = MAX_CAUSES): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'no error was thrown', stack: '' }
  const { name: type, message, stack = '', cause } = error
  const { code } = error as { readonly code?: unknown }
  const isLast = !(cause instanceof Error) || left === 1
  return { type, message, code, stack, ...(isLast ? {} : { cause: loggedError(cause, left - 1) }) }
}
