import type { FastifyInstance } from 'fastify'
import { getAccount } from './account/getAccount.ts'
import { listEvents, type EventsContext } from './account/listEvents.ts'
import { listFills } from './account/listFills.ts'
import { listOpenOrders } from './account/listOpenOrders.ts'
import { listOrderHistory } from './account/listOrderHistory.ts'
import { listPositions } from './account/listPositions.ts'
import type { AgentRoutesContext } from './agents/agentRoutes.ts'
import { createAgent } from './agents/createAgent.ts'
import { getAgent } from './agents/getAgent.ts'
import { issueApiKey } from './agents/issueApiKey.ts'
import { revokeAgent } from './agents/revokeAgent.ts'
import { getCandles, type CandlesContext } from './markets/getCandles.ts'
import { getFunding } from './markets/getFunding.ts'
import { getMarket } from './markets/getMarket.ts'
import { getOrderBook } from './markets/getOrderBook.ts'
import { getPrices } from './markets/getPrices.ts'
import { getRecentTrades } from './markets/getRecentTrades.ts'
import { listMarkets } from './markets/listMarkets.ts'
import type { MarketsContext } from './markets/marketsOf.ts'
import { dismissNotification } from './notifications/dismissNotification.ts'
import { listNotifications, type NotificationsContext } from './notifications/listNotifications.ts'
import { cancelOrder } from './orders/cancelOrder.ts'
import { createOrder } from './orders/createOrder.ts'
import { getOrder } from './orders/getOrder.ts'
import type { OrderWriteContext } from './orders/orderWrite.ts'
import { submitOrder } from './orders/submitOrder.ts'
import { updateOrder } from './orders/updateOrder.ts'
import { closePosition } from './positions/closePosition.ts'
import { updatePosition } from './positions/updatePosition.ts'
import { getChainInfo, type SystemContext } from './system/getChainInfo.ts'
import { health } from './system/health.ts'
import { ready, type ReadyContext } from './system/ready.ts'

/** What the public routes answer from. */
export type PublicContext = MarketsContext & SystemContext & ReadyContext

export type RouteContext = PublicContext &
  CandlesContext &
  AgentRoutesContext &
  EventsContext &
  OrderWriteContext &
  NotificationsContext

/** Every operation, by its operation id. */
export function registerRoutes(app: FastifyInstance, context: RouteContext): void {
  registerPublicRoutes(app, context)
  getRecentTrades(app, context)
  getCandles(app, context)
  createAgent(app, context)
  getAgent(app, context)
  revokeAgent(app, context)
  issueApiKey(app, context)
  getAccount(app, context)
  listPositions(app, context)
  listOpenOrders(app, context)
  listOrderHistory(app, context)
  listFills(app, context)
  listEvents(app, context)
  getOrder(app, context)
  createOrder(app, context)
  updateOrder(app, context)
  cancelOrder(app, context)
  submitOrder(app, context)
  closePosition(app, context)
  updatePosition(app, context)
  listNotifications(app, context)
  dismissNotification(app, context)
}

/** What needs no credentials and no store. */
export function registerPublicRoutes(app: FastifyInstance, context: PublicContext): void {
  health(app, context)
  ready(app, context)
  getChainInfo(app, context)
  listMarkets(app, context)
  getMarket(app, context)
  getOrderBook(app, context)
  getFunding(app, context)
  getPrices(app, context)
}
