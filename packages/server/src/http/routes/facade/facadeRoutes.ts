import type { FastifyInstance } from 'fastify'
import { hlExchange, type HlExchangeContext } from './hlExchange.ts'
import { hlInfo, type HlInfoContext } from './hlInfo.ts'

export type FacadeRoutesContext = HlInfoContext & HlExchangeContext

/** Every operation of the exchange-shaped facade. */
export function registerFacadeRoutes(app: FastifyInstance, context: FacadeRoutesContext): void {
  hlInfo(app, context)
  hlExchange(app, context)
}
