import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A leverage update is done, or refused when `cancelReason` is not 0. */
export const LeverageUpdateExecuted = defineEvent(orderEventsAbi, 'LeverageUpdateExecuted')
