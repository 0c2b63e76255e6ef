import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position's collateral changed and nothing else: live contracts only. */
export const TradeCollateralUpdated = defineEvent(storageEventsAbi, 'TradeCollateralUpdated')
