import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** A route that is an operation of the interface. */
export interface OperationRoute {
  readonly operationId: string
  /** Upper case. */
  readonly method: string
  /** As the router has it: `/v1/:chain`. */
  readonly url: string
  readonly body: TSchema | undefined
  readonly query: TSchema | undefined
  /** By status. */
  readonly responses: Readonly<Record<string, TSchema>>
}

/** What a route of ours declares. */
interface RouteSchema {
  readonly operationId?: string
  readonly body?: TSchema
  readonly querystring?: TSchema
  readonly response?: Readonly<Record<string, TSchema>>
}

/** Every operation registered from now on; the list grows with them. Routes without an operation id are no part of the interface. */
export function collectRoutes(app: FastifyInstance): readonly OperationRoute[] {
  const routes: OperationRoute[] = []
  app.addHook('onRoute', (options) => {
    routes.push(...operationsOf(options))
  })
  return routes
}

function operationsOf({ method, url, schema = {} }: RouteOptions): OperationRoute[] {
  const { operationId, body, querystring, response = {} } = schema as RouteSchema
  if (operationId === undefined) return []
  return [method]
    .flat()
    .filter((name) => name !== 'HEAD')
    .map((name) => ({ operationId, method: name, url, body, query: querystring, responses: response }))
}
