import { ApiError, parseHex, type Address } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import { recoversTo } from '../signatures/recoversTo.ts'
import type { SignatureEngine } from '../signatures/signatureEngine.ts'
import { contractAccepts, isContractSignature } from './contractWallet.ts'

/** A struct that a master wallet is said to have signed. */
export interface MasterStruct {
  readonly trader: Address
  readonly digest: Uint8Array | undefined
  readonly signature: string
  readonly timestampMs: number
}

export interface MasterSignatureOptions {
  readonly engine: SignatureEngine
  readonly client: RpcClient
  readonly windowMs: number
  readonly nowMs: number
  /** Charged before a node is asked, because a stranger can make it ask. Throws `RATE_LIMITED`. */
  readonly chargeContractCall: () => Promise<void>
}

/** Throws unless the trader's wallet signed the struct, now. Plain accounts cost a recover; only contracts cost a call. */
export async function requireMasterSignature(struct: MasterStruct, options: MasterSignatureOptions): Promise<void> {
  const { trader, digest, signature, timestampMs } = struct
  if (Math.abs(options.nowMs - timestampMs) > options.windowMs) {
    throw new ApiError(
      'TIMESTAMP_OUT_OF_WINDOW',
      `The timestamp is more than ${options.windowMs / 1000} s from server time.`,
      { serverTime: options.nowMs },
    )
  }
  if (digest !== undefined && recoversTo(options.engine, { digest, signature, address: trader })) return
  if (digest !== undefined && (await isContractApproved(digest, struct, options))) return
  throw new ApiError('INVALID_SIGNATURE', 'The signature is not the one of the trader over this struct.')
}

async function isContractApproved(
  digest: Uint8Array,
  { trader, signature: text }: MasterStruct,
  { client, chargeContractCall }: MasterSignatureOptions,
): Promise<boolean> {
  const signature = parseHex(text)
  if (signature === undefined) return false
  await chargeContractCall()
  if (!(await isContractSignature(client, trader, signature))) return false
  return contractAccepts(client, { signer: trader, digest, signature })
}
