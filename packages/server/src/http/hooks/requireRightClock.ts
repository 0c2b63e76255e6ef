import type { FastifyInstance, RouteOptions } from 'fastify'
import { notReady } from '../../ground/unavailable.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route whose requests carry a signature or a key. */
    isSigned?: boolean
  }
}

/**
 * Refuses signed requests while the clock of this node is wrong: it judges by it which of them are recent, and dates by
 * it what they write. Register it before the routes.
 */
export function requireRightClock(app: FastifyInstance, clock: { readonly isWrong: () => boolean }): void {
  const refuse = (_request: unknown, _reply: unknown, done: (error?: Error) => void): void =>
    clock.isWrong() ? done(notReady('clock')) : done()
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.isSigned === true) route.onRequest = [...[route.onRequest ?? []].flat(), refuse]
  })
}
