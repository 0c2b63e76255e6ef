import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** From here on a position owes only the holding fees that accrue after this block. */
export const TradeInitialAccFeesStored = defineEvent(moneyEventsAbi, 'TradeInitialAccFeesStored')
