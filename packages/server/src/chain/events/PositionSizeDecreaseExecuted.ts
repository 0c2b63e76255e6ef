import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A partial close is done, or refused when `cancelReason` is not 0. */
export const PositionSizeDecreaseExecuted = defineEvent(orderEventsAbi, 'PositionSizeDecreaseExecuted')
