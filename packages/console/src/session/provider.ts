/** A wallet as EIP-1193 describes it. */
export interface Eip1193Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] | object }): Promise<unknown>
  on?(event: string, listener: (payload: never) => void): unknown
  removeListener?(event: string, listener: (payload: never) => void): unknown
}

/** A wallet that can be connected. */
export interface WalletOption {
  /** Stable name: the reverse domain name of an extension, `injected`, or `sandbox:` and the account's name. */
  readonly id: string
  /** Name for people, and for the test id `wallet-option-<name>`. */
  readonly name: string
  /** Picture as a data URL; null when there is none. */
  readonly icon: string | null
  readonly kind: 'extension' | 'sandbox'
  readonly provider: Eip1193Provider
}

/** Code of a wallet whose owner said no. */
export const REFUSED_BY_USER = 4001

/** Code of a wallet that does not know a chain. */
const UNKNOWN_CHAIN = 4902

/** Returns the code of a wallet's error, or undefined. Some wallets hide it in `data.originalError` or in a cause. */
export function walletErrorCode(error: unknown): number | undefined {
  const found = error as {
    readonly code?: unknown
    readonly cause?: unknown
    readonly data?: { readonly originalError?: { readonly code?: unknown } }
  } | null
  if (typeof found !== 'object' || found === null) return undefined
  const inner = found.data?.originalError?.code
  if (typeof inner === 'number') return inner
  return typeof found.code === 'number' ? found.code : walletErrorCode(found.cause)
}

/** Returns true when the wallet does not know the chain it was asked to go to. */
export function isUnknownChain(error: unknown): boolean {
  return walletErrorCode(error) === UNKNOWN_CHAIN
}
