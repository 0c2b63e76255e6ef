import type { FastifyInstance } from 'fastify'
import type { ChainReadiness } from '../../chain/chainReadiness.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { getChainInfo } from './system/getChainInfo.ts'
import { health } from './system/health.ts'
import { ready } from './system/ready.ts'

/** What the routes answer from. */
export interface RouteContext {
  readonly chains: readonly ServedChain[]
  readonly readiness: ChainReadiness
  readonly domainName: string
}

/** Every operation, by its operation id. */
export function registerRoutes(app: FastifyInstance, context: RouteContext): void {
  health(app, context)
  ready(app, context)
  getChainInfo(app, context)
}
