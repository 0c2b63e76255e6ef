import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServedBlock } from './renumber.ts'

// A node in a process of its own that serves ready-made JSON of blocks and logs. It is faster than any real node, so
// that its own work hardly counts in the measurement. Its argument is the file with the blocks; messages set how far
// its chain goes.

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const file = process.argv[2]!
const { chainId, blocks } = JSON.parse(readFileSync(file, 'utf8')) as { chainId: number; blocks: ServedBlock[] }
const byHash = new Map(blocks.map((block) => [block.hash, block]))
let head = 0

process.on('message', (message: { readonly head: number }) => {
  head = message.head
  process.send?.({ head })
})

const server = createServer(async (request, response) => {
  const calls = JSON.parse(await textOf(request)) as Call[]
  const answers = calls.map((call) => `{"jsonrpc":"2.0","id":${call.id},"result":${resultOf(call)}}`)
  response.setHeader('content-type', 'application/json')
  response.end(`[${answers.join(',')}]`)
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

function resultOf({ method, params }: Call): string {
  if (method === 'eth_chainId') return `"0x${chainId.toString(16)}"`
  if (method === 'eth_blockNumber') return `"0x${head.toString(16)}"`
  if (method === 'eth_getBlockByNumber')
    return blockAt(params[0] === 'latest' ? head : Number(params[0]))?.block ?? 'null'
  if (method === 'eth_getLogs') return `[${logsOf(params[0] as LogFilter)}]`
  return 'null'
}

interface LogFilter {
  readonly blockHash?: string
  readonly fromBlock?: string
  readonly toBlock?: string
}

function logsOf({ blockHash, fromBlock, toBlock }: LogFilter): string {
  if (blockHash !== undefined) return byHash.get(blockHash)?.logs ?? ''
  const [from, to] = [Math.max(1, Number(fromBlock)), toBlock === 'latest' ? head : Math.min(head, Number(toBlock))]
  const found = blocks.slice(from - 1, Math.max(from - 1, to))
  return found.flatMap(({ logs }) => (logs === '' ? [] : [logs])).join(',')
}

/** Returns a block; the first has number 1. */
function blockAt(number: number): ServedBlock | undefined {
  return number > head ? undefined : blocks[number - 1]
}
