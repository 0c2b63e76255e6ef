import type { Address, Hex } from '@bezel/protocol'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { ExchangeAction } from '../../packages/server/src/facade/signing/envelope.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { exchange, openSocket } from '../client/socket.ts'

/** A placed order with the time at which it was sent. */
export interface TimedOrder {
  /** Time at which the first byte was sent, on the clock of `performance.now`. */
  readonly startedMs: number
  readonly txHash: Hex
}

/** A trader of the local chain whose agent sends envelopes on a bare connection. */
export interface FacadeTrader {
  readonly address: Address
  /** Places a resting order. Throws when it is refused. */
  place(sz: string, px: string): Promise<TimedOrder>
  close(): void
}

const PATH = '/hl/arbitrum-sepolia/exchange'

let lastNonce = 0

/** Approves `agent-n` for `trader-n` as a client does, and makes the relayer the trader's delegate on the chain. */
export async function openFacadeTrader(
  of: { readonly devnet: RunningDevnet; readonly chain: ChainClient; readonly url: string },
  n: number,
): Promise<FacadeTrader> {
  const { devnet, chain, url } = of
  const keyOf = (name: string): Hex => devnet.file.accounts.find((account) => account.name === name)!.privateKey as Hex
  const trader = chain.account(`trader-${n}`)
  const socket = await openSocket(Number(new URL(url).port))
  const approval = {
    type: 'approveAgent',
    hyperliquidChain: 'Testnet',
    signatureChainId: '0x66eee',
    agentAddress: chain.account(`agent-${n}`).address.toLowerCase(),
    agentName: '',
    nonce: Date.now(),
  }
  const { expiresAfter: _none, ...envelope } = signUserSigned(keyOf(`trader-${n}`), approval)
  const approved = (await exchange(socket, bytesOf(envelope))).toString('utf8')
  if (!approved.includes('"status":"ok"')) throw new Error(`the agent was not approved: ${approved}`)
  await chain.send(trader, 'setTradingDelegate', [chain.account('relayer').address])

  return {
    address: trader.address as Address,
    async place(sz, px) {
      const action: ExchangeAction = {
        type: 'order',
        orders: [{ a: 0, b: true, p: px, s: sz, r: false, t: { limit: { tif: 'Gtc' } } }],
        grouping: 'na',
      }
      lastNonce = Math.max(Date.now(), lastNonce + 1)
      const { expiresAfter: _unused, ...signed } = signL1(keyOf(`agent-${n}`), { action, nonce: lastNonce })
      const bytes = bytesOf(signed)
      const own = await openSocket(Number(new URL(url).port))
      const startedMs = performance.now()
      const answer = (await exchange(own, bytes)).toString('utf8')
      own.destroy()
      const txHash = /"txHash":"(0x[0-9a-f]{64})"/.exec(answer)?.[1]
      if (txHash === undefined) throw new Error(`an order was refused: ${answer.slice(answer.indexOf('\r\n\r\n'))}`)
      return { startedMs, txHash: txHash as Hex }
    },
    close: () => void socket.destroy(),
  }
}

function bytesOf(envelope: unknown): Buffer {
  const text = JSON.stringify(envelope)
  const content = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}`
  return Buffer.from(`POST ${PATH} HTTP/1.1\r\nhost: bench\r\n${content}\r\n\r\n${text}`)
}
