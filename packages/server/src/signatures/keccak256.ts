import { createKeccak } from 'hash-wasm'

// One hasher for the process. A hash is begun, fed and read without a pause, so no other hash can come in between.
const hasher = await createKeccak(256)

/** Hash of the bytes as they are, without a copy; the answer is the caller's own. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  hasher.init()
  hasher.update(bytes)
  return hasher.digest('binary')
}
