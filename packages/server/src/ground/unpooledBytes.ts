/**
 * Encodes a text as bytes in memory of their own, for bytes that are kept long. `Buffer.from` cuts short buffers out of
 * blocks of `Buffer.poolSize` (64 KB) that the whole process shares, and a block stays in memory as long as any buffer
 * cut out of it.
 */
export function unpooledBytes(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, encoding))
  bytes.write(text, encoding)
  return bytes
}
