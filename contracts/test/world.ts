import { diamondAbi, type ChainSlug } from '@bezel/protocol'
import {
  decodeErrorResult,
  decodeFunctionResult,
  encodeFunctionData,
  parseEventLogs,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
  type Log,
  type ParseEventLogsReturnType,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createLocalChain, type LocalChain } from '../../packages/devnet/src/chain/createLocalChain.ts'
import { DEPLOYER, genesisAccounts, ORACLES } from '../../packages/devnet/src/deploy/accounts.ts'
import { deployChain, type ChainPlan } from '../../packages/devnet/src/deploy/deployChain.ts'
import { signTransaction } from '../../packages/devnet/src/deploy/createWallet.ts'
import { packAnswer as packOracleAnswer } from '../../packages/devnet/src/oracle/answerPrices.ts'
import { oracleRequestId } from '../../packages/devnet/src/oracle/createOracle.ts'
import { encodeConfigure } from '../diamond.ts'

export { oracleRequestId }

type Abi = typeof diamondAbi

type ViewName = ContractFunctionName<Abi, 'view' | 'pure'>

type WriteName = ContractFunctionName<Abi, 'nonpayable'>

export type WorldEvent = ParseEventLogsReturnType<Abi, undefined, true>[number]

/** The prices of one oracle answer, 1e10. A market answer needs only `current`. */
export type Candle = { open: bigint; high: bigint; low: bigint; current: bigint }

/** A mined transaction. */
export type Outcome = { hash: Hex; ok: boolean; blockNumber: bigint; events: WorldEvent[] }

/** The local Diamond on a chain of its own that mines on demand. The test acts as oracle and keeper. */
export type World = {
  chain: LocalChain
  plan: ChainPlan
  /** Calls a view of the Diamond. Throws RevertedError. */
  read<N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<Abi, 'view' | 'pure', N>,
  ): Promise<ContractFunctionReturnType<Abi, 'view' | 'pure', N>>
  /** Sends a call to the Diamond in a block of its own. Throws RevertedError with the custom error's name. */
  send<N extends WriteName>(
    account: PrivateKeyAccount,
    functionName: N,
    args: ContractFunctionArgs<Abi, 'nonpayable', N>,
  ): Promise<Outcome>
  /** Sends any calldata to any receiver, like `send`. */
  sendData(account: PrivateKeyAccount, to: Address, data: Hex, value?: bigint): Promise<Outcome>
  /** Calls setup/Configure.sol, as governance. */
  configure(functionName: string, args: readonly unknown[]): Promise<Outcome>
  /**
   * Answers a pending order as a quorum of oracles, with the same prices. Returns the outcome of the answer that
   * executed.
   */
  answer(orderId: { user: Address; index: number }, prices: Candle | bigint): Promise<Outcome>
  /** Saves the state of the chain. The id can be given to `restore` once. */
  snapshot(): Promise<Hex>
  restore(snapshotId: Hex): Promise<void>
}

/** Thrown for a call that reverted, with the name of its custom error. */
export class RevertedError extends Error {
  readonly errorName: string
  readonly args: readonly unknown[]
  constructor(errorName: string, args: readonly unknown[]) {
    super(`reverted with ${errorName}(${args.join(', ')})`)
    this.errorName = errorName
    this.args = args
  }
}

export async function createWorld(slug: ChainSlug = 'arbitrum-sepolia', nowMs?: () => number): Promise<World> {
  const options = { slug, chainId: 421_614, blockMs: 0, accounts: genesisAccounts() }
  const chain = await createLocalChain(nowMs === undefined ? options : { ...options, now: nowMs })
  const plan = await deployChain(chain, slug)
  const { diamond } = plan
  const nonces = new Map<Address, number>()

  async function sendData(account: PrivateKeyAccount, to: Address, data: Hex, value = 0n): Promise<Outcome> {
    await simulate(chain, account.address, to, data, value)
    const nonce = nonces.get(account.address) ?? (await readNonce(chain, account.address))
    const raw = await signTransaction(chain, account, { to, data, value, nonce })
    const hash = await chain.request<Hex>('eth_sendRawTransaction', [raw])
    nonces.set(account.address, nonce + 1)
    const block = await chain.mine()
    const receipt = await chain.request<{ status: Hex; logs: Log[] }>('eth_getTransactionReceipt', [hash])
    const logs = receipt.logs.filter((log) => log.address.toLowerCase() === diamond.toLowerCase())
    const events = parseEventLogs({ abi: diamondAbi, logs, strict: true }) as WorldEvent[]
    return { hash, ok: receipt.status === '0x1', blockNumber: BigInt(block.number), events }
  }

  const world: World = {
    chain,
    plan,
    sendData,
    async read(functionName, args) {
      const data = encodeFunctionData({ abi: diamondAbi, functionName, args } as never)
      const result = await simulate(chain, DEPLOYER.account.address, diamond, data, 0n)
      return decodeFunctionResult({ abi: diamondAbi, functionName, data: result } as never) as never
    },
    send: (account, functionName, args) =>
      sendData(account, diamond, encodeFunctionData({ abi: diamondAbi, functionName, args } as never)),
    configure: (functionName, args) =>
      sendData(DEPLOYER.account, diamond, encodeConfigure(plan.configure, functionName, args)),
    async answer(orderId, prices) {
      const minAnswers = await world.read('getMinAnswers', [])
      const oracles = ORACLES.slice(0, minAnswers)
      let last: Outcome | undefined
      for (const { account } of oracles) {
        last = await world.send(account, 'fulfill', [oracleRequestId(orderId, account.address), packAnswer(prices)])
      }
      if (last === undefined) throw new Error('the Diamond has no oracles')
      return last
    },
    snapshot: () => chain.request<Hex>('evm_snapshot'),
    async restore(snapshotId) {
      nonces.clear()
      const found = await chain.request<boolean>('evm_revert', [snapshotId])
      if (!found) throw new Error(`there is no snapshot ${snapshotId}`)
    },
  }
  return world
}

/** Packs an oracle answer for `fulfill`. A price alone answers a market order. */
export function packAnswer(prices: Candle | bigint): bigint {
  const candle = typeof prices === 'bigint' ? { open: 0n, high: 0n, low: 0n, current: prices } : prices
  return packOracleAnswer(candle, 0)
}

/** Returns the only event of that name in an outcome. Throws when there is none or more than one. */
export function onlyEvent<N extends WorldEvent['eventName']>(
  outcome: Outcome,
  eventName: N,
): Extract<WorldEvent, { eventName: N }>['args'] {
  const found = outcome.events.filter((event) => event.eventName === eventName)
  if (found.length !== 1) {
    const names = outcome.events.map((event) => event.eventName).join(', ')
    throw new Error(`expected one ${eventName} among ${names}`)
  }
  return found[0]!.args as never
}

async function simulate(chain: LocalChain, from: Address, to: Address, data: Hex, value: bigint): Promise<Hex> {
  try {
    return await chain.request<Hex>('eth_call', [{ from, to, data, value: `0x${value.toString(16)}` }, 'latest'])
  } catch (error) {
    const revert = (error as { data?: unknown }).data
    if (typeof revert !== 'string' || revert.length < 10) throw error
    throw revertedError(revert as Hex)
  }
}

function revertedError(data: Hex): Error {
  try {
    const { errorName, args } = decodeErrorResult({ abi: diamondAbi, data })
    return new RevertedError(errorName, args ?? [])
  } catch {
    return new RevertedError(`unknown ${data.slice(0, 10)}`, [])
  }
}

async function readNonce(chain: LocalChain, address: Address): Promise<number> {
  return Number(await chain.request<Hex>('eth_getTransactionCount', [address, 'pending']))
}
