import type { ExchangeAction } from '../signing/envelope.ts'
import { ordersAnswer, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { listAt } from './fields.ts'
import { modifyKey, modifyOne, readModify } from './modify.ts'
import { requireBatch, runBatch } from './runBatch.ts'

/** Changes several orders. */
export function batchModify(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const listed = requireBatch(listAt(action.modifies, 'action.modifies'), 'modifies')
  const modifies = listed.map((item, at) => readModify(item, `action.modifies[${at}]`))
  return async (context) => {
    const statuses = await runBatch(context, modifies, {
      keyOf: modifyKey,
      suffixOf: ({ item }) => ` asset=${item.asset}`,
      take: (asked) => modifyOne(context, asked),
    })
    return ordersAnswer(statuses)
  }
}
