/** Typed data as wallets sign it (EIP-712). */
export interface TypedData {
  readonly domain: SigningDomain
  readonly primaryType: string
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly message: Readonly<Record<string, string | bigint>>
}

/** What a signature is bound to besides its struct: one deployment, on one chain. */
export interface SigningDomain {
  readonly name: string
  readonly version: '1'
  readonly chainId: number
  /** The Diamond. */
  readonly verifyingContract: `0x${string}`
}

/** Whoever signs: viem's local accounts are ones, and a wallet of any kind can be made one. */
export interface Signer {
  readonly address: `0x${string}`
  // A method, so that the narrower parameter types of viem's accounts fit.
  signTypedData(typedData: never): Promise<`0x${string}`>
}

/** Asks a signer for its signature of a struct. */
export function signTypedData(signer: Signer, typedData: TypedData): Promise<`0x${string}`> {
  return signer.signTypedData(typedData as never)
}
