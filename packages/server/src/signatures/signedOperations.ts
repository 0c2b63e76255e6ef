/** Operations an agent signs: each is the primary type of its request's struct. `wsAuth` is the handshake of the stream. */
export const SIGNED_OPERATIONS = [
  'getAccount',
  'listPositions',
  'listOpenOrders',
  'listOrderHistory',
  'listFills',
  'listEvents',
  'getOrder',
  'createOrder',
  'updateOrder',
  'cancelOrder',
  'submitOrder',
  'closePosition',
  'updatePosition',
  'dismissNotification',
  'wsAuth',
] as const

export type SignedOperation = (typeof SIGNED_OPERATIONS)[number]
