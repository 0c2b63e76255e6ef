import type {
  ClosePositionRequest,
  CreateOrderRequest,
  Order,
  Position,
  UpdateOrderRequest,
  UpdatePositionRequest,
} from '@bezel/protocol/wire'

/** What was asked for. An order or position is what the caller saw before it asked. */
export type WriteRequest =
  | { readonly operation: 'createOrder'; readonly body: CreateOrderRequest }
  | { readonly operation: 'updateOrder'; readonly order: Order; readonly body: UpdateOrderRequest }
  | { readonly operation: 'cancelOrder'; readonly order: Order }
  | { readonly operation: 'closePosition'; readonly position: Position; readonly body: ClosePositionRequest }
  | { readonly operation: 'updatePosition'; readonly position: Position; readonly body: UpdatePositionRequest }
