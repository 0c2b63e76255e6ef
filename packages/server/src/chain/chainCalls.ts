import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address, Hex } from '@bezel/protocol'
import { numberToHex } from 'viem'
import type { RpcCall } from './rpcClient.ts'
import { type RpcOutcome } from './rpcOutcome.ts'

export const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

export const headNumberCall: RpcCall = { method: 'eth_blockNumber', params: [] }

export function blockCall(number: number, withTransactions: boolean): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [numberToHex(number), withTransactions] }
}

export function logsCall(diamond: Address, fromBlock: number, toBlock: number): RpcCall {
  const range = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) }
  return { method: 'eth_getLogs', params: [{ address: diamond, ...range }] }
}

/** Unlike by number, a node that does not have the block says so instead of answering with no logs. */
export function logsOfBlockCall(diamond: Address, blockHash: Hex): RpcCall {
  return { method: 'eth_getLogs', params: [{ address: diamond, blockHash }] }
}

export function receiptCall(txHash: Hex): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

export function resultOf(outcome: RpcOutcome | undefined): unknown {
  if (outcome?.ok === true) return outcome.result
  throw new NodeUnavailableError(`the node refused a call: ${outcome?.message ?? 'no answer'}`)
}
