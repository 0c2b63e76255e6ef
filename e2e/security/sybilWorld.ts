import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diamondAbi } from '@bezel/protocol'
import { createChainClient, patientHttp, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService } from '@bezel/testkit/startService.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { createWalletClient, encodeFunctionData, erc20Abi, keccak256, parseAbi, toHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ExchangeAction } from '../../packages/server/src/facade/signing/envelope.ts'
import { startFaultyProxy, type Lie } from '../outages/faultyProxy.ts'

const CHAIN = 'arbitrum-sepolia'

const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_HEAD_POLL_MS: '100',
  LOG_LEVEL: 'error',
}

const GAS_WEI = 10n ** 18n
const USDC_UNITS = 100_000_000_000n

/** A trader of the facade who signs for itself. */
export interface FacadeTrader {
  readonly address: Hex
  readonly key: Hex
  /** Sends an action and returns the text of the answer. */
  send(action: ExchangeAction): Promise<string>
}

/** Many traders of the facade, and a relayer whose settings the test chooses. */
export interface SybilWorld {
  readonly chain: ChainClient
  /** Lets the service's node accept transactions and hide them from everybody. */
  hideSent(): void
  /** Returns the hashes of what was hidden. */
  hidden(): readonly Hex[]
  /** Ends the hiding. What was hidden stays lost unless the service sends it again. */
  showSent(): void
  readonly traders: readonly FacadeTrader[]
  readonly url: () => string
  /** Stops the service and starts it again with other settings of the relayer. */
  restart(relayer: Readonly<Record<string, unknown>>): Promise<void>
  /** Reads a number of the relayer's metrics. */
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

export async function startSybilWorld(
  count: number,
  of: { readonly relayer: Readonly<Record<string, unknown>>; readonly service?: Readonly<Record<string, string>> },
): Promise<SybilWorld> {
  const devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
  const chain = createChainClient(devnet.file)
  const described = devnet.file.chains[CHAIN]!
  const node = await startFaultyProxy(described.rpcUrl.replace(/\/$/, ''))
  const chainsFile = join(devnet.folder, 'sybils.json')
  const start = (relayer: Readonly<Record<string, unknown>>): ReturnType<typeof startService> => {
    const served = { ...described, rpcUrl: node.url, wsUrl: undefined, relayer }
    writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: served }, feedUrl: devnet.file.feedUrl }))
    return startService(devnet, { ...SETTINGS, BEZEL_CHAINS_FILE: chainsFile, ...of.service })
  }
  let service = await start(of.relayer)
  const url = (): string => service.url
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await movePrice({ chain, url }, 'BTC/USD', '60000')
  const keys = Array.from({ length: count }, (_, i) => keccak256(toHex(`sybil ${i}`)))
  await fund(chain, described.rpcUrl, keys)
  const hidden = new Set<Hex>()
  return {
    chain,
    url,
    hideSent() {
      hidden.clear()
      node.fault = { kind: 'lies', lie: hiding(described.rpcUrl, hidden) }
    },
    hidden: () => [...hidden],
    showSent() {
      node.fault = { kind: 'none' }
    },
    traders: keys.map((key) => createTrader(url, key)),
    async restart(relayer) {
      await service.stop()
      service = await start(relayer)
    },
    async metric(name) {
      const text = await (await fetch(`${url()}/metrics`)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${name}{`))
      if (line === undefined) throw new Error(`there is no metric ${name}`)
      return Number(line.slice(line.lastIndexOf(' ')))
    },
    async stop() {
      await service.stop()
      await node.close()
      await devnet.stop()
    },
  }
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Returns the lie of a node that accepts transactions and keeps them to itself. All other calls are answered. */
function hiding(rpcUrl: string, hidden: Set<Hex>): Lie {
  return async (asked, honest) => {
    const calls = JSON.parse(asked) as Call | Call[]
    if (!Array.isArray(calls)) return { text: await honest() }
    const hashes = new Map<number, Hex>()
    const passed = calls.map((call) => {
      if (call.method !== 'eth_sendRawTransaction') return call
      const hash = keccak256(call.params[0] as Hex)
      hashes.set(call.id, hash)
      hidden.add(hash)
      return { ...call, method: 'eth_chainId', params: [] }
    })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(passed) })
    const results = (await answer.json()) as { readonly id: number; readonly result?: unknown }[]
    const told = results.map((one) => (hashes.has(one.id) ? { ...one, result: hashes.get(one.id) } : one))
    return { text: JSON.stringify(told) }
  }
}

/** Gives every account gas and collateral, approves the Diamond, and makes the relayer the delegate. */
async function fund(chain: ChainClient, rpcUrl: string, keys: readonly Hex[]): Promise<void> {
  const { address: usdc } = chain.collateral('USDC')
  const relayer = chain.account('relayer').address
  const deployer = createWalletClient({ account: chain.account('deployer'), transport: patientHttp(rpcUrl) })
  let nonce = await chain.client.getTransactionCount({ address: deployer.account.address })
  const sent: Hex[] = []
  for (const key of keys) {
    const account = privateKeyToAccount(key)
    await chain.control('hardhat_setBalance', account.address, toHex(GAS_WEI))
    const mint = encodeFunctionData({
      abi: parseAbi(['function mint(address,uint256)']),
      args: [account.address, USDC_UNITS],
    })
    const terms = { chain: null, gas: 1_000_000n } as const
    sent.push(await deployer.sendTransaction({ ...terms, to: usdc, data: mint, nonce: nonce++ }))
    const wallet = createWalletClient({ account, transport: patientHttp(rpcUrl) })
    const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [chain.diamond, USDC_UNITS] })
    sent.push(await wallet.sendTransaction({ ...terms, to: usdc, data: approve, nonce: 0 }))
    const delegate = encodeFunctionData({ abi: diamondAbi, functionName: 'setTradingDelegate', args: [relayer] })
    sent.push(await wallet.sendTransaction({ ...terms, to: chain.diamond, data: delegate, nonce: 1 }))
  }
  for (const hash of sent) {
    const { status } = await chain.client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('an account could not be set up')
  }
}

let lastNonce = 0

function createTrader(url: () => string, key: Hex): FacadeTrader {
  return {
    address: privateKeyToAccount(key).address,
    key,
    send: (action) =>
      // The node of a busy machine may be late; such an answer changed nothing.
      until('an answer', async (saw) => {
        lastNonce = Math.max(Date.now(), lastNonce + 1)
        const { expiresAfter: _none, ...envelope } = signL1(key, { action, nonce: lastNonce })
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify(envelope)
        const answer = await fetch(`${url()}/hl/${CHAIN}/exchange`, { method: 'POST', headers, body })
        const text = await answer.text()
        saw(text)
        return answer.ok ? text : undefined
      }),
  }
}

/** Returns a market order of 0.01 BTC, which opens, or closes with `r`. */
export function marketOrder({ isBuy, r = false }: { readonly isBuy: boolean; readonly r?: boolean }): ExchangeAction {
  const p = isBuy ? '60500' : '59500'
  const orders = [{ a: 0, b: isBuy, p, s: '0.01', r, t: { limit: { tif: 'Ioc' } } }]
  return { type: 'order', orders, grouping: 'na' }
}

/** Returns a resting order that is never executed. */
export function restingOrder(): ExchangeAction {
  const orders = [{ a: 0, b: true, p: '50000', s: '0.01', r: false, t: { limit: { tif: 'Gtc' } } }]
  return { type: 'order', orders, grouping: 'na' }
}

/** Returns a stop loss of the whole long position. */
export function stopLoss(triggerPx: string): ExchangeAction {
  const t = { trigger: { isMarket: true, triggerPx, tpsl: 'sl' } }
  return { type: 'order', orders: [{ a: 0, b: false, p: triggerPx, s: '0.01', r: true, t }], grouping: 'positionTpsl' }
}
