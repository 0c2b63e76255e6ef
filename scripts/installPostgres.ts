import { findPostgres } from '@bezel/testkit/startPostgres.ts'
import { aptInstall } from './aptInstall.ts'

/** The folder of PostgreSQL's programs, and whether it was installed just now. */
export interface Postgres {
  readonly programs: string
  readonly isNew: boolean
}

/** Finds PostgreSQL 15 or newer. Installs it first on a machine that may install it, and throws where it can't. */
export function installPostgres(): Postgres {
  const present = findPostgres()
  if (present !== undefined) return { programs: present, isNew: false }
  const problem = aptInstall(['postgresql'])
  const installed = findPostgres()
  if (installed !== undefined) return { programs: installed, isNew: true }
  throw new Error(
    `the tests of the store need PostgreSQL 15 or newer: ${problem ?? 'the package was installed, but it is older'}`,
  )
}
