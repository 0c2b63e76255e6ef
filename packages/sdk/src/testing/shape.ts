import type { PreparedTransaction } from '@bezel/protocol/wire'
import type { VerifyContext } from '../verify/verifyContext.ts'
import type { PreparedWrite } from '../verify/verifyPrepared.ts'
import type { WriteRequest } from '../verify/writeRequest.ts'

/** A request, what was prepared for it, and what that is checked against. */
export interface Shape {
  readonly name: string
  readonly request: WriteRequest
  readonly prepared: PreparedWrite & { readonly transaction: PreparedTransaction }
  readonly context: VerifyContext
}
