import type { ExchangeAction } from '../signing/envelope.ts'
import type { TradeAction } from './actions.ts'
import { batchModify } from './batchModify.ts'
import { cancel } from './cancel.ts'
import { cancelByCloid } from './cancelByCloid.ts'
import type { ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { modify } from './modify.ts'
import { order } from './order.ts'
import { scheduleCancel } from './scheduleCancel.ts'
import { updateIsolatedMargin } from './updateIsolatedMargin.ts'
import { updateLeverage } from './updateLeverage.ts'

/** What each action of an agent does, once it is read. Reading throws a `MalformedEnvelope`. */
export const TRADE_ACTIONS: Readonly<Record<TradeAction, (action: ExchangeAction) => RunAction<ExchangeAnswer>>> = {
  order,
  cancel,
  cancelByCloid,
  modify,
  batchModify,
  updateLeverage,
  updateIsolatedMargin,
  scheduleCancel,
}
