import type { FastifyInstance } from 'fastify'
import { hlInfo, type HlInfoContext } from './hlInfo.ts'

export type FacadeRoutesContext = HlInfoContext

/** Every operation of the exchange-shaped facade. */
export function registerFacadeRoutes(app: FastifyInstance, context: FacadeRoutesContext): void {
  hlInfo(app, context)
}
