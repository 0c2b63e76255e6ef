import { parseHex, type Address, type Hex } from '@bezel/protocol'
import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  isErc6492Signature,
} from 'viem'
import type { RpcClient } from '../chain/rpcClient.ts'

/** A wallet's own code runs in this call: it gets enough for a multi-signature wallet and not more. */
const GAS_CAP: `0x${string}` = `0x${(3_000_000).toString(16)}`

/** Whether only the chain can say if this signature is good: the signer is a contract, or says it will be one (ERC-6492). */
export async function isContractSignature(client: RpcClient, signer: Address, signature: Hex): Promise<boolean> {
  if (isErc6492Signature(signature)) return true
  const [code] = await client.batch([{ method: 'eth_getCode', params: [signer, 'latest'] }])
  return code?.ok === true && typeof code.result === 'string' && code.result.length > 2
}

/** Asks the wallet (ERC-1271), deploying it first within the call when the signature says how (ERC-6492). Nothing is sent. */
export async function contractAccepts(
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
