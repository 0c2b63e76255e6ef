import { CHAINS, Wei, type Address, type ChainSlug, type Price } from '@bezel/protocol'
import { defaultRelayerSettings } from '../facade/relayer/relayerSettings.ts'
import { accountRefreshMs, type ServedChain, type ProviderSettings } from '../chain/servedChain.ts'
import type { ServerConfig } from '../settings/config.ts'
import { checkBackend } from './checkFeed.ts'
import { checkContracts } from './checkContracts.ts'
import { checkProvider, type CheckedProvider, type UsableProvider } from './checkProvider.ts'
import { checkSocket } from './checkSocket.ts'
import { sameAddressBefore } from './configured.ts'
import { tellEstimate } from './estimateCalls.ts'
import {
  counted,
  failure,
  lengthOf,
  note,
  ok,
  serverName,
  warning,
  type Finding,
  type Progress,
  type Section,
} from './finding.ts'
import { firstResult, type ClockReading, type Probe } from './probe.ts'

/** A chain that was checked. */
interface CheckedChain {
  readonly sections: readonly Section[]
  readonly clocks: readonly ClockReading[]
}

export interface CheckChainOptions {
  readonly chain: ServedChain
  readonly providers: readonly ProviderSettings[]
  /** Addresses that tell of new blocks. */
  readonly sockets: readonly string[]
  readonly config: ServerConfig
  /** The feed's prices by pair index; `undefined` when it gave none. */
  readonly prices: ReadonlyMap<number, Price> | undefined
  readonly relayer: Address | undefined
  readonly pricePerMillionUnits: number | undefined
  readonly now: () => number
  readonly progress: Progress
}

/** Checks a chain: each provider, each socket, and the contracts through the first provider that can be used. */
export async function checkChain(options: CheckChainOptions): Promise<CheckedChain> {
  const { chain, providers, sockets, progress } = options
  const urls = providers.map(({ url }) => url)
  const checked: CheckedProvider[] = []
  const sections: Section[] = []
  for (const [at, provider] of providers.entries()) {
    const subject = serverName('provider', at + 1, provider.url)
    const told: Progress = (what) => progress(`${chain.slug}, ${subject}: ${what}`)
    const twin = sameAddressBefore(urls, at)
    if (twin !== undefined) {
      sections.push({ subject, findings: [judgeTwin('provider', twin)] })
      continue
    }
    const found = await checkProvider({ ...options, provider, progress: told })
    checked.push(found)
    sections.push({ subject, findings: found.findings })
  }
  const first = checked.find(({ usable }) => usable !== undefined)
  for (const [at, url] of sockets.entries()) {
    const subject = serverName('WebSocket', at + 1, url)
    progress(`${chain.slug}, ${subject}: new heads`)
    const twin = sameAddressBefore(sockets, at)
    const findings =
      twin === undefined ? await checkSocket(url, chain.slug, first?.probe) : [judgeTwin('WebSocket', twin)]
    sections.push({ subject, findings })
  }
  const whole = { subject: 'chain', findings: await checkWhole(options, checked, first) }
  const clocks = checked.map(({ probe }) => probe.clock()).filter((clock) => clock !== undefined)
  return { sections: [...sections, whole], clocks }
}

function judgeTwin(what: string, twin: number): Finding {
  return failure(
    'address',
    `It has the address of ${what} ${twin}, so it is no second one: take one of the two out of the chains file.`,
  )
}

/** Checks everything that belongs to no single provider. */
async function checkWhole(
  options: CheckChainOptions,
  checked: readonly CheckedProvider[],
  first: CheckedProvider | undefined,
): Promise<readonly Finding[]> {
  const { chain, sockets, prices, relayer, config, pricePerMillionUnits } = options
  const progress: Progress = (what) => options.progress(`${chain.slug}: ${what}`)
  const findings: Finding[] = []
  if (sockets.length === 0) {
    findings.push(
      note(
        'new blocks',
        `No WebSocket is named: the node is asked every ${lengthOf(config.headPollMs)} (BEZEL_HEAD_POLL_MS).`,
      ),
    )
  }
  findings.push(...judgeHeads(chain.slug, checked))
  if (chain.backendUrl !== undefined) findings.push(await checkBackend(chain.backendUrl))
  if (first?.usable === undefined) {
    return [...findings, note('contracts', 'Not checked, because no provider can be used: mend one first.')]
  }
  const { probe, usable } = first
  if (!usable.hasDiamond) return findings
  const contracts = await checkContracts({ chain, probe, usable, prices, progress })
  findings.push(...contracts.findings)
  if (relayer !== undefined && chain.writes) findings.push(await checkBalance(probe, chain, relayer))
  if (contracts.collaterals === undefined) return findings
  const { finality } = chain
  const { hasMulticall } = usable
  const estimated = {
    finality,
    config: { ...config, accountRefreshMs: accountRefreshMs(chain, config.accountRefreshMs) },
    collaterals: contracts.collaterals,
    hasMulticall,
  }
  return [...findings, ...tellEstimate(estimated, pricePerMillionUnits)]
}

/** Time behind the newest head of all providers, in nominal blocks, from which a provider is behind. */
const BEHIND_MS = 15_000

/** Compares the heads of all providers that can be used; nothing to compare with fewer than two. */
export function judgeHeads(
  slug: ChainSlug,
  checked: readonly { readonly probe: Pick<Probe, 'url'>; readonly usable: Pick<UsableProvider, 'head'> | undefined }[],
): readonly Finding[] {
  const heads = checked.flatMap(({ probe, usable }, at) =>
    usable === undefined ? [] : [{ name: serverName('provider', at + 1, probe.url), head: usable.head }],
  )
  if (heads.length < 2) return []
  // They were asked one after another, so the time between two questions is no lag.
  const ageOf = ({ head }: (typeof heads)[number]): number => head.timestampMs
  const newestMs = Math.max(...heads.map(ageOf))
  const behind = heads.filter((entry) => newestMs - ageOf(entry) > BEHIND_MS + CHAINS[slug].blockMs)
  if (behind.length === 0) return [ok('heads', `The newest blocks of ${counted(heads.length, 'provider')} agree.`)]
  return behind.map((entry) =>
    warning(
      'heads',
      `The newest block of ${entry.name} is ${lengthOf(newestMs - ageOf(entry))} older than that of another provider: take another in its place if that lasts.`,
    ),
  )
}

async function checkBalance(probe: Probe, { slug, relayer: own }: ServedChain, relayer: Address): Promise<Finding> {
  const balance = firstResult(await probe.askPatiently([{ method: 'eth_getBalance', params: [relayer, 'latest'] }]))
  if (typeof balance !== 'string' || !/^0x[0-9a-f]+$/i.test(balance)) {
    return warning('relayer', "The node does not tell the relayer's balance: run the check again.")
  }
  return judgeBalance(BigInt(balance), own.lowBalanceWei ?? defaultRelayerSettings(slug).lowBalanceWei)
}

/** Judges the relayer's balance on a chain. */
export function judgeBalance(balanceWei: bigint, lowBalanceWei: bigint): Finding {
  const text = Wei.format(Wei.of(balanceWei))
  const low = Wei.format(Wei.of(lowBalanceWei))
  if (balanceWei === 0n) {
    return failure(
      'relayer',
      `It has nothing of the native token, so the facade can't trade here: fund it, or leave out the key.`,
    )
  }
  if (balanceWei >= lowBalanceWei) return ok('relayer', `It has ${text} of the native token.`)
  return warning('relayer', `It has ${text} of the native token, and is low below ${low}: fund it.`)
}
