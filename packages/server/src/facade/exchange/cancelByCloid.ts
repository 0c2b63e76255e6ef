import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { cancelOne } from './cancel.ts'
import { findByCloid } from './cloids.ts'
import { cancelsAnswer, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { assetAt, cloidAt, listAt, objectAt } from './fields.ts'
import { requireBatch, runBatch } from './runBatch.ts'

/** Cancels orders by their client ids. */
export function cancelByCloid(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = requireBatch(listAt(action.cancels, 'action.cancels'), 'cancels').map(readCancel)
  return async (context) => {
    const statuses = await runBatch(context, items, {
      keyOf: ({ cloid }) => cloid,
      suffixOf: () => '',
      take: async ({ asset, cloid }) => cancelOne(context, { asset, oid: await findByCloid(context, cloid) }),
    })
    return cancelsAnswer(statuses)
  }
}

function readCancel(value: JsonValue, at: number) {
  const path = `action.cancels[${at}]`
  const item = objectAt(value, path)
  return { asset: assetAt(item.asset, `${path}.asset`), cloid: cloidAt(item.cloid, `${path}.cloid`) }
}
