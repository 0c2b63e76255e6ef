import { orderEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** The oracle's answer found that a market close can't be done; the position stays. */
export const MarketCloseCanceled = defineEvent(orderEventsAbi, 'MarketCloseCanceled')
