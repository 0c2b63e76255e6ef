import type { Address, Hex } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'

/** What a client asks for, as it was sent: its keys are in the order the signature covers, and every number is a safe integer. */
export interface ExchangeAction {
  readonly type: string
  readonly [key: string]: JsonValue
}

/** Its parts in full length. That they are in the range of the curve is said by the one who recovers from them. */
export interface EnvelopeSignature {
  /** 32 bytes. */
  readonly r: Hex
  /** 32 bytes. */
  readonly s: Hex
  readonly v: 27 | 28
}

/** A request to the exchange side of the facade. Its signature names no signer: whoever it recovers to is the one who asks. */
export interface Envelope {
  readonly action: ExchangeAction
  /** Also the time of the request, epoch ms. */
  readonly nonce: number
  readonly signature: EnvelopeSignature
  readonly vaultAddress: Address | null
  /** Epoch ms. 0 is a time like any other: long past, and part of what is signed. */
  readonly expiresAfter: number | null
}
