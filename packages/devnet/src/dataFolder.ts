import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import {
  lockFile,
  lockService,
  makePrivateFolder,
  PRIVATE_FILE_MODE,
  SANDBOX_LOCK_NAME,
  SANDBOX_MARKER_NAME,
  SERVICE_LOCK_NAME,
  SYSTEM_NAMES,
  withFolderErrors,
} from '@bezel/protocol/dataFolder'
import { PUBLISHED_ACCOUNTS } from './deploy/accounts.ts'
import type { ChainPlan } from './deploy/deployChain.ts'

/**
 * Version of the folder's layout. It is raised when older and newer devnets could no longer understand each other's
 * files.
 */
export const DATA_LAYOUT_VERSION = 1

const MARKER_DRAFT_NAME = `${SANDBOX_MARKER_NAME}.draft`

const DEVNET_FILE_NAME = 'devnet.json'

/**
 * Names that a wipe keeps: the locks must keep their inodes, a folder without its marker would look like a stranger's,
 * and the last ones are the system's.
 */
const OWN_NAMES: readonly string[] = [
  SANDBOX_MARKER_NAME,
  MARKER_DRAFT_NAME,
  SANDBOX_LOCK_NAME,
  SERVICE_LOCK_NAME,
  ...SYSTEM_NAMES,
]

/** A claim on a data folder: no other devnet can claim or wipe it until it is released or this process ends. */
interface DataFolderClaim {
  readonly folder: string
  /** Releases the folder. Its content stays readable, and its marker lets the next start wipe it. */
  readonly release: () => void
}

/**
 * Claims `folder` for a fresh chain: creates it, or wipes what an earlier devnet left there. Throws a `StartupError`
 * and changes nothing when the folder is in use, belongs to another version, or holds anything without the marker of a
 * devnet. The holder of the lock owns the folder, so neither a reused process id nor two starts at once can lead to a
 * double claim.
 */
export function claimDataFolder(folder: string, log: (line: string) => void): DataFolderClaim {
  return withFolderErrors(folder, () => {
    refuseForeignFolder(folder)
    makePrivateFolder(folder)
    const lock = lockFile(join(folder, SANDBOX_LOCK_NAME))
    if (lock === undefined) throw inUseError(folder)
    try {
      withoutService(folder, () => takeOver(folder, log))
    } catch (error) {
      lock.release()
      throw error
    }
    return { folder, release: lock.release }
  })
}

/** Runs `step` while no service can use the folder. Throws a `StartupError` when one does. */
function withoutService(folder: string, step: () => void): void {
  const lock = lockService(folder)
  if (lock === undefined) {
    throw new StartupError(
      `The data folder ${folder} is in use by a service, and a new local chain would wipe it: stop that service first or set BEZEL_DATA to another folder.`,
    )
  }
  try {
    step()
  } finally {
    lock.release()
  }
}

/** Takes over the folder while the lock is held. */
function takeOver(folder: string, log: (line: string) => void): void {
  // Checked again, because another start may have come and gone between the first check and the lock.
  refuseForeignFolder(folder)
  writeMarker(folder, { layout: DATA_LAYOUT_VERSION, pid: process.pid })
  const leftBehind = readdirSync(folder).filter((name) => !OWN_NAMES.includes(name))
  if (leftBehind.length === 0) return
  // `rm` removes a symbolic link itself and never what it points to, at any depth.
  for (const name of leftBehind) rmSync(join(folder, name), { recursive: true, force: true })
  log(`Wiped ${folder}, left there by an earlier local chain: each start is a fresh chain.`)
}

function refuseForeignFolder(folder: string): void {
  const names = listFolder(folder)
  if (names.includes(SANDBOX_MARKER_NAME)) return refuseOtherLayout(folder)
  if (names.every((name) => OWN_NAMES.includes(name))) return
  throw new StartupError(
    `The data folder ${folder} holds files that no local chain left there, so nothing was touched: set BEZEL_DATA to an empty or new folder.`,
  )
}

function refuseOtherLayout(folder: string): void {
  const marker = readMarker(folder)
  if (marker?.layout === DATA_LAYOUT_VERSION) return
  const maker = marker === undefined ? 'another version of Bezel' : `a Bezel with data layout ${marker.layout}`
  throw new StartupError(
    `The data folder ${folder} was made by ${maker} and this one has data layout ${DATA_LAYOUT_VERSION}: remove the folder or set BEZEL_DATA to another one.`,
  )
}

function inUseError(folder: string): StartupError {
  const pid = readMarker(folder)?.pid
  const owner = pid === undefined ? 'another local chain that is just starting' : `process ${pid}`
  return new StartupError(
    `The data folder ${folder} is in use by ${owner}: stop it first or set BEZEL_DATA to another folder.`,
  )
}

/** Lists the names in the folder; none when it does not exist. */
function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The marker that a devnet leaves in its data folder, so that a later one knows it may wipe it. */
interface DataFolderMarker {
  readonly layout: number
  /** Id of the process that has the folder, or had it last. For messages only: the lock decides. */
  readonly pid: number
}

/** Reads the marker; `undefined` when there is none, or none that this or any other version writes. */
function readMarker(folder: string): DataFolderMarker | undefined {
  try {
    const path = join(folder, SANDBOX_MARKER_NAME)
    if (!lstatSync(path).isFile()) return undefined
    const { layout, pid } = JSON.parse(readFileSync(path, 'utf8')) as Partial<DataFolderMarker>
    return Number.isSafeInteger(layout) && Number.isSafeInteger(pid) ? ({ layout, pid } as DataFolderMarker) : undefined
  } catch {
    return undefined
  }
}

/**
 * Writes the marker beside its place and renames it, so that a kill leaves the old or the new one, never half of one.
 */
function writeMarker(folder: string, marker: DataFolderMarker): void {
  const draft = join(folder, MARKER_DRAFT_NAME)
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify(marker)}\n`, { flag: 'wx', mode: PRIVATE_FILE_MODE })
  renameSync(draft, join(folder, SANDBOX_MARKER_NAME))
}

/** A chain as devnet.json describes it. */
interface DescribedChain {
  readonly slug: string
  readonly chainId: number
  readonly plan: ChainPlan
}

interface DevnetUrls {
  /** Address of JSON-RPC without the chain's path. */
  readonly rpc: string
  /** Address of the service beside it. */
  readonly base: string
}

/**
 * Writes devnet.json, which tells tools, tests and the service where everything is. The file appears as a whole, once
 * everything answers.
 */
export function writeDevnetFile(folder: string, chains: readonly DescribedChain[], urls: DevnetUrls): void {
  const file = join(folder, DEVNET_FILE_NAME)
  const content = {
    chains: Object.fromEntries(chains.map((chain) => [chain.slug, describe(chain, urls.rpc)])),
    accounts: PUBLISHED_ACCOUNTS.map(({ name, account, privateKey }) => ({
      name,
      address: account.address,
      privateKey,
    })),
    baseUrl: urls.base,
    feedUrl: `${urls.rpc}/feed`,
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: PRIVATE_FILE_MODE })
  renameSync(`${file}.new`, file)
}

/** Budgets of the relayer: all of its gas, which costs nothing here. */
const RELAYER = { traderDay: '1000', day: '9000' }

function describe({ slug, chainId, plan }: DescribedChain, rpcUrl: string) {
  return {
    chainId,
    rpcUrl: `${rpcUrl}/${slug}`,
    wsUrl: `${rpcUrl.replace(/^http/, 'ws')}/${slug}`,
    diamond: plan.diamond,
    // The whole history of a local chain is indexed.
    startBlock: 0,
    relayer: RELAYER,
    collaterals: plan.collaterals.map(({ symbol, index, address, decimals }) => ({ symbol, index, address, decimals })),
  }
}
