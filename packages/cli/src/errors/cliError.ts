import type { Order } from '@bezel/sdk'

/** The exit codes. They are stable, because scripts act on them. */
export const EXIT_CODES = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  refused: 3,
  orderEnded: 4,
  timedOut: 5,
  unreachable: 6,
  unsafe: 7,
  /** 128 + SIGINT (2), the convention of shells. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

/** The meaning of each exit code, shown by `--help`. */
export const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: 'done',
  unexpected: 'something unexpected',
  usage: 'the command line or a setting is wrong',
  refused: 'refused by the service; the message names the code',
  orderEnded:
    'the order ended in another way: rejected, canceled, expired, timed out; or something is left that should have ended',
  timedOut: 'still waiting when the time was over, or unable to look further; what was sent goes on',
  unreachable: "the service or the chain's node can't be reached, or did not take it",
  unsafe: 'nothing was signed: keys, chain or Diamond are wrong, or the prepared transaction did not verify',
  interrupted: 'stopped by Ctrl-C while waiting; what was sent goes on',
}

/** An error that ends the command with an exit code and a sentence that tells the user what to do. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  /** Stable code, printed with `--json`. */
  readonly code: string
  readonly exitCode: ExitCode
  /** Text that is shown unchanged after the sentence, for instance the usage of a command. */
  readonly more: string | undefined

  constructor(code: string, exitCode: ExitCode, message: string, more?: string) {
    super(message)
    this.code = code
    this.exitCode = exitCode
    this.more = more
  }
}

/** The error for a wrong command line. Nothing was sent. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, more?: string) {
    super('USAGE', EXIT_CODES.usage, message, more)
  }
}

/** The error for a key that is missing, malformed or can't be unlocked. The message never holds the key. */
export class KeyError extends CliError {
  override readonly name = 'KeyError'

  constructor(message: string) {
    super('KEYS', EXIT_CODES.unsafe, message)
  }
}

/** The error for orders and positions that should have ended and have not. */
export class LeftoverError extends CliError {
  override readonly name = 'LeftoverError'
  /** The same facts as the answer of a command that ended everything. */
  readonly details: object

  constructor(message: string, more: string, details: object) {
    super('LEFT_OUT', EXIT_CODES.orderEnded, message, more)
    this.details = details
  }
}

/** The error for an order whose transaction was sent and which could then not be read, as by an agent that expired. */
export class UnwatchedOrderError extends CliError {
  override readonly name = 'UnwatchedOrderError'
  readonly details: object

  constructor(order: Order, sentTxHash: string, reason: string) {
    const message = `Transaction ${sentTxHash} of order ${order.id} was sent and goes on by itself, so do not send it again. The order was last seen ${order.status}, and then it could not be read: ${reason}`
    super('ORDER_UNWATCHED', EXIT_CODES.timedOut, message)
    this.details = { order, sentTxHash }
  }
}

/** The error for a command that the user stopped. The message says what stays open. */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError'

  constructor(exitCode: ExitCode, message: string) {
    super('INTERRUPTED', exitCode, message)
  }
}
