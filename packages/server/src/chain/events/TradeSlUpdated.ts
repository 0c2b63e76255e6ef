import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position's stop loss changed at once; `newSl` is what the Diamond made of it. */
export const TradeSlUpdated = defineEvent(storageEventsAbi, 'TradeSlUpdated')
