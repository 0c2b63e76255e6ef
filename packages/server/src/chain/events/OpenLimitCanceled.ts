import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A resting order was taken back by its trader. */
export const OpenLimitCanceled = defineEvent(orderEventsAbi, 'OpenLimitCanceled')
