import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { CHAINS, diamondAbi, parseAddress, type Address } from '@bezel/protocol'
import { decodeFunctionData, encodeAbiParameters, erc20Abi, numberToHex, pad, type Hex } from 'viem'
import type { RpcCall, RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'

export const DIAMOND = CHAINS.base.liveDiamond
export const NOBODY = parseAddress(`0x${'0'.repeat(40)}`)!

/** Returns a trader address made from the number `n`. */
export function traderOf(n: number): Address {
  return parseAddress(`0x${n.toString(16).padStart(40, '0')}`)!
}

/** The on-chain values of every trader that has no entry of its own in `AccountNode.of`. */
export interface OnChain {
  balance: bigint
  allowance: bigint
  referrer: bigint
  delegate: Address
  fee: (amount: bigint) => RpcOutcome
  /** Returns the trader's own spread in a pair, 1e3 per percent. */
  spread: (pairIndex: number) => RpcOutcome
}

/** A fake node with a Diamond and tokens, whose values a test sets. */
export interface AccountNode extends OnChain {
  readonly client: RpcClient
  readonly of: Map<Address, Partial<OnChain>>
  /** The traders that each round trip asked about. */
  readonly batches: Address[][]
  /** The number of calls of each round trip. */
  readonly sizes: number[]
  /** Number of the newest block. */
  head: number
  /** Availability. `down`: no answer at all. `refusing`: an answer in which every call failed. */
  state: 'up' | 'down' | 'refusing'
  /**
   * Delays the answers of the next round trips until it resolves. An answer's content is fixed when it is asked for.
   */
  gate: Promise<void>
}

export function word(value: bigint): RpcOutcome {
  return { ok: true, result: encodeAbiParameters([{ type: 'uint256' }], [value]) }
}

/** Returns the answer of `getUserPriceImpact` of a trader with this spread. */
export function spreadWords(fixedSpreadP: number): RpcOutcome {
  const words = [0n, BigInt(fixedSpreadP), 0n].map((value) => value.toString(16).padStart(64, '0'))
  return { ok: true, result: `0x${words.join('')}` }
}

export function createAccountNode(): AccountNode {
  const node: AccountNode = {
    of: new Map(),
    batches: [],
    sizes: [],
    head: 1,
    state: 'up',
    gate: Promise.resolve(),
    balance: 5n,
    allowance: 7n,
    referrer: 0n,
    delegate: NOBODY,
    fee: word,
    spread: () => spreadWords(0),
    client: {
      roundTrips: () => node.batches.length,
      async batch(calls) {
        const asked = calls.map((call) => (call.method === 'eth_blockNumber' ? undefined : decode(call)))
        node.batches.push([...new Set(asked.flatMap((call) => call?.trader ?? []))])
        node.sizes.push(calls.length)
        const { state, head } = node
        const outcomes = asked.map((call): RpcOutcome =>
          call === undefined
            ? { ok: true, result: numberToHex(head) }
            : answer({ ...node, ...node.of.get(call.trader) }, call),
        )
        await node.gate
        if (state === 'down') throw new NodeUnavailableError('down')
        return state === 'up' ? outcomes : calls.map(() => REFUSAL)
      },
    },
  }
  return node
}

const REFUSAL: RpcOutcome = { ok: false, code: -32_005, message: 'too many requests', data: undefined }

const ABI = [...diamondAbi, ...erc20Abi].filter(
  (item) =>
    item.type === 'function' &&
    /^(getTradingDelegate|getTraderActiveReferrer|calculateFeeAmount|getUserPriceImpact|balanceOf|allowance)$/.test(
      item.name,
    ),
)

interface Asked {
  readonly name: string
  readonly trader: Address
  readonly args: readonly unknown[]
}

function decode({ params }: RpcCall): Asked {
  const { data } = params[0] as { data: Hex }
  const { functionName, args } = decodeFunctionData({ abi: ABI, data })
  return { name: functionName as string, trader: (args as readonly unknown[])[0] as Address, args: args as never }
}

function answer(chain: OnChain, { name, args }: Asked): RpcOutcome {
  switch (name) {
    case 'getTradingDelegate':
      return { ok: true, result: pad(chain.delegate as Hex) }
    case 'getTraderActiveReferrer':
      return word(chain.referrer)
    case 'calculateFeeAmount':
      return chain.fee(args[1] as bigint)
    case 'getUserPriceImpact':
      return chain.spread(Number(args[1]))
    case 'balanceOf':
      return word(chain.balance)
    case 'allowance':
      return args[1] === DIAMOND ? word(chain.allowance) : REFUSAL
    default:
      throw new Error(`nobody asks for ${name}`)
  }
}
