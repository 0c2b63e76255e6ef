import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A size increase is done, or refused when `cancelReason` is not 0. */
export const PositionSizeIncreaseExecuted = defineEvent(orderEventsAbi, 'PositionSizeIncreaseExecuted')
