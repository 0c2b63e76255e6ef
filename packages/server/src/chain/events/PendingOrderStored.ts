import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A request waits for the oracle. What it asks for is in its `trade`, by order type; of bots' triggers `user` is the bot. */
export const PendingOrderStored = defineEvent(storageEventsAbi, 'PendingOrderStored')
