import { moneyEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A trading fee was shared out; stands before the execution that it was charged for. */
export const FeesProcessed = defineEvent(moneyEventsAbi, 'FeesProcessed')
