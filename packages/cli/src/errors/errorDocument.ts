import {
  BezelApiError,
  BezelError,
  OrderNotFilledError,
  FillTimeoutError,
  UnverifiedTransactionError,
} from '@bezel/sdk'
import { SettingsError } from '@bezel/protocol'
import { CliError } from './cliError.ts'
import { exitCodeOf } from './exitCodeOf.ts'
import { sentenceOf } from './sentenceOf.ts'

/** What a failed command prints with `--json`. */
export interface ErrorDocument {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly exitCode: number
    readonly retryable: boolean
    readonly requestId?: string
    readonly details?: unknown
  }
}

export function errorDocument(error: unknown): ErrorDocument {
  const details = detailsOf(error)
  return {
    error: {
      code: codeOf(error),
      message: sentenceOf(error),
      exitCode: exitCodeOf(error),
      retryable: error instanceof BezelError && error.retryable,
      ...(error instanceof BezelApiError && error.requestId !== undefined ? { requestId: error.requestId } : {}),
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
  if (error instanceof OrderNotFilledError || error instanceof FillTimeoutError) return { order: error.order }
  if (error instanceof UnverifiedTransactionError) {
    return { field: error.field, expected: error.expected, found: error.found }
  }
  return undefined
}
