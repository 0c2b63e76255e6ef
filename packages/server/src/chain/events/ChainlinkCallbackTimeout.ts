import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A request that the oracle never answered was taken back by its trader. */
export const ChainlinkCallbackTimeout = defineEvent(orderEventsAbi, 'ChainlinkCallbackTimeout')
