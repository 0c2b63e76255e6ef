import type { RelayVersion } from '../../store/relayRecord.ts'
import { parseReceipt } from '../../chain/chainJson.ts'
import type { RpcOutcome } from '../../chain/rpcOutcome.ts'
import { weiOf } from './fees.ts'
import type { MinedVersion } from './relayContext.ts'

/** What the receipts of an entry's versions say: one is mined, none is, or it can't be told because the node refused one of them. */
export type Receipts = MinedVersion | 'none' | 'unknown'

/** `outcomes` in the order of the versions. */
export function parseMined(versions: readonly RelayVersion[], outcomes: readonly RpcOutcome[]): Receipts {
  const found = versions.map((version, i) => receiptIn(version, outcomes[i]))
  const mined = found.find((one) => typeof one === 'object')
  if (mined !== undefined) return mined
  return found.includes('unknown') ? 'unknown' : 'none'
}

function receiptIn({ hash, kind }: RelayVersion, outcome: RpcOutcome | undefined): Receipts {
  if (outcome?.ok !== true) return 'unknown'
  try {
    const receipt = parseReceipt(outcome.result)
    if (receipt === undefined) return 'none'
    const costWei = costOf(outcome.result)
    if (receipt.txHash !== hash || costWei === undefined) return 'unknown'
    const { blockNumber, blockHash, isReverted } = receipt
    return { hash, kind, blockNumber, blockHash, costWei, isReverted }
  } catch {
    return 'unknown'
  }
}

/** Roll-ups that do not put the bytes they publish into the gas name them apart. */
function costOf(receipt: unknown): bigint | undefined {
  const { gasUsed, effectiveGasPrice, l1Fee } = receipt as Readonly<Record<string, unknown>>
  const used = weiOf(gasUsed)
  const price = weiOf(effectiveGasPrice)
  return used === undefined || price === undefined ? undefined : used * price + (weiOf(l1Fee) ?? 0n)
}
