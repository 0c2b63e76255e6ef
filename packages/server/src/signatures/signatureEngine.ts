/** Fastest first: libsecp256k1 compiled for this machine, the same as WebAssembly, and plain JavaScript. */
export const ENGINE_NAMES = ['native', 'wasm', 'js'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** One implementation of public key recovery. All of them answer the same to the same input. */
export interface SignatureEngine {
  readonly name: EngineName
  /**
   * The 65 bytes of an uncompressed public key; `undefined`, or a throw, when there is none. `digest` has 32 bytes and `rs` 64:
   * `recoverAddress` sees to that, because the engines differ in what they make of others.
   */
  readonly recoverPublicKey: (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array | undefined
}
