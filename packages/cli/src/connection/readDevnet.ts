import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../errors/usageError.ts'

/** What a local chain tells of itself in devnet.json. */
export interface Devnet {
  readonly chains: Readonly<Record<string, { readonly rpcUrl: string; readonly diamond: `0x${string}` }>>
  /** Published and worthless: everybody knows them. */
  readonly accounts: readonly {
    readonly name: string
    readonly address: `0x${string}`
    readonly privateKey: `0x${string}`
  }[]
  readonly baseUrl: string
}

/** `undefined` where no local chain has left its description. */
export function readDevnet(folder: string): Devnet | undefined {
  const path = join(folder, 'devnet.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const devnet = parse(text)
  if (devnet !== undefined) return devnet
  throw new UsageError(
    `${path} does not describe a local chain. Start it anew with npm start, or set BEZEL_DATA to another folder.`,
  )
}

function parse(text: string): Devnet | undefined {
  try {
    const { chains, accounts, baseUrl } = JSON.parse(text) as Partial<Devnet>
    const isWhole = typeof chains === 'object' && Array.isArray(accounts) && typeof baseUrl === 'string'
    return isWhole ? { chains, accounts, baseUrl } : undefined
  } catch {
    return undefined
  }
}
