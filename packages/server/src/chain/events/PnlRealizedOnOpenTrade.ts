import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** Profit or loss of an open position was realised; carries the new total. */
export const PnlRealizedOnOpenTrade = defineEvent(moneyEventsAbi, 'PnlRealizedOnOpenTrade')
