import type { FastifyInstance } from 'fastify'
import { registerRoute } from '../hooks/registerRoute.ts'
import type { WriteContext } from '../hooks/authenticate.ts'
import type { OwnerContext } from '../hooks/ownerOnAnyChain.ts'
import type { AnyRoute, Route } from '../route.ts'
import { getAccountRoute } from './account/getAccount.ts'
import { listAuditRoute } from './account/listAudit.ts'
import { listEventsRoute, type EventsContext } from './account/listEvents.ts'
import { listFillsRoute } from './account/listFills.ts'
import { listOpenOrdersRoute } from './account/listOpenOrders.ts'
import { listOrderHistoryRoute } from './account/listOrderHistory.ts'
import { listPositionsRoute } from './account/listPositions.ts'
import type { AccountContext } from './account/ownAccount.ts'
import type { AgentRoutesContext } from './agents/agentRoutes.ts'
import { createAgentRoute } from './agents/createAgent.ts'
import { getAgentRoute } from './agents/getAgent.ts'
import { issueApiKeyRoute } from './agents/issueApiKey.ts'
import { listApiKeysRoute } from './agents/listApiKeys.ts'
import { revokeAgentRoute } from './agents/revokeAgent.ts'
import { revokeApiKeyRoute } from './agents/revokeApiKey.ts'
import { hlExchangeRoute, type HlExchangeContext } from './facade/hlExchange.ts'
import { hlInfoRoute, type HlInfoContext } from './facade/hlInfo.ts'
import { getCandlesRoute, type CandlesContext } from './markets/getCandles.ts'
import { getFundingRoute } from './markets/getFunding.ts'
import { getMarketRoute } from './markets/getMarket.ts'
import { getOrderBookRoute } from './markets/getOrderBook.ts'
import { getPricesRoute } from './markets/getPrices.ts'
import { getRecentTradesRoute } from './markets/getRecentTrades.ts'
import { listMarketsRoute } from './markets/listMarkets.ts'
import type { MarketsContext } from './markets/marketsOf.ts'
import { dismissNotificationRoute } from './notifications/dismissNotification.ts'
import { listNotificationsRoute, type NotificationsContext } from './notifications/listNotifications.ts'
import { cancelAllOrdersRoute } from './orders/cancelAllOrders.ts'
import { cancelOrderRoute } from './orders/cancelOrder.ts'
import { createOrderRoute } from './orders/createOrder.ts'
import { getOrderRoute } from './orders/getOrder.ts'
import { getOrderByClientIdRoute } from './orders/getOrderByClientId.ts'
import { submitOrderRoute } from './orders/submitOrder.ts'
import { updateOrderRoute } from './orders/updateOrder.ts'
import { cancelPositionUpdateRoute } from './positions/cancelPositionUpdate.ts'
import { closeAllPositionsRoute } from './positions/closeAllPositions.ts'
import { closePositionRoute } from './positions/closePosition.ts'
import { flattenRoute } from './positions/flatten.ts'
import { getPositionRoute } from './positions/getPosition.ts'
import { updatePositionRoute } from './positions/updatePosition.ts'
import { previewCloseRoute } from './preview/previewClose.ts'
import { previewOrderRoute } from './preview/previewOrder.ts'
import { previewPositionRoute } from './preview/previewPosition.ts'
import type { PreviewContext } from './preview/readQuestion.ts'
import { getChainInfoRoute, type SystemContext } from './system/getChainInfo.ts'
import { getTimeRoute, type TimeContext } from './system/getTime.ts'
import { getIndexRoute, type IndexContext } from './system/getIndex.ts'
import { healthRoute } from './system/health.ts'
import { readyRoute, type ReadyContext } from './system/ready.ts'
import type { Role } from '../../settings/roles.ts'

/** The context of the public routes. */
export type PublicContext = IndexContext & MarketsContext & SystemContext & ReadyContext & TimeContext

/** The context of the routes of the native interface and of their hooks. */
export type RouteContext = PublicContext &
  CandlesContext &
  AgentRoutesContext &
  AccountContext &
  EventsContext &
  PreviewContext &
  WriteContext &
  OwnerContext &
  NotificationsContext

export type FacadeRoutesContext = HlInfoContext & HlExchangeContext

/** Operations that need no credentials and no store. */
export const PUBLIC_ROUTES: readonly Route<PublicContext, 'public'>[] = [
  getIndexRoute,
  healthRoute,
  readyRoute,
  getTimeRoute,
  getChainInfoRoute,
  listMarketsRoute,
  getMarketRoute,
  getOrderBookRoute,
  getFundingRoute,
  getPricesRoute,
]

/** Every operation of the native interface. */
const NATIVE_ROUTES: readonly Route<RouteContext>[] = [
  ...PUBLIC_ROUTES,
  getRecentTradesRoute,
  getCandlesRoute,
  createAgentRoute,
  getAgentRoute,
  revokeAgentRoute,
  issueApiKeyRoute,
  listApiKeysRoute,
  revokeApiKeyRoute,
  getAccountRoute,
  listPositionsRoute,
  listOpenOrdersRoute,
  listOrderHistoryRoute,
  listFillsRoute,
  listEventsRoute,
  listAuditRoute,
  previewOrderRoute,
  previewCloseRoute,
  previewPositionRoute,
  getOrderRoute,
  getOrderByClientIdRoute,
  createOrderRoute,
  updateOrderRoute,
  cancelOrderRoute,
  cancelAllOrdersRoute,
  submitOrderRoute,
  getPositionRoute,
  closePositionRoute,
  updatePositionRoute,
  cancelPositionUpdateRoute,
  closeAllPositionsRoute,
  flattenRoute,
  listNotificationsRoute,
  dismissNotificationRoute,
]

/** The operations of a node that answers no requests of clients. */
const PROBE_ROUTES: readonly Route<RouteContext>[] = [healthRoute, readyRoute, getTimeRoute]

/** Every operation of the exchange-shaped facade. */
const FACADE_ROUTES: readonly Route<FacadeRoutesContext>[] = [hlInfoRoute, hlExchangeRoute]

/** Every operation, in the order of the reference. */
export const ROUTES: readonly AnyRoute[] = [...NATIVE_ROUTES, ...FACADE_ROUTES]

/** Tells which roles a node has. */
type HasRole = (role: Role) => boolean

/** Registers the native operations that a node with these roles answers. Default: all. */
export function registerRoutes(app: FastifyInstance, context: RouteContext, has: HasRole = () => true): void {
  for (const route of has('api') ? NATIVE_ROUTES : PROBE_ROUTES) registerRoute(app, route, context)
}

/** Registers the operations of the facade that a node with these roles answers. Default: all. */
export function registerFacadeRoutes(
  app: FastifyInstance,
  context: FacadeRoutesContext,
  has: HasRole = () => true,
): void {
  const answered = FACADE_ROUTES.filter((route) => has('api') || (has('relayer') && route === hlExchangeRoute))
  for (const route of answered) registerRoute(app, route, context)
}
