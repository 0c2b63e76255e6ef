import type { Hex } from '@bezel/protocol'

/** What of a log a decoder reads. Hexadecimal in lower case. */
export interface RawLog {
  readonly topics: readonly Hex[]
  readonly data: Hex
}
