import {
  BatchInterruptedError,
  BatchNotDoneError,
  BezelApiError,
  BezelError,
  OrderNotChangedError,
  OrderNotFilledError,
  FillTimeoutError,
  UnverifiedTransactionError,
  BezelConfigError,
  BezelNetworkError,
  BezelNodeError,
  BroadcastError,
  DelegationTimeoutError,
  ApprovalTimeoutError,
  OrderSubmitReportError,
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
  PreparationExpiredError,
  TransactionRevertedError,
  TransactionTimeoutError,
  WrongChainError,
  WrongDiamondError,
  type Order,
  type TrackedOrder,
} from '@bezel/sdk'
import { SettingsError } from '@bezel/protocol/program'
import { spellCommands, type Typing } from '../output/advice.ts'
import { CliError, EXIT_CODES, LeftoverError, UnwatchedOrderError, type ExitCode } from './cliError.ts'
import { sentenceOf } from './sentenceOf.ts'

/** The JSON that a failed command prints with `--json`. */
interface ErrorDocument {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly exitCode: number
    readonly retryable: boolean
    readonly requestId?: string
    readonly docs?: string
    readonly details?: unknown
  }
}

/** Returns the JSON document that describes an error, with the commands of its sentence as the user types them. */
export function errorDocument(error: unknown, typing?: Typing): ErrorDocument {
  const details = detailsOf(error)
  return {
    error: {
      code: codeOf(error),
      message: spellCommands(sentenceOf(error), typing),
      exitCode: exitCodeOf(error),
      retryable: error instanceof BezelError && error.retryable,
      ...(error instanceof BezelApiError && error.requestId !== undefined ? { requestId: error.requestId } : {}),
      ...(error instanceof BezelApiError && error.docs !== undefined ? { docs: error.docs } : {}),
      ...(details === undefined ? {} : { details }),
    },
  }
}

function codeOf(error: unknown): string {
  if (error instanceof CliError || error instanceof BezelError) return error.code
  return error instanceof SettingsError ? 'USAGE' : 'UNEXPECTED'
}

function detailsOf(error: unknown): unknown {
  if (error instanceof BezelApiError) return error.details
  if (error instanceof LeftoverError || error instanceof UnwatchedOrderError) return error.details
  if (error instanceof OrderNotFilledError || error instanceof OrderNotChangedError) return { order: error.order }
  if (error instanceof FillTimeoutError) return { order: error.order }
  if (error instanceof BatchInterruptedError) {
    const { orders, leftOut, txHashes } = error.sent
    return { orders: recordsOf(orders), undone: recordsOf(error.undone), leftOut, txHashes }
  }
  if (error instanceof UnverifiedTransactionError) {
    return { field: error.field, expected: error.expected, found: error.found }
  }
  return undefined
}

function recordsOf(orders: readonly TrackedOrder[]): readonly Order[] {
  return orders.map(({ order }) => order)
}

/** Codes of wrong configuration that the arguments can correct; all others are about keys. */
const USAGE_FAULTS: readonly string[] = [
  'BAD_BASE_URL',
  'BAD_RPC_URL',
  'UNKNOWN_CHAIN',
  'NO_SENDER',
  'NO_TRADER',
  'UNKNOWN_COLLATERAL',
  'BAD_AMOUNT',
]

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode
  if (error instanceof SettingsError) return EXIT_CODES.usage
  if (error instanceof BatchInterruptedError) return exitCodeOf(error.cause)
  if (error instanceof BezelApiError) return EXIT_CODES.refused
  if (UNREACHED.some((kind) => error instanceof kind)) return EXIT_CODES.unreachable
  if (ENDED.some((kind) => error instanceof kind)) return EXIT_CODES.orderEnded
  if (WAITING.some((kind) => error instanceof kind)) return EXIT_CODES.timedOut
  if (error instanceof BezelConfigError) return USAGE_FAULTS.includes(error.code) ? EXIT_CODES.usage : EXIT_CODES.unsafe
  return isUnsafe(error) ? EXIT_CODES.unsafe : EXIT_CODES.unexpected
}

/** Errors of a service or a node that gave no answer, or did not take a transaction. */
const UNREACHED = [BezelNetworkError, BezelNodeError, BroadcastError, OrderSubmitReportError] as const

/** Errors of what ended in another way than was wanted. */
const ENDED = [
  BatchNotDoneError,
  OrderNotChangedError,
  OrderNotFilledError,
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  TransactionRevertedError,
] as const

/** Errors of waits that ended before what they waited for. */
const WAITING = [
  FillTimeoutError,
  DelegationTimeoutError,
  ApprovalTimeoutError,
  PositionUpdateWaitError,
  TransactionTimeoutError,
] as const

function isUnsafe(error: unknown): boolean {
  return [UnverifiedTransactionError, PreparationExpiredError, WrongChainError, WrongDiamondError].some(
    (kind) => error instanceof kind,
  )
}
