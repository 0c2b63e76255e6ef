import type { IncomingMessage } from 'node:http'

/** Reads a request's body as text; undefined when it is longer than allowed. Rejects when the client goes away. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else resolve(undefined)
    })
    request.on('end', () => resolve(toText(chunks)))
    request.on('error', reject)
  })
}

function toText(chunks: readonly Buffer[]): string {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? first.toString('utf8') : Buffer.concat(chunks).toString('utf8')
}
