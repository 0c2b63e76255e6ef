import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A market open or close is done. `marketPrice` is the execution price; of an open `index` is the new position's. */
export const MarketExecuted = defineEvent(orderEventsAbi, 'MarketExecuted')
