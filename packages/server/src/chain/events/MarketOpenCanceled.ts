import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** The oracle's answer found that a market open can't be done. */
export const MarketOpenCanceled = defineEvent(orderEventsAbi, 'MarketOpenCanceled')
