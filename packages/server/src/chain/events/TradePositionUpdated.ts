import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position changed its size, leverage or collateral; carries all that the change can touch. */
export const TradePositionUpdated = defineEvent(storageEventsAbi, 'TradePositionUpdated')
