import { StartupError, type Address } from '@bezel/protocol'
import { readChainsFile, type ServedChain } from '../chain/servedChain.ts'
import { readRelayerKey } from '../facade/relayer/readRelayerKey.ts'
import { readServerConfig, type ServerConfig } from '../settings/config.ts'
import { inspectConfiguredStore } from '../store/openConfiguredStore.ts'
import { checkChain } from './checkChain.ts'
import { checkFeed } from './checkFeed.ts'
import { checkDataFolder, judgeClock, judgeStore, judgeRelayerKey, startFinding } from './checkMachine.ts'
import { checkRedis } from './checkRedis.ts'
import { operatorFiles, requireFeedUrl } from './configured.ts'
import { failure, ok, reportOf, type Finding, type Group, type Progress, type Report } from './finding.ts'
import type { ClockReading } from './probe.ts'

export interface CheckOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns the time of this machine in milliseconds since the epoch. */
  readonly now: () => number
  readonly progress: Progress
  /** Price of a million compute units; `undefined` to tell units only. */
  readonly pricePerMillionUnits: number | undefined
  /** Throws a `StartupError` for a start that would be refused as unsafe. */
  readonly refuseUnsafe: (of: {
    readonly chains: readonly ServedChain[]
    readonly domainName: string
    readonly dataFolder: string
    readonly relayer: Address | undefined
  }) => void
}

/** The settings and files of a set-up, as far as they can be read. */
interface SetUp {
  readonly config: ServerConfig | undefined
  readonly chains: readonly ServedChain[]
  readonly feedUrl: string | undefined
  readonly relayer: Address | undefined
  readonly findings: readonly Finding[]
}

/** Checks a set-up: what is on this machine, the price feed, and each chain. Changes nothing anywhere. */
export async function runCheck(options: CheckOptions): Promise<Report> {
  const { now, progress } = options
  progress('settings')
  const setUp = await readSetUp(options)
  const { config, chains, feedUrl } = setUp
  const machine = (findings: readonly Finding[]): Group => ({
    title: 'this machine',
    sections: [{ subject: undefined, findings }],
  })
  if (config === undefined) return reportOf([machine(setUp.findings)])

  if (feedUrl !== undefined) progress('price feed')
  const feed = feedUrl === undefined ? undefined : await checkFeed(feedUrl, now)
  const clocks: ClockReading[] = feed?.clock === undefined ? [] : [feed.clock]
  const groups: Group[] = []
  for (const chain of chains) {
    const checked = await checkChain({
      ...options,
      chain,
      config,
      providers: chain.rpcUrls,
      sockets: chain.wsUrls,
      prices: feed?.prices,
      relayer: setUp.relayer,
    })
    clocks.push(...checked.clocks)
    groups.push({ title: chain.slug, sections: checked.sections })
  }
  const feeds: Group[] = feed === undefined ? [] : [{ title: 'prices', sections: [feed.section] }]
  return reportOf([machine([...setUp.findings, judgeClock(clocks)]), ...feeds, ...groups])
}

async function readSetUp({ env, refuseUnsafe }: CheckOptions): Promise<SetUp> {
  const findings: Finding[] = []
  const config = await attempt(findings, 'settings', () => readServerConfig(env))
  if (config === undefined) return { config, chains: [], feedUrl: undefined, relayer: undefined, findings }
  findings.push(ok('settings', 'They are known and allowed.'))
  const chains = await attempt(findings, 'chains file', () => readChainsFile(config.chainsFile))
  if (chains !== undefined) {
    findings.push(ok('chains file', `${config.chainsFile} names ${chains.map(({ slug }) => slug).join(', ')}.`))
  }
  const feedUrl = chains && (await attempt(findings, 'price feed', () => requireFeedUrl(config)))
  const key = await attempt(findings, 'relayer', async () => {
    const read = await readRelayerKey({ hex: config.relayerKey, file: config.relayerKeyFile })
    findings.push(judgeRelayerKey(read?.address))
    return read
  })
  const relayer = key?.address
  const { domainName, dataFolder } = config
  if (chains !== undefined) {
    const step = (): void => refuseUnsafe({ chains, domainName, dataFolder, relayer })
    findings.push(startFinding('safe start', step, 'Nothing of the sandbox is used on a live Diamond.'))
  }
  findings.push(...checkDataFolder(dataFolder, operatorFiles(config)))
  await attempt(findings, 'database', async () => {
    findings.push(...judgeStore(await inspectConfiguredStore(config)))
  })
  await attempt(findings, 'redis', async () => {
    findings.push(...(await checkRedis(config)))
  })
  return { config, chains: chains ?? [], feedUrl, relayer, findings }
}

/** Returns what a step gives; when it throws a `StartupError`, adds that as a failure and returns `undefined`. */
async function attempt<Result>(
  findings: Finding[],
  name: string,
  step: () => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    findings.push(failure(name, error.message))
    return undefined
  }
}
