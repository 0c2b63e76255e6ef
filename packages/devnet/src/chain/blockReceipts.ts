import { isErrorAnswer, resultText } from './answer.ts'
import type { RpcBlock } from './block.ts'
import type { EdrProvider } from './edrProvider.ts'

const HASH_LENGTH = 66

/** eth_getBlockReceipts, which EDR lacks: the receipts of a block's transactions, asked one by one. Gives the answer text. */
export async function blockReceipts(edr: EdrProvider, blockId: unknown): Promise<string> {
  const block = await findBlock(edr, blockId)
  if (block === null) return '{"result":null}'
  const answers = await Promise.all(block.transactions.map((hash) => edr.send(receiptRequest(hash))))
  const failed = answers.find((answer) => isErrorAnswer(answer))
  if (failed !== undefined) return failed
  const receipts = answers.map(resultText)
  // The block was replaced between the two questions.
  if (receipts.includes('null')) return '{"result":null}'
  return `{"result":[${receipts.join(',')}]}`
}

function receiptRequest(hash: string): string {
  return `{"method":"eth_getTransactionReceipt","params":["${hash}"]}`
}

function findBlock(edr: EdrProvider, blockId: unknown): Promise<RpcBlock | null> {
  const { blockHash, blockNumber } = Object(blockId) as { blockHash?: unknown; blockNumber?: unknown }
  const id = blockHash ?? blockNumber ?? blockId
  const method = typeof id === 'string' && id.length === HASH_LENGTH ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  return edr.call<RpcBlock | null>(method, [id, false])
}
