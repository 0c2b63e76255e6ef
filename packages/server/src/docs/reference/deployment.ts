import type { AddressInfo } from 'node:net'
import type { ChainSlug } from '@bezel/protocol'
import { isSandbox } from '../../chain/sandbox.ts'
import { isLive, type ServedChain } from '../../chain/servedChain.ts'

/** The facts about a deployment that its documentation names. */
export interface Deployment {
  /** Address of the service in snippets, without a slash at its end. */
  readonly baseUrl: string
  /** True when the operator named that address. Otherwise a page in a browser shows the address that it came from. */
  readonly isNamed: boolean
  /** Chains that are served. A Diamond is named where it is not the live one. */
  readonly chains: readonly { readonly slug: ChainSlug; readonly diamond: string | undefined }[]
  /** True on a local chain, whose keys everybody knows. */
  readonly isSandbox: boolean
  readonly headerPrefix: string
}

/** The settings that decide about a deployment's documentation. */
export interface DeploymentOptions {
  readonly chains: readonly Pick<ServedChain, 'slug' | 'diamond'>[]
  readonly chainsFile: string
  readonly publicUrl: string | undefined
  readonly headerPrefix: string
}

/** Address and chain that the pages are written for. */
const WRITTEN_URL = 'http://127.0.0.1:8080'
const WRITTEN_CHAIN = 'arbitrum-sepolia'

/** Returns the facts about a deployment that listens on these addresses. */
export function deploymentOf(options: DeploymentOptions, addresses: readonly AddressInfo[]): Deployment {
  const { chains, chainsFile, publicUrl, headerPrefix } = options
  return {
    baseUrl: publicUrl ?? listenUrl(addresses),
    isNamed: publicUrl !== undefined,
    chains: chains.map((chain) => ({ slug: chain.slug, diamond: isLive(chain) ? undefined : chain.diamond })),
    isSandbox: isSandbox({ chains, chainsFile }),
    headerPrefix,
  }
}

function listenUrl([address]: readonly AddressInfo[]): string {
  if (address === undefined) return WRITTEN_URL
  const isAny = address.address === '0.0.0.0' || address.address === '::'
  const host = address.family === 'IPv6' && !isAny ? `[${address.address}]` : address.address
  return `http://${isAny ? '127.0.0.1' : host}:${address.port}`
}

/** Returns the chain of the snippets: the one that the pages are written for where it is served, else the first. */
export function snippetChain({ chains }: Deployment): Deployment['chains'][number] {
  return chains.find(({ slug }) => slug === WRITTEN_CHAIN) ?? chains[0] ?? { slug: WRITTEN_CHAIN, diamond: undefined }
}

/** Matches code blocks, with the language in a group, and code spans. */
const CODE = /^```(\w*)[\s\S]*?^```|`[^`\n]+`/gm

/**
 * Returns a page with the address and the chain of the deployment in its code. Answers (`json`) were recorded on the
 * chain that they name, so only their addresses are replaced.
 */
export function adaptCode(markdown: string, deployment: Deployment): string {
  const { baseUrl } = deployment
  const chain = snippetChain(deployment).slug
  return markdown.replaceAll(CODE, (code: string, language: string | undefined) => {
    const own = code
      .replaceAll(WRITTEN_URL, baseUrl)
      .replaceAll(WRITTEN_URL.replace('http', 'ws'), baseUrl.replace('http', 'ws'))
    const isProgram = language !== undefined && language !== 'json'
    return isProgram ? own.replaceAll(WRITTEN_CHAIN, chain) : own
  })
}
