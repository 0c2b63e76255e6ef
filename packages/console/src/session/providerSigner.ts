import { viemSender, WrongChainError, type Signer, type TransactionSender, type TypedData } from '@bezel/sdk'
import { createWalletClient, custom } from 'viem'
import type { Eip1193Provider } from './provider.ts'
import { readChainId } from './walletLink.ts'

/** Creates a sender over a wallet. Its node also answers reads of the chain. */
export function createProviderSender(provider: Eip1193Provider, address: `0x${string}`): TransactionSender {
  // A retry of a transaction would be a second prompt, and perhaps a second transaction.
  const transport = custom({ request: (call: never) => provider.request(call) }, { retryCount: 0 })
  return viemSender(createWalletClient({ account: address, transport }))
}

/** Facts that a signer over a wallet needs. */
export interface SignerFacts {
  /** Returns the id of the chain that the page is about; undefined while it is not known. */
  readonly chainId: () => number | undefined
  /** Returns the time of the service. */
  readonly now: () => number
}

/**
 * Creates a signer over a wallet. A wallet on another chain is not asked, because most refuse typed data of a chain
 * that they are not on, in words that help nobody. A signature that comes too late for the service is never used:
 * throws `SignedTooLateError`.
 */
export function createProviderSigner(
  provider: Eip1193Provider,
  address: `0x${string}`,
  { chainId, now }: SignerFacts,
): Signer {
  return {
    address,
    async signTypedData(typedData: never) {
      const [found, expected] = [await readChainId(provider), chainId()]
      if (expected !== undefined && found !== expected)
        throw new WrongChainError({ who: 'The wallet', expected, found })
      const params = [address, typedDataJson(typedData)]
      const signature = (await provider.request({ method: 'eth_signTypedData_v4', params })) as `0x${string}`
      if (now() - timestampOf(typedData) > SIGNATURE_MS) throw new SignedTooLateError()
      return signature
    },
  }
}

/** Time for which a signature can be used: the service takes it for 30 s, less a moment for the way there. */
const SIGNATURE_MS = 28_000

/** Returns the time that is signed, which is in every struct of the service. */
function timestampOf({ message }: TypedData): number {
  return Number(message['timestamp'] ?? Number.NaN)
}

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** Returns typed data as wallets take it: JSON with the fields of the domain, and whole numbers as text. */
export function typedDataJson({ domain, types, primaryType, message }: TypedData): string {
  const whole = { domain, types: { EIP712Domain: DOMAIN_FIELDS, ...types }, primaryType, message }
  return JSON.stringify(whole, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

/** The error of a signature that the wallet gave when the service would not take it any more. Nothing was sent. */
class SignedTooLateError extends Error {
  override readonly name = 'SignedTooLateError'
  readonly code = 'SIGNED_TOO_LATE'

  constructor() {
    super("The wallet's question was open for longer than the service takes a signature, which is 30 seconds.")
  }
}
