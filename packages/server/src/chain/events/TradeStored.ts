import { storageEventsAbi } from '@bezel/protocol'
import { defineEvent } from './defineEvent.ts'

/** A position is open (`tradeType` TRADE, stored by the oracle's answer) or an order rests (LIMIT, STOP, stored by its transaction). */
export const TradeStored = defineEvent(storageEventsAbi, 'TradeStored')
