import type { ExchangeAction } from '../signing/envelope.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { RunAction } from './exchangeParts.ts'
import { modifyOne, readModify } from './modifyOne.ts'

/** Changes one order. */
export function modify(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asked = readModify(action, 'action')
  return async (context) => {
    const status = await (await modifyOne(context, asked)).status
    if (typeof status === 'object' && 'error' in status) throw new ExchangeErr(status.error)
    return OK_DEFAULT
  }
}
