import { BezelError } from './bezelError.ts'

/** The sender failed. Mostly nothing was sent, but a node that did not answer may have taken it. */
export class BroadcastError extends BezelError {
  override readonly name = 'BroadcastError'

  constructor(cause: unknown) {
    const said = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const message = `The transaction could not be sent: ${said} Look at the order before you send it again: a node that did not answer may have taken it.`
    super('BROADCAST_FAILED', message, { cause })
  }
}
