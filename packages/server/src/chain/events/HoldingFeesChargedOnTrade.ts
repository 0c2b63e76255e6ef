import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** Pending holding fees of a position were charged: live contracts only. Carries its new totals. */
export const HoldingFeesChargedOnTrade = defineEvent(moneyEventsAbi, 'HoldingFeesChargedOnTrade')
