// The part of the protocol that clients need, browsers included: nothing here uses node, and schemas are exported as
// types only.

export * from './abi/marketsAbi.ts'
export * from './abi/tradingAbi.ts'
export * from './values/decimal.ts'
export * from './enums.ts'
export * from './errors.ts'
export * from './scales.ts'
export * from './typedData.ts'
export * from './values/chains.ts'
export * from './values/identifiers.ts'
export type * from './schemas/account.ts'
export type * from './schemas/agent.ts'
export type * from './schemas/market.ts'
export type * from './schemas/notification.ts'
export type * from './schemas/order.ts'
export type * from './schemas/position.ts'
export type * from './schemas/stream.ts'
