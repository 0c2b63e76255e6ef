import { BezelError, type BezelConfigError, type WrongChainError, type WrongDiamondError } from './errors/bezelError.ts'
import type { BezelNodeError, BroadcastError } from './errors/broadcastError.ts'
import type {
  FillTimeoutError,
  OrderNotChangedError,
  OrderNotFilledError,
  OrderSubmitReportError,
} from './errors/orderErrors.ts'
import type {
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
} from './errors/positionErrors.ts'
import type { BezelApiError, BezelNetworkError, ClockSkewError } from './errors/serviceErrors.ts'
import type {
  ApprovalTimeoutError,
  DelegationTimeoutError,
  PreparationExpiredError,
  TransactionRevertedError,
  TransactionTimeoutError,
  UnverifiedTransactionError,
} from './errors/transactionErrors.ts'
import type { BatchInterruptedError, BatchNotDoneError } from './orders/createBatches.ts'

/** Any error of this package, by `code`: a `switch` over it narrows to the class, and to the `details` of a refusal. */
export type AnyBezelError =
  | Exclude<BezelApiError, { readonly code: ClockSkewError['code'] }>
  | ClockSkewError
  | BezelNetworkError
  | BezelConfigError
  | WrongChainError
  | WrongDiamondError
  | UnverifiedTransactionError
  | PreparationExpiredError
  | BezelNodeError
  | BroadcastError
  | OrderSubmitReportError
  | TransactionRevertedError
  | TransactionTimeoutError
  | DelegationTimeoutError
  | ApprovalTimeoutError
  | OrderNotFilledError
  | OrderNotChangedError
  | FillTimeoutError
  | PositionUpdateRefusedError
  | PositionUpdateTimedOutError
  | PositionUpdateWaitError
  | BatchInterruptedError
  | BatchNotDoneError

/** Returns true for an error of this package, whose `code` then says what it is. */
export function isBezelError(error: unknown): error is AnyBezelError {
  return error instanceof BezelError
}
