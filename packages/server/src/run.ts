import { CHAINS, type RunningProgram } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { watchChains, type OnChainStateChange } from './chain/chainReadiness.ts'
import { readChainsFile } from './chain/readChainsFile.ts'
import type { ServedChain } from './chain/servedChain.ts'
import { DEFAULT_DOMAIN_NAME, type ServerConfig } from './config.ts'
import { createApp } from './http/createApp.ts'
import { listen } from './http/listen.ts'
import { registerRoutes } from './http/routes/registerRoutes.ts'

/** Often enough for a probe that decides where traffic goes, rare enough to cost a node nothing. */
const READINESS_INTERVAL_MS = 2_000

/** Starts the service. The only place where its parts meet. Throws a `StartupError` with nothing left running. */
export async function run(config: ServerConfig): Promise<RunningProgram> {
  const { domainName } = config
  const chains = readChainsFile(config.chainsFile)
  const app = createApp(config.logLevel)
  warnOfSharedDomain(chains, domainName, app.log)
  const readiness = await watchChains(chains, { intervalMs: READINESS_INTERVAL_MS, onChange: logChange(app.log) })
  registerRoutes(app, { chains, readiness, domainName })
  const close = async (): Promise<void> => {
    readiness.close()
    await app.close()
  }
  try {
    const url = await listen(app, config)
    app.log.info({ url, chains: chains.map(({ slug }) => slug) }, 'service is up')
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A signature is bound to name, chain and Diamond, so deployments that share all three would accept each other's requests. */
function warnOfSharedDomain(chains: readonly ServedChain[], domainName: string, log: FastifyBaseLogger): void {
  const live = chains.filter(({ slug, diamond }) => diamond === CHAINS[slug].liveDiamond)
  if (domainName !== DEFAULT_DOMAIN_NAME || live.length === 0) return
  log.warn(
    { chains: live.map(({ slug }) => slug) },
    'live chains use the default signing domain name, so a request signed for another such deployment is valid here too: set BEZEL_DOMAIN_NAME',
  )
}

function logChange(log: FastifyBaseLogger): OnChainStateChange {
  return (chain, state) => {
    if (state === 'ready') log.info({ chain }, 'chain is ready')
    else log.warn({ chain, state }, 'chain is not ready')
  }
}
