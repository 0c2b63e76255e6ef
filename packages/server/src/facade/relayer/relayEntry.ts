import type { VersionKind, RelayVersion, RelayEntry } from '../../store/relayRecord.ts'

/** The version that is sent: each replaces those before it. */
export function newestOf({ versions }: RelayEntry): RelayVersion {
  return versions.at(-1)!
}

/** Units of gas of a version. */
export function gasOf({ action }: Pick<RelayEntry, 'action'>, kind: VersionKind, burnGas: bigint): bigint {
  return kind === 'action' && action !== null ? action.gas : burnGas
}

/** The most that an entry can cost in wei, whichever version is mined. */
export function reserveOf(entry: Pick<RelayEntry, 'action' | 'versions'>, burnGas: bigint): bigint {
  const costs = entry.versions.map(({ kind, fees }) => gasOf(entry, kind, burnGas) * fees.maxFeeWei)
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
}
