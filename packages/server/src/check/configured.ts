import { resolve } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { readFeedUrl } from '../chain/servedChain.ts'
import type { ServerConfig } from '../settings/config.ts'

/** Returns the number of the earlier entry, from 1 on, that has the same address; `undefined` for one of its own. */
export function sameAddressBefore(urls: readonly string[], at: number): number | undefined {
  const earlier = urls.findIndex((url) => plainAddress(url) === plainAddress(urls[at]!))
  return earlier < at ? earlier + 1 : undefined
}

/** Returns an address without what makes no difference: capitals of the host, a slash at the end, a fragment. */
function plainAddress(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  return `${parsed.protocol}//${parsed.username}@${parsed.host}${parsed.pathname.replace(/\/+$/, '')}${parsed.search}`
}

/** Returns the address of the price feed. Throws a `StartupError` when neither settings nor chains file name one. */
export function requireFeedUrl({ feedUrl, chainsFile }: Pick<ServerConfig, 'feedUrl' | 'chainsFile'>): string {
  const url = feedUrl ?? readFeedUrl(chainsFile)
  if (url !== undefined) return url
  throw new StartupError(`The chains file ${chainsFile} names no price feed: add feedUrl to it or set BEZEL_FEED_URL.`)
}

/** Lists the files that an operator may keep in the data folder before the first start, as absolute paths. */
export function operatorFiles({ chainsFile, relayerKeyFile }: ServerConfig): readonly string[] {
  return relayerKeyFile === undefined ? [chainsFile] : [chainsFile, resolve(relayerKeyFile)]
}
