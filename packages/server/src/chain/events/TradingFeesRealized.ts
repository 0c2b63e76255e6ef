import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A fee was charged to an open position; carries its new totals. */
export const TradingFeesRealized = defineEvent(moneyEventsAbi, 'TradingFeesRealized')
