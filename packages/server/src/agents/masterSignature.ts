import { ApiError, DAY_MS, parseHex, type Address, type Hex } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { SignedStruct } from '../signatures/digests.ts'
import { invalidSignature } from '../signatures/invalidSignature.ts'
import { checkSignature, type CheckedSignature, type SignatureEngine } from '../signatures/recovery.ts'
import { keccak256 } from '../signatures/typedData.ts'
import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  isErc6492Signature,
} from 'viem'

/** Gas limit of the call that runs a wallet's own code: enough for a multi-signature wallet, and not more. */
const GAS_CAP: `0x${string}` = `0x${(3_000_000).toString(16)}`

/** A struct of a request, with the signature that its trader's master wallet is claimed to have made. */
export interface MasterStruct extends SignedStruct {
  readonly operationId: 'createAgent' | 'revokeAgent' | 'issueApiKey'
  readonly trader: Address
  readonly signature: string
  readonly timestampMs: number
}

export interface MasterSignatureOptions {
  readonly engine: SignatureEngine
  readonly client: RpcClient
  readonly windowMs: number
  readonly nowMs: number
  /** Path and body of the request as received. */
  readonly path: string
  readonly body: Uint8Array
  /** Charges the rate limit before a node is asked, because any stranger can cause the call. Throws `RATE_LIMITED`. */
  readonly chargeContractCall: () => Promise<void>
}

/**
 * Throws unless the trader's wallet signed the struct within the time window. A plain account costs one signature
 * recovery; only contracts cost a call to the node.
 */
export async function requireMasterSignature(struct: MasterStruct, options: MasterSignatureOptions): Promise<void> {
  const { trader, digest, signature, timestampMs } = struct
  const { nowMs, windowMs, engine } = options
  if (Math.abs(nowMs - timestampMs) > windowMs) throw timestampOutOfWindow(timestampMs, nowMs)
  const { isValid, signer } = checkSignature(engine, { digest, signature, address: trader })
  if (isValid || (digest !== undefined && (await isContractApproved(digest, struct, options)))) return
  throw invalidStruct({ ...struct, signer, address: trader }, options)
}

/** Returns the refusal of a struct's signature, which the trader or the agent should have made. */
export function invalidStruct(
  struct: MasterStruct & Pick<CheckedSignature, 'signer'> & { readonly address: Address },
  { path, body }: MasterSignatureOptions,
): ApiError {
  const { operationId, values } = struct
  return invalidSignature(struct, { operationId, path, bodyHash: keccak256(body) }, { values })
}

/** Returns the refusal of a timestamp. Seconds in place of milliseconds are the usual mistake, so it is named. */
export function timestampOutOfWindow(timestampMs: number, nowMs: number): ApiError {
  const isSeconds = Math.abs(nowMs - timestampMs * MS_PER_S) < DAY_MS
  const hint = isSeconds ? ' It looks like seconds: send and sign epoch milliseconds.' : ''
  const message = `The timestamp ${timestampMs} is more than 30 s from server time, ${nowMs}.${hint}`
  return new ApiError('TIMESTAMP_OUT_OF_WINDOW', message, { timestamp: timestampMs, serverTime: nowMs })
}

const MS_PER_S = 1_000

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

/**
 * Returns true when only the chain can verify the signature: the signer is a contract, or the signature says how to
 * deploy it (ERC-6492).
 */
async function isContractSignature(client: RpcClient, signer: Address, signature: Hex): Promise<boolean> {
  if (isErc6492Signature(signature)) return true
  const [code] = await client.batch([{ method: 'eth_getCode', params: [signer, 'latest'] }])
  return code?.ok === true && typeof code.result === 'string' && code.result.length > 2
}

/**
 * Asks the wallet to verify the signature (ERC-1271); the call deploys it first when the signature says how (ERC-6492).
 * No transaction is sent.
 */
async function contractAccepts(
  client: RpcClient,
  of: { readonly signer: Address; readonly digest: Uint8Array; readonly signature: Hex },
): Promise<boolean> {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [of.signer, `0x${Buffer.from(of.digest).toString('hex')}`, of.signature],
  })
  const [outcome] = await client.batch([{ method: 'eth_call', params: [{ data, gas: GAS_CAP }, 'latest'] }])
  if (outcome?.ok !== true || typeof outcome.result !== 'string') return false
  const result = parseHex(outcome.result)
  return result !== undefined && result.length > 2 && BigInt(result) === 1n
}
