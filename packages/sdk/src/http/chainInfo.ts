import type { ChainSlug } from '@bezel/protocol/wire'
import type { SigningDomain } from '../signing/signer.ts'

/** Answer of `GET /v1/{chain}`: what a client must know before it can sign. */
export interface ChainInfo {
  readonly chain: ChainSlug
  readonly chainId: number
  readonly diamond: `0x${string}`
  readonly relayer: `0x${string}` | null
  readonly testnet: boolean
  readonly signing: {
    readonly domain: SigningDomain
    readonly fields: readonly { readonly name: string; readonly type: string }[]
    readonly emptyBodyHash: `0x${string}`
  }
}
