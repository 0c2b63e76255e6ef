import { SettingsError } from '@bezel/protocol'
import {
  BezelApiError,
  BezelConfigError,
  BezelNetworkError,
  BroadcastError,
  DelegationTimeoutError,
  FillTimeoutError,
  OrderNotFilledError,
  OrderSubmitReportError,
  PreparationExpiredError,
  UnverifiedTransactionError,
  WrongChainError,
  WrongDiamondError,
} from '@bezel/sdk'
import { CliError } from './cliError.ts'
import { EXIT_CODES, type ExitCode } from './exitCodes.ts'

/** Misuse that the arguments can mend; all else that is configured wrongly is about keys. */
const USAGE_FAULTS: readonly string[] = ['BAD_BASE_URL', 'UNKNOWN_CHAIN', 'NO_SENDER', 'NO_TRADER']

/** What a failed command ends with. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode
  if (error instanceof SettingsError) return EXIT_CODES.usage
  if (error instanceof BezelApiError) return EXIT_CODES.refused
  if (error instanceof BezelNetworkError || error instanceof BroadcastError) return EXIT_CODES.unreachable
  if (error instanceof OrderSubmitReportError) return EXIT_CODES.unreachable
  if (error instanceof OrderNotFilledError) return EXIT_CODES.orderEnded
  if (error instanceof FillTimeoutError || error instanceof DelegationTimeoutError) return EXIT_CODES.timedOut
  if (error instanceof BezelConfigError) return USAGE_FAULTS.includes(error.code) ? EXIT_CODES.usage : EXIT_CODES.unsafe
  return isUnsafe(error) ? EXIT_CODES.unsafe : EXIT_CODES.unexpected
}

function isUnsafe(error: unknown): boolean {
  return [UnverifiedTransactionError, PreparationExpiredError, WrongChainError, WrongDiamondError].some(
    (kind) => error instanceof kind,
  )
}
