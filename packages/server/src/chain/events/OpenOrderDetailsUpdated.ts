import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A resting order's terms changed; `sl` is what the Diamond made of it. */
export const OpenOrderDetailsUpdated = defineEvent(storageEventsAbi, 'OpenOrderDetailsUpdated')
