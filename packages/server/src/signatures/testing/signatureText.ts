/** Order n of the curve. */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Parts of a signature, in range or not. */
export interface SignatureParts {
  readonly r: bigint
  readonly s: bigint
  readonly v: number
}

/** A signature as a client sends it: 65 bytes of hex. */
export function signatureText({ r, s, v }: SignatureParts): `0x${string}` {
  return `0x${wordText(r)}${wordText(s)}${v.toString(16).padStart(2, '0')}`
}

/** 32 bytes of hex, without a prefix. */
export function wordText(number: bigint): string {
  return number.toString(16).padStart(64, '0')
}
