import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** Pending holding fees of a position became realised loss or profit; carries the new total. */
export const HoldingFeesRealizedOnTrade = defineEvent(moneyEventsAbi, 'HoldingFeesRealizedOnTrade')
