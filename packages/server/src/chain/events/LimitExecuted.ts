import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A trigger is done: a resting order (`limitIndex`) became a position (`index`), or a position was closed by TP, SL or liquidation. */
export const LimitExecuted = defineEvent(orderEventsAbi, 'LimitExecuted')
