import { isUtf8 } from 'node:buffer'
import { StrictJsonError } from './strictJsonError.ts'

/** Bytes of a request as text. A byte order mark stays in, so that the parser meets it. */
export function decodeUtf8(bytes: Uint8Array, root: string): string {
  if (!isUtf8(bytes)) throw new StrictJsonError(root, `${root} is not valid UTF-8.`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
