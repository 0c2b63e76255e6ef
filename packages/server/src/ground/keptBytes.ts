/**
 * A text as bytes for whoever keeps them: in memory of their own. `Buffer.from` cuts short ones out of blocks of `Buffer.poolSize`, 64 KB, that the
 * whole process shares, and a block stays for as long as anything that was cut out of it.
 */
export function keptBytes(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, encoding))
  bytes.write(text, encoding)
  return bytes
}
