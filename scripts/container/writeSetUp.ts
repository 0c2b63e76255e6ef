import { chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DevnetFile } from '@bezel/testkit/startDevnet.ts'

/** The set-up of a node of the trial. */
interface SetUp {
  readonly chain: DevnetFile
  readonly databaseUrl: string
  readonly redisUrl: string
  /** The user who may read it. */
  readonly user: number
}

/** Writes the files of /etc/bezel to a folder: settings as they are in deploy/, the chains and the secrets. */
export function writeSetUp(root: string, folder: string, { chain, databaseUrl, redisUrl, user }: SetUp): void {
  const secrets = join(folder, 'secrets')
  mkdirSync(secrets, { recursive: true })
  copyFileSync(join(root, 'deploy/bezel.env'), join(folder, 'bezel.env'))
  const { privateKey } = chain.accounts.find(({ name }) => name === 'relayer')!
  writeFileSync(join(secrets, 'relayer-key'), privateKey, { mode: 0o400 })
  writeFileSync(join(secrets, 'database-url'), databaseUrl, { mode: 0o400 })
  writeFileSync(join(secrets, 'redis-url'), redisUrl, { mode: 0o400 })
  const chains = join(folder, 'chains.json')
  writeFileSync(chains, JSON.stringify(chain), { mode: 0o400 })
  chownSync(chains, user, user)
}
