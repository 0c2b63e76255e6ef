import { Encoder } from '@msgpack/msgpack'
import type { ExchangeAction } from './envelope.ts'

// One for the process: it keeps its buffer, which saves making one for each request.
const encoder = new Encoder()

/** MessagePack of an action, keys in the order it has them. The bytes are the encoder's own: they hold until the next call. */
export function encodeAction(action: ExchangeAction): Uint8Array {
  return encoder.encodeSharedRef(action)
}
