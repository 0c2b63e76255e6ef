import type { FastifyInstance } from 'fastify'
import type { ChainReadiness } from '../../chain/chainReadiness.ts'
import type { PrivateContext } from '../hooks/privateRead.ts'
import { getAccount } from './account/getAccount.ts'
import type { AgentRoutesContext } from './agents/agentRoutes.ts'
import { createAgent } from './agents/createAgent.ts'
import { getAgent } from './agents/getAgent.ts'
import { issueApiKey } from './agents/issueApiKey.ts'
import { revokeAgent } from './agents/revokeAgent.ts'
import { getFunding } from './markets/getFunding.ts'
import { getMarket } from './markets/getMarket.ts'
import { getPrices } from './markets/getPrices.ts'
import { listMarkets } from './markets/listMarkets.ts'
import type { MarketsContext } from './markets/marketsOf.ts'
import { getChainInfo } from './system/getChainInfo.ts'
import { health } from './system/health.ts'
import { ready } from './system/ready.ts'

/** What the public routes answer from. */
export interface PublicContext extends MarketsContext {
  readonly readiness: Pick<ChainReadiness, 'isReady'>
  readonly domainName: string
}

export type RouteContext = PublicContext & AgentRoutesContext & PrivateContext

/** Every operation, by its operation id. */
export function registerRoutes(app: FastifyInstance, context: RouteContext): void {
  registerPublicRoutes(app, context)
  createAgent(app, context)
  getAgent(app, context)
  revokeAgent(app, context)
  issueApiKey(app, context)
  getAccount(app, context)
}

/** What needs no credentials and no store. */
export function registerPublicRoutes(app: FastifyInstance, context: PublicContext): void {
  health(app, context)
  ready(app, context)
  getChainInfo(app, context)
  listMarkets(app, context)
  getMarket(app, context)
  getFunding(app, context)
  getPrices(app, context)
}
