import fastify, { type FastifyInstance } from 'fastify'
import { SERVER_SETTINGS } from '../../settings/config.ts'
import { registerFacadeRoutes, type FacadeRoutesContext } from '../../http/routes/facade/facadeRoutes.ts'
import { registerRoutes, type RouteContext } from '../../http/routes/registerRoutes.ts'
import { collectRoutes, type OperationRoute } from './collectRoutes.ts'
import { createDocument, type OpenapiDocument } from './createDocument.ts'

/** Every route of the service, without a service: nothing behind them is ever called. */
export function registerReferenceRoutes(app: FastifyInstance): void {
  const context: Pick<RouteContext, 'chains'> = { chains: [] }
  registerRoutes(app, { authenticate: {}, ...context } as unknown as RouteContext)
  registerFacadeRoutes(app, context as unknown as FacadeRoutesContext)
}

export function referenceRoutes(): readonly OperationRoute[] {
  const app = fastify()
  const routes = collectRoutes(app)
  registerReferenceRoutes(app)
  return routes
}

/** The document of a deployment with default settings, as committed. */
export function referenceDocument(): OpenapiDocument {
  return createDocument(referenceRoutes(), SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue)
}
