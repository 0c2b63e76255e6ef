import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** The slippage that closes of a position may bear changed. */
export const TradeMaxClosingSlippagePUpdated = defineEvent(storageEventsAbi, 'TradeMaxClosingSlippagePUpdated')
