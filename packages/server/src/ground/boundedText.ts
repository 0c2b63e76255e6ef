/** Thrown when an answer has more bytes than were allowed. The rest of it was not read. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'
  constructor(maxBytes: number) {
    super(`the answer has more than ${maxBytes} bytes`)
  }
}

/**
 * Reads the text of an answer of at most `maxBytes`, unpacked if it came compressed. Ends the connection and throws
 * `AnswerTooLongError` when there is more, so that a sender without end fills no memory.
 */
export async function boundedText(answer: Response, maxBytes: number): Promise<string> {
  if (answer.body === null) return ''
  // No more than the announced length can arrive, unless it is the length before unpacking.
  const announced = answer.headers.has('content-encoding')
    ? Number.NaN
    : Number(answer.headers.get('content-length') ?? Number.NaN)
  if (announced <= maxBytes) return answer.text()
  const reader = answer.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, length).toString('utf8')
    chunks.push(value)
    length += value.length
    if (length <= maxBytes) continue
    await reader.cancel()
    throw new AnswerTooLongError(maxBytes)
  }
}
