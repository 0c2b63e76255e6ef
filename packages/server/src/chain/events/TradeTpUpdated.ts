import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position's take profit changed at once, without the oracle. */
export const TradeTpUpdated = defineEvent(storageEventsAbi, 'TradeTpUpdated')
