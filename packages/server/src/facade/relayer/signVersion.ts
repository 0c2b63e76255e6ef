import type { Fees, VersionKind, RelayVersion, RelayEntry } from '../../store/relayRecord.ts'
import type { Hex } from '@bezel/protocol'
import { gasOf } from './relayEntry.ts'
import type { RelayContext } from './relayContext.ts'

/** Signs a version of an entry. It is stored before anybody else sees it. */
export function signVersion(
  { signer, chain, settings, now }: RelayContext,
  entry: Pick<RelayEntry, 'nonce' | 'action'>,
  of: { readonly number: number; readonly kind: VersionKind; readonly fees: Fees },
): RelayVersion {
  const target =
    of.kind === 'action' && entry.action !== null
      ? { to: chain.diamond, data: entry.action.calldata }
      : { to: signer.address, data: '0x' as Hex }
  const gas = gasOf(entry, of.kind, settings.burnGas)
  const { hash, raw } = signer.sign({ ...target, ...of.fees, nonce: entry.nonce, value: 0n, gas })
  return { ...of, hash, raw, createdAtMs: now() }
}
