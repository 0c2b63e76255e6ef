import type { Hex } from '@bezel/protocol'
import type { VersionKind, RelayVersion, RelayEntry, Fees } from '../../store/relayStore.ts'
import type { RelayContext } from './relayContext.ts'

/** Returns the version to send. Each version replaces those before it. */
export function newestOf({ versions }: RelayEntry): RelayVersion {
  return versions.at(-1)!
}

/** Returns the gas limit of a version, in units of gas. */
function gasOf({ action }: Pick<RelayEntry, 'action'>, kind: VersionKind, burnGas: bigint): bigint {
  return kind === 'action' && action !== null ? action.gas : burnGas
}

/** Returns the highest possible cost of an entry in wei, whichever version is mined. */
export function reserveOf(entry: Pick<RelayEntry, 'action' | 'versions'>, burnGas: bigint): bigint {
  const costs = entry.versions.map(({ kind, fees }) => gasOf(entry, kind, burnGas) * fees.maxFeeWei)
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
}

/** Signs a version of an entry. The caller stores it before it is sent. */
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
