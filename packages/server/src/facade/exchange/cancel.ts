import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { cancelOne } from './cancelOne.ts'
import { cancelsAnswer, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { assetAt, listAt, objectAt, oidAt } from './fields.ts'
import { requireBatch, runBatch } from './runBatch.ts'

/** Cancels orders by their ids. */
export function cancel(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = listAt(action.cancels, 'action.cancels').map(readCancel)
  return async (context) => {
    requireBatch(items, 'cancels')
    const statuses = await runBatch(context, items, {
      keyOf: ({ oid }) => String(oid),
      suffixOf: () => '',
      take: (item) => cancelOne(context, item),
    })
    return cancelsAnswer(statuses)
  }
}

function readCancel(value: JsonValue, at: number) {
  const path = `action.cancels[${at}]`
  const item = objectAt(value, path)
  return { asset: assetAt(item.a, `${path}.a`), oid: oidAt(item.o, `${path}.o`) }
}
