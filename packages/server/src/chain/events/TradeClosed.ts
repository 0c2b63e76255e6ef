import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position is closed, or a resting order left the book: executed or cancelled. */
export const TradeClosed = defineEvent(storageEventsAbi, 'TradeClosed')
