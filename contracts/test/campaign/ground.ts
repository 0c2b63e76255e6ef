import { encodeFunctionData, type Address, type Hex, type Log } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { LocalChain } from '../../../packages/devnet/src/chain/createLocalChain.ts'
import { DEPLOYER } from '../../../packages/devnet/src/deploy/accounts.ts'
import { signTransaction } from '../../../packages/devnet/src/deploy/createWallet.ts'
import type { DeployedCollateral } from '../../../packages/devnet/src/deploy/configureDiamond.ts'
import { loadArtifact } from '../../artifact.ts'
import { encodeConfigure } from '../../diamond.ts'
import { createWorld, type WorldEvent } from '../world.ts'
import {
  decodeEvent,
  decodeView,
  encodeView,
  encodeWrite,
  errorNameOf,
  type ViewArgs,
  type ViewName,
  type ViewResult,
  type WriteArgs,
  type WriteName,
} from './codec.ts'
import { COLLATERAL_INDICES } from './market.ts'

/** A mined transaction, successful or reverted. */
export type Receipt = {
  blockNumber: number
  /** Name of the error; undefined for a success. */
  revertedWith: string | undefined
  events: WorldEvent[]
}

/** The chain of a campaign. Its time stands still unless `pass` moves it, so a seed replays every block. */
export type Ground = {
  chain: LocalChain
  diamond: Address
  linkToken: Address
  collaterals: readonly DeployedCollateral[]
  read<N extends ViewName>(functionName: N, args: ViewArgs<N>, blockNumber?: number): Promise<ViewResult<N>>
  /** Reads a view that returns a number, such as a token's `balanceOf`. */
  readNumber(to: Address, data: Hex): Promise<bigint>
  /** Mines a transaction, without simulating it first. */
  transact(account: PrivateKeyAccount, to: Address, data: Hex): Promise<Receipt>
  /** Calls a setter of a facet, as governance. */
  govern<N extends WriteName>(functionName: N, args: WriteArgs<N>): Promise<void>
  /** Calls setup/Configure.sol, as governance. */
  configure(functionName: string, args: readonly unknown[]): Promise<void>
  mint(token: Address, to: Address, amount: bigint): Promise<void>
  pass(seconds: number, blocks: number): Promise<void>
  blockNumber(): number
  timestampS(): number
  stop(): Promise<void>
}

const START_MS = Date.UTC(2026, 0, 5, 12)

export async function createGround(): Promise<Ground> {
  const { chain, plan } = await createWorld('arbitrum-sepolia', () => START_MS)

  async function call(from: Address, to: Address, data: Hex, block: string): Promise<Hex> {
    return chain.request<Hex>('eth_call', [{ from, to, data }, block])
  }

  async function transact(account: PrivateKeyAccount, to: Address, data: Hex): Promise<Receipt> {
    const nonce = Number(await chain.request<Hex>('eth_getTransactionCount', [account.address, 'latest']))
    const raw = await signTransaction(chain, account, { to, data, value: 0n, nonce })
    const hash = await chain.request<Hex>('eth_sendRawTransaction', [raw])
    const { number: blockNumber } = await chain.mine()
    const receipt = await chain.request<{ status: Hex; logs: Log[] }>('eth_getTransactionReceipt', [hash])
    const logs = receipt.logs.filter((log) => log.address.toLowerCase() === plan.diamond.toLowerCase())
    if (receipt.status === '0x1') return { blockNumber, revertedWith: undefined, events: logs.map(decodeEvent) }
    // The failed transaction left the state as it was, so the same call in the same block fails the same way.
    const revertedWith = await call(account.address, to, data, 'latest').then(() => 'nothing', revertName)
    return { blockNumber, revertedWith, events: [] }
  }

  async function mustTransact(account: PrivateKeyAccount, to: Address, data: Hex): Promise<void> {
    const { revertedWith } = await transact(account, to, data)
    if (revertedWith !== undefined) throw new Error(`a transaction of the set-up reverted with ${revertedWith}`)
  }

  return {
    chain,
    diamond: plan.diamond,
    linkToken: plan.linkToken,
    collaterals: plan.collaterals.filter(({ index }) => COLLATERAL_INDICES.some((ours) => ours === index)),
    async read(functionName, args, blockNumber) {
      const block = blockNumber === undefined ? 'latest' : `0x${blockNumber.toString(16)}`
      const data = encodeView(functionName, args)
      return decodeView(functionName, await call(DEPLOYER.account.address, plan.diamond, data, block))
    },
    readNumber: async (to, data) => BigInt(await call(DEPLOYER.account.address, to, data, 'latest')),
    transact,
    govern: (name, args) => mustTransact(DEPLOYER.account, plan.diamond, encodeWrite(name, args)),
    configure: (name, args) =>
      mustTransact(DEPLOYER.account, plan.diamond, encodeConfigure(plan.configure, name, args)),
    mint(token, to, amount) {
      const { abi } = loadArtifact('Token')
      return mustTransact(
        DEPLOYER.account,
        token,
        encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] }),
      )
    },
    async pass(seconds, blocks) {
      await chain.request('evm_increaseTime', [seconds])
      await chain.request('hardhat_mine', [`0x${blocks.toString(16)}`])
    },
    blockNumber: () => chain.head().number,
    timestampS: () => chain.head().timestampS,
    stop: () => chain.stop(),
  }
}

function revertName(error: unknown): string {
  const { data } = error as { data?: unknown }
  if (typeof data !== 'string' || data.length < 10) throw error
  return errorNameOf(data as Hex)
}
